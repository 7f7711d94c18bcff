"""Decoding JSON of the API server: ``decoded`` reads it, and ``reason`` says why it cannot be read.

msgspec reads values that are nested up to Python's recursion limit; the API server takes and stores deeper ones.

msgspec inspects the fields of a type when it first decodes one. A thread that decodes the same type meanwhile reads a
description of which parts are missing, and the process ends with a segmentation fault (msgspec 0.22). So
``inspect_types`` comes before threads that decode, and at the end of modules that threads import.
"""

import contextlib
import re
import threading
from collections.abc import Iterator
from typing import Final, TypeVar

import msgspec

T = TypeVar("T")

_INSPECTING: Final = threading.Lock()
"""Held while types are inspected."""

_INSPECTED: Final[set[type[msgspec.Struct]]] = set()
"""The types that msgspec has inspected, or refuses to decode."""

ERRORS: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""Exceptions that decoding with msgspec can raise; :func:`reason` turns each into a message."""

LEVELS: Final = 200
"""Levels that are kept of a text that is nested too deeply: objects of Kubernetes' own kinds have some twenty."""

_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[\]{}]', re.DOTALL)
"""A string, or a bracket outside of strings."""

_PLACE: Final = re.compile(r"(.*) - at `(?:key in )?\$\.?(.*)`", re.DOTALL)


def inspect_types(module: str = "") -> None:
    """Let msgspec inspect all types of Structs that are imported, so that several threads may decode them from now on.

    Takes some 30 ms for the 560 types of the product, once; the caller sees to it that no other thread decodes
    meanwhile. With the name of a ``module`` only its types are inspected: a module that is imported when it is needed
    first calls this at its end, since until then no other thread has its types.
    """
    with _INSPECTING:
        shapes = set(_subtypes(msgspec.Struct)) - _INSPECTED
        for shape in [one for one in shapes if module in ("", one.__module__)]:
            with contextlib.suppress(TypeError, NameError):  # fields that no JSON can fill: it is never decoded
                msgspec.json.Decoder(shape)
            _INSPECTED.add(shape)


def _subtypes(shape: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for below in shape.__subclasses__():
        yield below
        yield from _subtypes(below)


def decoded(text: bytes | bytearray | msgspec.Raw, shape: type[T]) -> T:
    """The text as a value of that type, without what is nested deeper than :data:`LEVELS` if it cannot be read whole.

    One object that is nested too deeply must not make the others of a list unreadable. Raises one of :data:`ERRORS`.
    """
    try:
        return msgspec.json.decode(text, type=shape)
    except RecursionError:
        return msgspec.json.decode(shallow(bytes(text)), type=shape)


def shallow(text: bytes, levels: int = LEVELS) -> bytes:
    """The JSON text with ``null`` for every list and object that has that many others around it; takes linear time."""
    kept: list[bytes] = []
    depth = end = start = 0
    for token in _TOKEN.finditer(text):
        if token[0] in {b"{", b"["}:
            depth += 1
            if depth == levels + 1:
                start = token.start()
        elif token[0] in {b"}", b"]"}:
            depth -= 1
            if depth == levels:
                kept += (text[end:start], b"null")
                end = token.end()
    return b"".join((*kept, text[end:]))


def reason(error: Exception) -> str:
    """Why the text could not be decoded: the path of the value, a colon, and the rule that it breaks."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8 text"
    text = str(error)
    place = _PLACE.fullmatch(text)
    return f"{place[2]}: {_lower(place[1])}" if place and place[2] else _lower(place[1] if place else text)


def _lower(text: str) -> str:
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]
