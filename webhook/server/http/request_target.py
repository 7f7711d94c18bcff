"""The target of a request line: path, and the time-out of the API server's ``?timeout=10s`` (a duration of Go)."""

import functools
import re
from typing import Final
from urllib.parse import unquote

from msgspec import Struct

_PART: Final = re.compile(r"(\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(ns|us|ms|s|m|h)", re.ASCII)
_SECONDS: Final = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_MICRO: Final = str.maketrans("\u00b5\u03bc", "uu")
"""Go reads ``us`` also with the micro sign and with the Greek letter mu."""

_TEXT_LIMIT: Final = 64
"""Characters of a duration: more than the longest one that Go writes, ``2562047h47m16.854775807s``."""


def seconds(text: str) -> float | None:
    """Seconds of a duration as Go writes it, ``1m30s`` or ``500ms``; ``None`` for any other text, and for zero."""
    if len(text) > _TEXT_LIMIT:
        return None
    spelled = text.translate(_MICRO)
    total, position = 0.0, 0
    while part := _PART.match(spelled, position):
        total += float(part[1]) * _SECONDS[part[2]]
        position = part.end()
    return total if position == len(spelled) and total > 0 else None


class RequestTarget(Struct, frozen=True, gc=False):
    """A path, and the seconds that the caller waits for the answer; ``None`` if the caller did not say it readably."""

    path: str
    timeout: float | None = None


@functools.lru_cache(maxsize=256)
def parse(text: str) -> RequestTarget:
    """Parse a target such as ``/mutate?timeout=10s``; other parameters, and unreadable ones, are ignored.

    Results are cached, because the API server sends the same few targets again and again.
    """
    path, _, query = text.partition("?")
    for parameter in query.split("&"):
        name, _, value = parameter.partition("=")
        if name == "timeout":
            return RequestTarget(path, seconds(unquote(value)))
    return RequestTarget(path)
