"""What a request line asks for."""

import functools
from urllib.parse import unquote

from msgspec import Struct

from webhook.server import duration


class Target(Struct, frozen=True, gc=False):
    """A path, and how long its caller is going to wait, in seconds, if that was said readably."""

    path: str
    timeout: float | None = None


@functools.lru_cache(maxsize=256)
def parse(text: str) -> Target:
    """The target ``/mutate?timeout=10s``; what is unreadable in the query is ignored.

    Remembered, because the API server sends the same two for ever.
    """
    path, _, query = text.partition("?")
    for parameter in query.split("&"):
        name, _, value = parameter.partition("=")
        if name == "timeout":
            return Target(path, duration.seconds(unquote(value)))
    return Target(path)
