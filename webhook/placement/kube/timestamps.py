"""Timestamps of Kubernetes objects: RFC 3339 in UTC, to the second (apimachinery, ``metav1.Time``)."""

from datetime import UTC, datetime


def timestamp(at: float | datetime) -> str:
    """The time, in seconds since 1970 or with a time zone, as Kubernetes writes it: ``2030-01-31T12:00:00Z``."""
    time = at.astimezone(UTC) if isinstance(at, datetime) else datetime.fromtimestamp(at, UTC)
    return f"{time.replace(tzinfo=None).isoformat(timespec='seconds')}Z"


def time_of(text: object) -> datetime | None:
    """The time in UTC that a timestamp states; ``None`` for anything else. A timestamp without a zone is in UTC."""
    try:
        time = datetime.fromisoformat(text) if isinstance(text, str) else None
        return time and (time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC))
    except (ValueError, OverflowError):  # the second for a time that is in the year 0 or 10000 in UTC
        return None


def seconds_of(text: object) -> float | None:
    """The time that a timestamp states, in seconds since 1970; ``None`` if it states none."""
    time = time_of(text)
    return None if time is None else time.timestamp()
