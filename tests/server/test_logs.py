"""Log lines: one JSON object each, with nothing forged in it."""

import io
import json
import logging
import re
import sys
from collections.abc import Iterator
from typing import Any, Final

import msgspec
import pytest
from jsonschema import Draft202012Validator

from tests.docs.pages import ROOT, page
from webhook.admission.answer import Answer, Outcome
from webhook.server import logs
from webhook.server.logs import LogLine

SCHEMA: Final[dict[str, Any]] = json.loads((ROOT / "docs" / "schemas" / "log.json").read_text())

LOG = logging.getLogger("webhook.test")


@pytest.fixture
def stderr(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What was logged at level info; the root logger is put back afterwards."""
    root, stream = logging.getLogger(), io.StringIO()
    handlers, level = root.handlers[:], root.level
    root.handlers.clear()  # configure() closes what it finds
    monkeypatch.setattr(sys, "stderr", stream)
    logs.configure("info")
    yield stream
    root.handlers[:] = handlers
    root.setLevel(level)


def line(stream: io.StringIO) -> dict[str, object]:
    """The only line there is."""
    (text,) = stream.getvalue().splitlines()
    found: dict[str, object] = msgspec.json.decode(text)
    return found


def test_a_record_is_one_line_of_json(stderr: io.StringIO) -> None:
    LOG.info("two\nlines and \x1b[31mred\x1b[0m and \u202e")
    found = line(stderr)
    assert (found["level"], found["logger"], found["message"]) == (
        "info",
        "webhook.test",
        "two\\nlines and \\x1b[31mred\\x1b[0m and \\u202e",
    )


def test_the_time_is_utc_in_milliseconds() -> None:
    record = logging.LogRecord("x", logging.INFO, "", 0, "text", None, None)
    record.created = 1_700_000_000.1239
    assert msgspec.json.decode(logs.Line().format(record))["time"] == "2023-11-14T22:13:20.123Z"


def test_a_refusal_is_told_with_its_facts(stderr: io.StringIO) -> None:
    logs.review(
        LOG,
        "/mutate",
        Answer(
            status=200,
            body=b"the body is not logged",
            outcome=Outcome.DENIED,
            reason="Forbidden",
            kind="Pod",
            operation="CREATE",
            uid="u-1",
            namespace="default",
            name='a", "level": "forged',
            message="no node\nfits",
        ),
    )
    found = line(stderr)
    del found["time"]
    assert found == {
        "level": "info",
        "logger": "webhook.test",
        "message": "no node\\nfits",
        "path": "/mutate",
        "uid": "u-1",
        "namespace": "default",
        "name": 'a", "level": "forged',
        "kind": "Pod",
        "operation": "CREATE",
        "outcome": "denied",
        "reason": "Forbidden",
    }


@pytest.mark.parametrize(
    ("outcome", "level"),
    [
        (Outcome.ALLOWED, None),
        (Outcome.PATCHED, None),
        (Outcome.DENIED, "info"),
        (Outcome.UNREADABLE, "warning"),
        (Outcome.ERRORED, "error"),
    ],
)
def test_what_was_let_through_is_not_told_by_default(stderr: io.StringIO, outcome: Outcome, level: str | None) -> None:
    logs.review(LOG, "/mutate", Answer(200, b"", outcome))
    assert [msgspec.json.decode(text)["level"] for text in stderr.getvalue().splitlines()] == ([level] if level else [])


def test_texts_are_cut(stderr: io.StringIO) -> None:
    LOG.info("%s", "\x1b" * 5000, extra={"facts": {"uid": "\x00" * 5000, "unknown": "field"}})
    found = line(stderr)
    assert (len(str(found["message"])), len(str(found["uid"])), "unknown" in found) == (2048, 256, False)


def test_numbers_stay_numbers(stderr: io.StringIO) -> None:
    LOG.warning("refused", extra={"facts": {"code": 415}})
    assert line(stderr)["code"] == 415


def test_a_lone_surrogate_is_shown_as_such(stderr: io.StringIO) -> None:
    LOG.info("\ud800")
    assert line(stderr)["message"] == "\\ud800"


def test_a_traceback_is_a_list_of_lines(stderr: io.StringIO) -> None:
    def fail() -> None:
        raise ValueError("user's\nown \x1b text")

    try:
        fail()
    except ValueError:
        LOG.exception("failed")
    trace = line(stderr)["traceback"]
    assert isinstance(trace, list)
    assert (trace[0], trace[-2:]) == (
        "Traceback (most recent call last):",
        ["ValueError: user's", "own \\x1b text"],
    )


@pytest.mark.parametrize("level", [logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL])
def test_every_line_fits_the_schema_of_the_page(stderr: io.StringIO, level: int) -> None:
    validator = Draft202012Validator(SCHEMA)
    facts = {"path": "/mutate", "code": 200, "uid": "u", "traceback": "is no fact", "message": "nor is this"}
    LOG.log(level, "text", extra={"facts": facts}, exc_info=ValueError("wrong"))
    LOG.log(level, "text")
    for text in stderr.getvalue().splitlines():
        validator.validate(json.loads(text))
    assert not validator.is_valid({**json.loads(text), "body": "{}"})


def test_the_page_lists_every_key() -> None:
    section = page("operations.md").partition("\n## Logs\n")[2].partition("\n## ")[0]
    rows = [row.split(" | ")[0] for row in section.splitlines() if row.startswith("| `")]
    assert re.findall(r"`(\w+)`", "".join(rows)) == list(LogLine.__struct_fields__)


def record(second: int, text: str = "text") -> logging.LogRecord:
    """A record made in that second."""
    made = logging.LogRecord("x", logging.INFO, "", 0, text, None, None)
    made.created = float(second)
    return made


def test_a_flood_is_cut_off() -> None:
    flood = logs.RateLimit(per_second=2)
    assert [flood.filter(record(second)) for second in (1, 1, 1, 1, 2)] == [True, True, False, False, True]


def test_the_next_second_tells_how_much_was_left_out() -> None:
    flood, told = logs.RateLimit(per_second=1), record(2, "next")
    for each in (record(1), record(1), record(1), told):
        flood.filter(each)
    assert told.getMessage() == "next (2 records before this were left out)"
