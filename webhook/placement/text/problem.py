"""What is wrong with a request, as data: a field, a rule, and where in the text.

Parsers return a value together with *all* its problems; nothing a user writes raises. A problem becomes text in
exactly one place, :func:`render`, so every refusal has the same shape (``docs/refusals.md``).
"""

import enum
import re
from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

CARET_WIDTH = 72
"""Characters of the user's text shown above a caret; fits an 80-column terminal with the indent."""

MESSAGE_LIMIT = 1024
"""Bytes of a refusal: an Event of events.k8s.io/v1 holds 1,024 characters of note."""

BLOCKS = 32
"""Problems that are put into words at all: no more of the shortest ones fit into a message."""

_Thing = TypeVar("_Thing")

_UNPRINTABLE = re.compile(r"[^\x20-\x7e]")


class Fault(enum.Enum):
    """Whose change could make it right, and so which status code it carries."""

    INVALID = 422
    """No change of the cluster could: syntax, a contradiction within the pod, a missing label."""
    FORBIDDEN = 403
    """One could: an unknown pool, an index beyond the size, no node."""


class Problem(msgspec.Struct, frozen=True, gc=False):
    """One thing that is wrong.

    ``field`` is the path of the field (``metadata.annotations[streams.ibm.com/placement]``), ``message`` names the
    value, the rule and what would have worked. ``offset`` is a character offset into ``text``, the user's own text,
    with ``0 <= offset <= len(text)``; without a text there is no caret line.
    """

    field: str
    message: str
    text: str = ""
    offset: int | None = None
    fault: Fault = Fault.INVALID


def escape(text: str) -> str:
    r"""The text in printable ASCII: a line break becomes ``\n``, an escape ``\x1b``, an override ``\u202e``.

    Users' text reaches terminals and logs; this keeps escape sequences and line breaks from acting there.
    """
    return _UNPRINTABLE.sub(_escaped, text)


def quote(text: str, limit: int = 80) -> str:
    """The text escaped, in double quotes, cut to ``limit`` characters with ``...``."""
    shown = escape(text[:limit]).replace('"', '\\"')
    return f'"{shown}..."' if len(text) > limit else f'"{shown}"'


def counted(count: int, noun: str) -> str:
    """So many of them, in words."""
    return f"{count} {noun}{'s' * (count != 1)}"


def enumerated(things: Sequence[_Thing], most: int, show: Callable[[_Thing], str] = str) -> str:
    """The first of the things in words, between commas, and how many more there are."""
    more = len(things) - most
    return ", ".join(map(show, things[:most])) + (f" and {more} more" if more > 0 else "")


def shorten(text: str, limit: int) -> str:
    """The text escaped, and cut to ``limit`` characters with ``...``."""
    shown = escape(text)
    return shown if len(shown) <= limit else f"{shown[: limit - 3]}..."


def render(problems: Sequence[Problem]) -> str:
    """All problems as one refusal text: a first line that stands alone, caret lines, then the other problems.

    At most :data:`MESSAGE_LIMIT` bytes of ASCII; what does not fit is counted, never cut in the middle.
    """
    blocks = [_block(problem) for problem in problems[:BLOCKS]]
    for shown in range(len(blocks), 0, -1):
        text = "\n".join(blocks[:shown]) + _more(len(problems) - shown)
        if len(text) <= MESSAGE_LIMIT:
            return text
    more = _more(len(problems) - 1)
    return blocks[0][: MESSAGE_LIMIT - len(more)] + more


def _more(count: int) -> str:
    return f"\n... and {count} more problem{'s' * (count != 1)}." if count else ""


def _block(problem: Problem) -> str:
    head = f"{escape(problem.field)}: {escape(problem.message)}"
    if problem.offset is None:
        return head
    start = max(0, min(problem.offset - CARET_WIDTH // 2, len(problem.text) - CARET_WIDTH))
    before = escape(problem.text[start : problem.offset])
    after = escape(problem.text[problem.offset : start + CARET_WIDTH])
    return f"{head}\n  {before}{after}\n  {' ' * len(before)}^"


def _escaped(match: re.Match[str]) -> str:
    return match.group().encode("unicode_escape").decode("ascii")
