"""Log output: one line of JSON per record on standard error, at most 200 records a second.

A client cannot forge log lines through what it sends: every text is escaped to printable ASCII and cut. Besides the
message only the fields in :data:`FIELDS` are written, from the mapping ``facts`` of a record, so no body and no secret
gets into the log.
"""

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
from msgspec import Struct

from webhook.admission.answer import Answer, Outcome
from webhook.placement.text.problem import escape

MESSAGE_LIMIT: Final = 2048
"""Characters of a message: a refusal has at most 1,024 bytes."""
FIELD_LIMIT: Final = 256
"""Characters of a field: the longest name of an object has 253."""
TRACE_LINES: Final = 50
"""Lines of a traceback that are kept, the innermost ones."""
RECORDS_PER_SECOND: Final = 200
"""Records written in one second, because every client can cause records: 0.5 MB/s if all have the full length."""


class LogLine(Struct, frozen=True, omit_defaults=True):
    """One line of the log; ``docs/schemas/log.json`` is its schema. A field that is not known is left out.

    ``time`` is in UTC. ``path``, ``method`` and ``code`` are those of an HTTP request, the fields from ``uid`` to
    ``operation`` those of a review, whose ``outcome`` is ``allowed``, ``patched``, ``denied``, ``unreadable`` or
    ``errored`` and whose ``reason`` is a short word such as ``Forbidden``. ``traceback`` has the innermost lines.
    """

    time: str
    level: str
    logger: str
    message: str
    path: str = ""
    method: str = ""
    code: int = 0
    uid: str = ""
    namespace: str = ""
    name: str = ""
    kind: str = ""
    operation: str = ""
    outcome: str = ""
    reason: str = ""
    traceback: tuple[str, ...] = ()


FIELDS: Final = LogLine.__struct_fields__[4:-1]
"""Keys of ``facts`` that are written; ``facts`` is passed to the logger as ``extra={"facts": ...}``."""

_LEVELS: Final = {
    Outcome.ALLOWED: logging.DEBUG,
    Outcome.PATCHED: logging.DEBUG,
    Outcome.DENIED: logging.INFO,
    Outcome.UNREADABLE: logging.WARNING,
    Outcome.ERRORED: logging.ERROR,
}


class Line(logging.Formatter):
    """A logging formatter: one line of JSON for each record."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its newline."""
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        facts: Mapping[str, Any] = getattr(record, "facts", {})
        fields: dict[str, Any] = {
            field: value if isinstance(value, int) else _clean(value, FIELD_LIMIT)
            for field in FIELDS
            if (value := facts.get(field))
        }
        trace = self.formatException(record.exc_info).splitlines() if record.exc_info else []
        line = LogLine(
            time=moment.replace("+00:00", "Z"),
            level=record.levelname.lower(),
            logger=record.name,
            message=_clean(record.getMessage(), MESSAGE_LIMIT),
            **fields,
            traceback=tuple(_clean(each, FIELD_LIMIT) for each in trace[-TRACE_LINES:]),
        )
        return msgspec.json.encode(line).decode()


class RateLimit:
    """A logging filter: lets ``per_second`` records of each second pass, and drops the others."""

    def __init__(self, per_second: int = RECORDS_PER_SECOND) -> None:
        self._per_second = per_second
        self._second = 0
        self._seen = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written; the first record of a second says how many of the second before were not."""
        second = int(record.created)
        if second != self._second:
            left_out = max(0, self._seen - self._per_second)
            self._second, self._seen = second, 0
            if left_out:
                record.msg, record.args = f"{record.getMessage()} ({left_out} records before this were left out)", ()
        self._seen += 1
        return self._seen <= self._per_second


def configure(level: str) -> None:
    """Send every record of that level (such as ``info``) and above to standard error as JSON."""
    handler = logging.StreamHandler()
    handler.setFormatter(Line())
    handler.addFilter(RateLimit())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)


def review(log: logging.Logger, path: str, answer: Answer) -> None:
    """Log one review: a refusal, an unreadable review or an error at its level, an admitted object at level debug."""
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
