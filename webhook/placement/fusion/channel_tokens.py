"""``byChannel()`` and ``byReplica()`` in the tokens of an operator's placement, written out (``docs/fusion.md``).

In a parallel region each copy of an operator gets its own tokens: ``"t" + byChannel()`` is ``"t" + "work.1"`` for the
copies in channel 1 of the region ``work``. The text that results is one of the placement grammar.
"""

import re
from typing import Final

from webhook.placement.spl.literals import Flaw, decode, encode

_STRING: Final = r'"(?:[^"\\]++|\\.)*+"'
_CALL: Final = r"by(?:Channel|Replica)\s*+\(\s*+\)"
_TERM: Final = f"(?:{_STRING}|{_CALL})"

_EXPRESSION: Final = re.compile(
    rf"(?P<comment>//[^\r\n]*+|/\*.*?\*/)|(?P<terms>{_TERM}(?:\s*+\+\s*+{_TERM})*+)", re.DOTALL
)
_PARTS: Final = re.compile(_TERM, re.DOTALL)


def per_channel(text: str) -> bool:
    """Whether the text has a token that differs from channel to channel."""
    return written_out(text, "", "") != text


def written_out(text: str, channel: str, replica: str) -> str:
    """The text in which each token is one string; ``channel`` and ``replica`` are what the calls stand for."""

    def string(match: re.Match[str]) -> str:
        terms = match["terms"]
        if terms is None or not re.search(_CALL, _PARTS.sub(_call_only, terms)):
            return match[0]
        pieces = [_value(part[0], channel, replica) for part in _PARTS.finditer(terms)]
        return match[0] if None in pieces else encode("".join(piece for piece in pieces if piece))

    return _EXPRESSION.sub(string, text)


def _call_only(part: re.Match[str]) -> str:
    """The term without its text, if it is a string."""
    return "" if part[0].startswith('"') else part[0]


def _value(term: str, channel: str, replica: str) -> str | None:
    """The text that a term stands for; ``None`` for a string with a mistake."""
    if term.startswith('"'):
        value = decode(term)
        return None if isinstance(value, Flaw) else value
    return channel if term.startswith("byChannel") else replica
