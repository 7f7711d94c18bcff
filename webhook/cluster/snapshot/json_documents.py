"""Takes JSON texts apart that follow one another in one file, as ``kubectl`` reads what it printed several times.

``---`` may stand between them. Only the ends of texts are looked for: what is wrong in one, its decoder says.
"""

import re
from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import Struct

from kubeapi.client.decoding import ERRORS

_END_OF_LINE: Final = re.compile(rb"(?<=[}\]])[ \t\r]*\n\s*(?:---\s+)?(?=[{\[])")
"""Between two texts: inside of one a comma would have to be there, and no string has the end of a line in it."""

_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}\[\]]', re.DOTALL)
"""A string, or a bracket outside of strings."""

_OBJECT: Final = re.compile(rb"\s*\{")
"""The beginning of a file whose first text is an object."""

_BEFORE: Final = re.compile(rb"\s*(?:---\s+)?")
"""What may stand before the first text."""


class JsonDocument(Struct, frozen=True, gc=False):
    """One JSON ``text`` of a file, and its ``place`` there for messages: empty if it is the only one.

    ``whole`` tells that it is one text of JSON, and nothing else.
    """

    text: bytes
    place: str = ""
    whole: bool = True


def json_of(content: bytes, suffix: str = "") -> list[JsonDocument] | None:
    """The texts of a file whose name has that suffix; ``None`` for YAML.

    A file of another suffix than ``.json`` is JSON if it holds objects alone: YAML may begin with a brace too, and JSON
    with tabs is not YAML.
    """
    if suffix == ".json":
        return json_documents(content)
    if not _OBJECT.match(content):
        return None
    texts = json_documents(content)
    return texts if all(text.whole for text in texts) else None


def json_documents(content: bytes) -> list[JsonDocument]:
    """Every text of the file; the whole file if it is one text."""
    if _whole(content):
        return [JsonDocument(content)]
    texts = [*_texts(content)]
    if len(texts) <= 1:
        return [JsonDocument(content, whole=False)]
    return [
        JsonDocument(text, f"document {number}, from byte {start}", whole)
        for number, (start, text, whole) in enumerate(texts, 1)
    ]


def _whole(text: bytes) -> bool:
    """Whether this is one text of JSON."""
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except ERRORS:
        return False
    return True


def _texts(content: bytes) -> Iterator[tuple[int, bytes, bool]]:
    """The texts of a file that is not one text: where each begins, the text, and whether it is one text of JSON."""
    before = _BEFORE.match(content)
    start = before.end() if before else 0
    for end in (*_END_OF_LINE.finditer(content, start), None):
        text = content[start : end.start() if end else len(content)]
        if _whole(text):
            yield start, text, True
        else:
            yield from ((start + at, part, _whole(part)) for at, part in _of_one_line(text))
        start = end.end() if end else len(content)


def _of_one_line(content: bytes) -> Iterator[tuple[int, bytes]]:
    """The texts between which no line ends: each goes up to the bracket that closes its first one."""
    start = depth = 0
    for token in _TOKEN.finditer(content):
        mark = token[0][:1]
        depth += (mark in b"{[") - (mark in b"}]")
        if mark in b"}]" and depth <= 0:
            yield _trimmed(content, start, token.end())
            start, depth = token.end(), 0
    if content[start:].strip() or not start:
        yield _trimmed(content, start, len(content))


def _trimmed(content: bytes, start: int, end: int) -> tuple[int, bytes]:
    """The text without the blanks before it, and where it begins."""
    text = content[start:end].lstrip()
    return end - len(text), text
