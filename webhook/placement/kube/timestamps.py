"""Timestamps of Kubernetes objects: RFC 3339 in UTC, to the second (apimachinery, ``metav1.Time``)."""

from datetime import UTC, datetime


def timestamp(at: float | datetime) -> str:
    """The time, in seconds since 1970 or with a time zone, as Kubernetes writes it: ``2030-01-31T12:00:00Z``."""
    time = at.astimezone(UTC) if isinstance(at, datetime) else datetime.fromtimestamp(at, UTC)
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def time_of(text: object) -> datetime | None:
    """The time that a timestamp states, in UTC if it names no zone; ``None`` for anything else."""
    try:
        time = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return time if time is None or time.tzinfo else time.replace(tzinfo=UTC)


def seconds_of(text: object) -> float | None:
    """The time that a timestamp states, in seconds since 1970; ``None`` if it states none."""
    time = time_of(text)
    return None if time is None else time.timestamp()
