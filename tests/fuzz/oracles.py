"""What must hold of every answer to a stranger: of its problems, its sentences, and what is written to the log."""

import contextlib
import logging
import re
from collections.abc import Iterator, Sequence
from typing import Final

from kubeapi.client import decoding
from webhook.placement.text.problem import MESSAGE_LIMIT, Problem, render

_ASCII: Final = re.compile(r"[\x20-\x7e]*")


def text_of(data: bytes) -> str:
    """The input as text; bytes that are no UTF-8 become halves of surrogate pairs, as JSON can have them."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "surrogateescape")


def is_unicode(text: str) -> bool:
    """Whether the text has no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def sayable(problems: Sequence[Problem], most: int | None = None) -> None:
    """The problems are places of their texts, not too many, and their refusal is short and in ASCII."""
    for problem in problems:
        assert problem.field, problem
        assert problem.message, problem
        assert problem.offset is None or 0 <= problem.offset <= len(problem.text), problem
    assert most is None or len(problems) <= most, len(problems)
    if problems:
        readable(render(problems))


def readable(message: str, limit: int = MESSAGE_LIMIT) -> None:
    """The text is printable ASCII in lines, and not too long."""
    assert len(message) <= limit, f"{len(message)} characters: {message[:200]!r}"
    assert all(_ASCII.fullmatch(line) for line in message.split("\n")), message[:200]


def said(error: Exception) -> None:
    """What is wrong with an input is said in printable words; what is quoted of it may be of any letters."""
    reason = decoding.reason(error) if isinstance(error, decoding.ERRORS) else str(error)
    assert reason, repr(error)
    assert reason.replace("\n", "").isprintable() or not is_unicode(reason), repr(reason[:200])


class _Blame(logging.Handler):
    """Keeps what is logged as a fault of ours."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(logging.Formatter().format(record))


@contextlib.contextmanager
def nothing_logged_as_ours() -> Iterator[None]:
    """Nothing is logged as an error: what a user sends is no fault of ours, and makes no traceback."""
    blame, ours = _Blame(), logging.getLogger("webhook")
    level = ours.level
    ours.addHandler(blame)
    ours.setLevel(logging.ERROR)  # warnings are what should be there, and would be printed a thousand times a second
    try:
        yield
    finally:
        ours.removeHandler(blame)
        ours.setLevel(level)
    assert not blame.said, blame.said[0]
