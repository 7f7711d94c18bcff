"""The target of a request line: its path, and the time-out in its query."""

import functools
import re
from typing import Final
from urllib.parse import unquote

from msgspec import Struct

_PART: Final = re.compile(r"(\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(ns|us|ms|s|m|h)", re.ASCII)
_SECONDS: Final = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_MICRO: Final = str.maketrans("\u00b5\u03bc", "uu")
"""Go takes the micro sign and the Greek letter as well."""

_TEXT_LIMIT: Final = 64
"""Characters: more than Go's longest own spelling, ``2562047h47m16.854775807s``."""


def seconds(text: str) -> float | None:
    """A duration as Go writes it, ``1m30s`` or ``500ms``, in seconds; ``None`` for a text that is no positive one."""
    if len(text) > _TEXT_LIMIT:
        return None
    spelled = text.translate(_MICRO)
    total, position = 0.0, 0
    while part := _PART.match(spelled, position):
        total += float(part[1]) * _SECONDS[part[2]]
        position = part.end()
    return total if position == len(spelled) and total > 0 else None


class RequestTarget(Struct, frozen=True, gc=False):
    """A path, and how many seconds the client waits for the answer, ``None`` where that is not readable."""

    path: str
    timeout: float | None = None


@functools.lru_cache(maxsize=256)
def parse(text: str) -> RequestTarget:
    """Parse a target such as ``/mutate?timeout=10s``; what is unreadable in the query is ignored.

    Results are cached: the API server sends the same few targets all the time.
    """
    path, _, query = text.partition("?")
    for parameter in query.split("&"):
        name, _, value = parameter.partition("=")
        if name == "timeout":
            return RequestTarget(path, seconds(unquote(value)))
    return RequestTarget(path)
