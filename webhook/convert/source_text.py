"""The text of an input with its lines: decoding with limits, and problems and remarks at places of the text."""

import bisect
import re
from typing import Final

from webhook.convert.findings import InputLine, RefusedInputError
from webhook.placement.text.problem import Problem

TEXT_LIMIT: Final = 1024 * 1024
"""Bytes of an input that is text: SPL programs and configurations are a hundred times smaller."""

_BREAK: Final = re.compile(r"\n")
_MARK: Final = "\ufeff"


class SourceText:
    """The text of one input; ``name`` is that of its file, ``first`` the number of its first line."""

    def __init__(self, name: str, text: str, first: int = 1) -> None:
        self.name = name
        self.text = text
        self._first = first
        self._starts = [0, *(newline.end() for newline in _BREAK.finditer(text))]

    def line(self, offset: int) -> InputLine:
        """The line of the character at that offset."""
        return InputLine(self.name, self._first + bisect.bisect_right(self._starts, offset) - 1)

    def problem(self, offset: int, message: str) -> Problem:
        """The problem at that character; its message shows the line with a caret."""
        offset = min(offset, len(self.text))
        at = bisect.bisect_right(self._starts, offset) - 1
        start = self._starts[at]
        end = self._starts[at + 1] - 1 if at + 1 < len(self._starts) else len(self.text)
        shown = self.text[start:end].rstrip("\r")
        return Problem(str(self.line(offset)), message, shown, min(offset - start, len(shown)))


def decoded(name: str, content: bytes, limit: int = TEXT_LIMIT) -> SourceText:
    """The text of an input, which is UTF-8. Raises :class:`RefusedInputError` for any other, and one that is too long.

    A byte order mark of UTF-8 is left out.
    """
    if len(content) > limit:
        message = f"the input has {len(content)} bytes, at most {limit} are read"
        raise RefusedInputError(Problem(name, message))
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = InputLine(name, content.count(b"\n", 0, error.start) + 1)
        message = f"byte {error.start} is not UTF-8: save the input as UTF-8"
        raise RefusedInputError(Problem(str(line), message)) from None
    source = SourceText(name, text.removeprefix(_MARK))
    if (at := source.text.find("\0")) >= 0:
        raise RefusedInputError(Problem(str(source.line(at)), "there is a NUL character: this is not text"))
    return source
