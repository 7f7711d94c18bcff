"""The string literals of a Python file, character by character, so that some of their words can be replaced in place.

A literal may be many quoted pieces side by side (implicit concatenation), and f-strings have fields between their
characters. What stands between two fields, or ends, is a run: text that can be searched and edited.
"""

import ast
import functools
import re
from collections.abc import Iterator
from typing import Final, NamedTuple, Self

_OPENING: Final = re.compile(r"(?P<prefix>[rRuUbBfF]*)(?P<quote>\"\"\"|'''|\"|')")
_SPACE: Final = re.compile(r"(?:\s|\\\n|#[^\n]*)*")
_ESCAPE: Final = re.compile(r"\\(?:x..|u.{4}|U.{8}|N\{[^}]*\}|[0-7]{1,3}|.)", re.DOTALL)


class Quoting(NamedTuple):
    """How a piece is written: ``rf"..."`` has the prefix ``rf`` and the quote ``"``."""

    prefix: str
    quote: str

    def written(self, text: str) -> str:
        """The text as it is spelled between these quotes."""
        if "f" in self.prefix:
            text = text.replace("{", "{{").replace("}", "}}")
        if "r" in self.prefix:
            return text
        text = text.replace("\\", "\\\\")
        if len(self.quote) == 1:
            text = text.replace("\n", "\\n").replace(self.quote, f"\\{self.quote}")
        return "".join(each if each.isprintable() or each == "\n" else ascii(each)[1:-1] for each in text)


class Char(NamedTuple):
    """A character of a literal's value, and where in the file it is spelled."""

    text: str
    start: int
    end: int
    quoting: Quoting


class Run(NamedTuple):
    """Characters of one literal with no field between them."""

    chars: tuple[Char, ...]

    @property
    def text(self) -> str:
        """The value."""
        return "".join(char.text for char in self.chars)


class Piece(NamedTuple):
    """One quoted token, with the characters of its value; ``None`` stands for a field."""

    start: int
    end: int
    quoting: Quoting
    chars: tuple[Char | None, ...]


class Literal(NamedTuple):
    """A string expression of a file: its place, and its pieces."""

    start: int
    end: int
    pieces: tuple[Piece, ...]

    def runs(self) -> Iterator[Run]:
        """The texts between its ends and fields."""
        found: list[Char] = []
        for char in (*(char for piece in self.pieces for char in piece.chars), None):
            if char is not None:
                found.append(char)
            elif found:
                yield Run(tuple(found))
                found = []


class Source(NamedTuple):
    """A Python file, parsed."""

    text: str
    tree: ast.Module
    lines: tuple[int, ...]
    """Offsets of the beginnings of lines."""

    @classmethod
    def of(cls, text: str) -> Self:
        """Parse it."""
        lines = [0, *(found.end() for found in re.finditer("\n", text))]
        return cls(text, ast.parse(text), tuple(lines))

    def offset(self, line: int, column: int) -> int:
        """The place of a node: lines count from 1, and columns in bytes of UTF-8, as ``ast`` has them."""
        start = self.lines[line - 1]
        head = self.text[start:].partition("\n")[0].encode()[:column]
        return start + len(head.decode())

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Where a node begins and ends."""
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno or 0, node.end_col_offset or 0)

    def literals(self, within: ast.AST) -> Iterator[Literal]:
        """The string expressions below a node; texts within the fields of f-strings are none."""
        for node in _strings(within):
            start, end = self.span(node)
            yield Literal(start, end, tuple(pieces(self.text, start, end)))


def _strings(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        yield node
        return
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):  # a docstring
            yield from _strings(child)


def pieces(text: str, start: int, end: int) -> Iterator[Piece]:
    """The quoted tokens of a string expression."""
    while start < end:
        opening = _OPENING.match(text, start)
        if opening is None:
            return
        quoting = Quoting(opening["prefix"].lower(), opening["quote"])
        chars = tuple(_chars(text, opening.end(), quoting))
        last = _closing(text, opening.end(), quoting)
        yield Piece(start, last, quoting, chars)
        spaces = _SPACE.match(text, last)
        start = spaces.end() if spaces else last


def _closing(text: str, at: int, quoting: Quoting) -> int:
    """Where a token ends whose text begins at a place."""
    while not text.startswith(quoting.quote, at):
        at = _next(text, at, quoting)[1]
    return at + len(quoting.quote)


def _chars(text: str, at: int, quoting: Quoting) -> Iterator[Char | None]:
    while not text.startswith(quoting.quote, at):
        value, end = _next(text, at, quoting)
        if value is None:
            yield None
        elif len(value) > 1:  # a backslash that is one, before what would otherwise end a raw literal
            yield Char(value[0], at, at + 1, quoting)
            yield Char(value[1], at + 1, end, quoting)
        elif value:
            yield Char(value, at, end, quoting)
        at = end


def _next(text: str, at: int, quoting: Quoting) -> tuple[str | None, int]:
    """The value that is spelled at a place, ``None`` for a field, and where its spelling ends."""
    if "f" in quoting.prefix and text[at] in "{}":
        if text[at] == text[at + 1]:
            return text[at], at + 2
        return None, _field(text, at)
    if text[at] == "\\":
        if "r" in quoting.prefix:
            return text[at : at + 2], at + 2
        escape = _ESCAPE.match(text, at)
        assert escape is not None
        return _decoded(escape.group()), escape.end()
    return text[at], at + 1


@functools.cache
def _decoded(escape: str) -> str:
    """The character that an escape stands for; none for an escaped end of a line."""
    value: str = ast.literal_eval(f'"{escape}"' if escape != '\\"' else "'\"'")
    return value


def _field(text: str, at: int) -> int:
    """Where a field of an f-string ends that begins at a place."""
    depth = 0
    while True:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
        if not depth:
            return at
