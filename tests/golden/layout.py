"""Edited test files, laid out as the formatter has them: a literal that has become too long is cut between words."""

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from tests.golden.literals import Piece, Source
from tests.golden.rewriting import Edit

COLUMNS: Final = 120
ROOM: Final = 12
"""Columns for the indentation and punctuation that the formatter may add to a piece that it puts on its own line."""


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text after all edits of it, the last one first, so that offsets stay true. Overlapping ones raise."""
    behind = len(text)
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end), reverse=True):
        if edit.end > behind:
            raise ValueError(f"two edits overlap before offset {behind}")
        text, behind = f"{text[: edit.start]}{edit.text}{text[edit.end :]}", edit.start
    return text


def laid_out(path: Path, text: str) -> str:
    """The file's text, formatted, with no string over the limit of a line that can be cut."""
    for _ in range(3):
        text = _formatted(path, text)
        cut = _cut(text)
        if cut == text:
            return text
        text = cut
    return _formatted(path, text)


def _formatted(path: Path, text: str) -> str:
    command = (str(Path(sys.executable).with_name("ruff")), "format", "--quiet", "--stdin-filename", str(path), "-")
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout  # noqa: S603 - ruff


def _cut(text: str) -> str:
    source = Source.of(text)
    places = [at for literal in source.literals(source.tree) for piece in literal.pieces for at in _cuts(text, piece)]
    return edited(text, (Edit(Path(), at, at, between) for at, between in places))


def _cuts(text: str, piece: Piece) -> Iterator[tuple[int, str]]:
    """Where to end a piece and begin another: behind the last blank before the limit."""
    line = text.rfind("\n", 0, piece.start) + 1
    if "\n" in text[piece.start : piece.end] or piece.end - line <= COLUMNS or text[piece.end :].startswith("  # fmt:"):
        return
    indent = len(text[line:]) - len(text[line:].lstrip(" "))
    limit = piece.start + COLUMNS - indent - ROOM
    blanks = [char.end for char in piece.chars if char is not None and char.text in " \n" and char.end < limit]
    if blanks:
        prefix, quote = piece.quoting
        yield blanks[-1], f"{quote} {prefix}{quote}"
