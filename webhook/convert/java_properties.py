r"""Reader of Java properties: ``key=value``, ``key: value`` or ``key value``, as ``java.util.Properties`` reads them.

Lines that begin with ``#`` or ``!`` are comments, a backslash at the end of a line joins the next one to it. ``\t``,
``\n``, ``\r``, ``\f`` and ``\u`` with four hexadecimal digits are escapes; any other escaped character is itself.
"""

import re
from collections.abc import Iterator
from typing import Final

from webhook.convert.findings import InputLine
from webhook.convert.located_yaml import LocatedValue, refused_at, straight
from webhook.convert.source_text import SourceText
from webhook.placement.text.problem import quote

_ENTRY: Final = re.compile(r"(?P<key>(?:[^\\:=\s]|\\.)++)[ \t\f]*+(?:[:=][ \t\f]*+)?(?P<value>.*+)", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(?:u(?P<unit>[0-9A-Fa-f]{4})|(?P<other>.))", re.DOTALL)
_LETTERS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_CONTINUED: Final = re.compile(r"(?<!\\)(?:\\\\)*+\\\Z")


def read_properties(source: SourceText) -> dict[str, LocatedValue]:
    """The entries by key. Raises :class:`RefusedInputError` for a key that occurs twice, and for half an escape."""
    values: dict[str, LocatedValue] = {}
    for at, line in _logical_lines(source):
        match = _ENTRY.fullmatch(line)
        if match is None:
            raise refused_at(at, f"{quote(line)} is not an entry: write key=value")
        key, value = _unescaped(match["key"], at), _unescaped(match["value"], at)
        if key in values:
            raise refused_at(at, f"{quote(key)} occurs twice, first in line {values[key].at.line}")
        values[key] = LocatedValue(at, straight(value.strip()) or None)
    return values


def _logical_lines(source: SourceText) -> Iterator[tuple[InputLine, str]]:
    """The lines with those that go on joined, each with its first line; comments and empty lines are left out."""
    pending, begun = "", 0
    for number, raw in enumerate(source.text.split("\n"), start=1):
        line = raw.rstrip("\r").lstrip(" \t\f")
        if not pending and (not line or line[0] in "#!"):
            continue
        begun = begun if pending else number
        if _CONTINUED.search(line):
            pending += line[:-1] or " "
            continue
        yield InputLine(source.name, begun), pending + line
        pending = ""
    if pending.strip():
        yield InputLine(source.name, begun), pending


def _unescaped(text: str, at: InputLine) -> str:
    def letter(match: re.Match[str]) -> str:
        if match["unit"]:
            return chr(int(match["unit"], 16))
        if match["other"] == "u":
            raise refused_at(at, r"\u is followed by four hexadecimal digits")
        return _LETTERS.get(match["other"], match["other"])

    unescaped = _ESCAPE.sub(letter, text)
    try:
        # Escapes are units of UTF-16: two of them may be one character.
        return unescaped.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise refused_at(at, "an escape is half of a surrogate pair, so this is not Unicode text") from None
