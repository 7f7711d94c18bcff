"""One line of JSON per record on standard error; nothing in it can be forged by those it is about.

Every text is escaped to printable ASCII and cut. Besides the message only the fields named here are written, from the
mapping ``facts`` of a record, so that no body and no secret ever gets in.
"""

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

import msgspec

from webhook.admission.responses import Answer, Outcome
from webhook.placement.text.problem import escape

MESSAGE_LIMIT: Final = 2048
"""Characters: a refusal has at most 1,024 bytes."""
FIELD_LIMIT: Final = 256
"""Characters: the longest name of an object has 253."""
TRACE_LINES: Final = 50
"""Innermost lines of a traceback."""
RECORDS_PER_SECOND: Final = 200
"""Whoever can reach the port can cause records; this many bound what they cost: 0.5 MB/s at the very longest."""

FIELDS: Final = ("path", "method", "code", "uid", "namespace", "name", "kind", "operation", "outcome", "reason")

_LEVELS: Final = {
    Outcome.ALLOWED: logging.DEBUG,
    Outcome.PATCHED: logging.DEBUG,
    Outcome.DENIED: logging.INFO,
    Outcome.UNREADABLE: logging.WARNING,
    Outcome.ERRORED: logging.ERROR,
}


class Line(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, object] = {
            "time": moment.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _clean(record.getMessage(), MESSAGE_LIMIT),
        }
        facts: Mapping[str, str | int] = getattr(record, "facts", {})
        for field in FIELDS:
            if value := facts.get(field):
                line[field] = value if isinstance(value, int) else _clean(value, FIELD_LIMIT)
        if record.exc_info:
            trace = self.formatException(record.exc_info).splitlines()[-TRACE_LINES:]
            line["traceback"] = [_clean(each, FIELD_LIMIT) for each in trace]
        return msgspec.json.encode(line).decode()


class Flood:
    """A logging filter: so many records a second, then a count of those left out."""

    def __init__(self, per_second: int = RECORDS_PER_SECOND) -> None:
        self._per_second = per_second
        self._second = 0
        self._seen = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written; the first of a second tells how many were not, in the one before."""
        second = int(record.created)
        if second != self._second:
            left_out = max(0, self._seen - self._per_second)
            self._second, self._seen = second, 0
            if left_out:
                record.msg, record.args = f"{record.getMessage()} ({left_out} records before this were left out)", ()
        self._seen += 1
        return self._seen <= self._per_second


def configure(level: str) -> None:
    """Send every record of that level (``info``) and above to standard error as JSON."""
    handler = logging.StreamHandler()
    handler.setFormatter(Line())
    handler.addFilter(Flood())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)


def review(log: logging.Logger, path: str, answer: Answer) -> None:
    """Record a review: refusals and trouble always, what was let through only at level debug."""
    level = _LEVELS[answer.outcome]
    if not log.isEnabledFor(level):
        return
    log.log(
        level,
        "%s",
        answer.message or answer.outcome,
        extra={
            "facts": {
                "path": path,
                "uid": answer.uid,
                "namespace": answer.namespace,
                "name": answer.name,
                "kind": answer.kind,
                "operation": answer.operation,
                "outcome": answer.outcome,
                "reason": answer.reason,
            }
        },
    )


def _clean(text: str, limit: int) -> str:
    return escape(text[:limit])[:limit]
