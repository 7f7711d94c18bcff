r"""String literals of SPL, ``"text"`` in quotes: decoded to text, and encoded from text (``docs/annotations.md``).

Escapes are ``\"``, ``\\``, ``\n``, ``\t``, ``\r`` and ``\u`` with four hexadecimal digits. The digits of ``\u`` are a
UTF-16 unit as in Java and JSON: a character beyond U+FFFF is a pair of units, and half a pair is an error.
"""

import re

from msgspec import Struct

from webhook.placement.text.problem import quote

CONTROL = r"\x00-\x1f\x7f-\x9f"
"""Unicode's control characters (category Cc), as the inside of a character class."""

_LETTERS = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", "r": "\r"}
_ESCAPES = {character: f"\\{letter}" for letter, character in _LETTERS.items()}

_SPECIAL = re.compile(
    rf"""
      \\(?P<letter>["\\ntr])
    | \\u(?P<high>[Dd][89ABab][0-9A-Fa-f]{{2}}) \\u(?P<low>[Dd][C-Fc-f][0-9A-Fa-f]{{2}})
    | \\u(?P<half>[Dd][89A-Fa-f][0-9A-Fa-f]{{2}})
    | \\u(?P<unit>[0-9A-Fa-f]{{4}})
    | (?P<other>\\.|[{CONTROL}])
    """,
    re.VERBOSE | re.DOTALL,
)
_UNSAFE = re.compile(r'["\\]|[^\x20-\x7e]')


class Flaw(Struct, frozen=True, gc=False):
    """A mistake in a string literal; ``offset`` counts characters from the literal's opening quote."""

    offset: int
    message: str


def decode(literal: str) -> str | Flaw:
    """The text that the literal stands for, or the first mistake in it; ``literal`` includes both quotes."""
    pieces, position = [], 1
    for match in _SPECIAL.finditer(literal, 1, len(literal) - 1):
        piece = _character(match)
        if piece is None:
            return Flaw(match.start(), _refusal(match))
        pieces += [literal[position : match.start()], piece]
        position = match.end()
    pieces.append(literal[position:-1])
    return "".join(pieces)


def encode(text: str) -> str:
    """The text as a literal in printable ASCII. The literal decodes to the same text, unless it has half a pair."""
    return f'"{_UNSAFE.sub(_escaped, text)}"'


def _character(match: re.Match[str]) -> str | None:
    """The character that an escape stands for; ``None`` for a control character and an illegal escape."""
    if letter := match["letter"]:
        return _LETTERS[letter]
    if unit := match["unit"]:
        return chr(int(unit, 16))
    if high := match["high"]:
        return bytes.fromhex(high + match["low"]).decode("utf-16-be")
    return None


def _refusal(match: re.Match[str]) -> str:
    if half := match["half"]:
        return f"\\u{half} is half a surrogate pair: both halves must be there, the higher one first"
    if match["other"].startswith("\\"):
        escapes = 'the escapes are \\" \\\\ \\n \\t \\r and \\u with four hexadecimal digits'
        return f"{quote(match['other'])} is not an escape: {escapes}"
    character = match["other"]
    return f"control character U+{ord(character):04X} inside a string: write it as {_unit(character)}"


def _escaped(match: re.Match[str]) -> str:
    return _unit(match.group())


def _unit(character: str) -> str:
    """The escape of one character: a letter after the backslash, or one or two UTF-16 units."""
    if short := _ESCAPES.get(character):
        return short
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
