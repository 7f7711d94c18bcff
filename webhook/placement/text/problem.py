"""One mistake in a request as data (:class:`Problem`), how problems become text, and escaping and plurals for it.

Parsers return a value together with *all* problems of their input; nothing that a user writes raises. Only
:func:`render` turns problems into text, so every refusal has the same shape (``docs/refusals.md``).
"""

import enum
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import msgspec

CARET_WIDTH = 72
"""Characters of the user's text shown above a caret: an 80-column terminal has room for so many and the indent."""

MESSAGE_LIMIT = 1024
"""Bytes of a refusal: the note of an Event of events.k8s.io/v1 holds 1,024 characters."""

CLAUSE_LIMIT = 60
"""Characters of a clause in a message; the user knows the rest."""

REASON_LIMIT = 200
"""Characters of one line of reasons, and of a fix."""

BLOCKS = 32
"""Problems that are put into words: a message has no room for more, however short the problems are."""

_Item = TypeVar("_Item")

_UNPRINTABLE = re.compile(r"[^\x20-\x7e]")


class Fault(enum.Enum):
    """Whether a problem lies in the request or in the cluster; the values are HTTP status codes."""

    INVALID = 422
    """No change of the cluster could help: a syntax error, a contradiction within the pod, a missing label."""
    FORBIDDEN = 403
    """A change of the cluster could help: an unknown pool, an index beyond the pool's size, no suitable node."""


class Problem(msgspec.Struct, frozen=True, gc=False):
    """One mistake in a request.

    ``field`` is the path of the field (``metadata.annotations[streams.ibm.com/placement]``); ``message`` names the
    value, the rule and what would have worked. ``text`` is the user's own text, and ``offset`` the character in it at
    which the mistake is, with ``0 <= offset <= len(text)``; without an offset the refusal shows no caret line.
    """

    field: str
    message: str
    text: str = ""
    offset: int | None = None
    fault: Fault = Fault.INVALID


def fault_of(problems: Iterable[Problem]) -> Fault:
    """The fault of several problems together: ``INVALID`` if one of them is."""
    return Fault.INVALID if any(problem.fault is Fault.INVALID for problem in problems) else Fault.FORBIDDEN


def escape(text: str) -> str:
    r"""The text in printable ASCII: a line break becomes ``\n``, an escape ``\x1b``, an override ``\u202e``.

    Text of users reaches terminals and logs, where escape sequences and line breaks must have no effect.
    """
    return text if text.isascii() and text.isprintable() else _UNPRINTABLE.sub(_escaped, text)


def quote(text: str, limit: int = 80) -> str:
    """The text escaped and in double quotes; beyond ``limit`` characters it is cut and ends in ``...``."""
    shown = escape(text[:limit]).replace('"', '\\"')
    return f'"{shown}..."' if len(text) > limit else f'"{shown}"'


def counted(count: int, noun: str) -> str:
    """The number and the noun, in the plural unless the number is 1: ``3 nodes``, ``1 node``."""
    return f"{count} {noun}{'s' * (count != 1)}"


def enumerated(items: Sequence[_Item], most: int, show: Callable[[_Item], str] = str) -> str:
    """The first ``most`` items separated by commas, and how many more there are: ``a, b and 3 more``."""
    more = len(items) - most
    return ", ".join(map(show, items[:most])) + (f" and {more} more" if more > 0 else "")


def shorten(text: str, limit: int) -> str:
    """The text escaped, and cut to ``limit`` characters, the last of which are ``...`` then."""
    shown = escape(text)
    return shown if len(shown) <= limit else f"{shown[: limit - 3]}..."


def render(problems: Sequence[Problem]) -> str:
    """All problems as the text of one refusal: each on a line of its own, with the user's text and a caret below.

    The first line makes sense alone. The text is ASCII and has at most :data:`MESSAGE_LIMIT` bytes: problems that do
    not fit are counted in its last line, and a first problem that is too long by itself is cut.
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
