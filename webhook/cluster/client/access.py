"""How to ask the API server, for now."""

import ssl
from typing import Protocol

from msgspec import Struct


class Access(Struct, frozen=True, eq=False):
    """``header`` is the value of ``Authorization``, ``server`` a URL without a slash at its end."""

    server: str
    header: str | None = None
    tls: ssl.SSLContext | None = None
    server_name: str | None = None
    proxy: str | None = None


class Credentials(Protocol):
    """A place that says how to ask. Reading may block, and raises whatever goes wrong."""

    reread: float
    """Seconds that what it says is good for."""

    def read(self) -> Access:
        """Everything anew."""
        ...

    def header(self) -> str | None:
        """The header as it is now; credentials that have expired are renewed."""
        ...


def header_of(text: str) -> str:
    """The text as the value of a header; ``ValueError`` if it cannot be one."""
    text = text.strip()
    if not (text.isascii() and text.isprintable()):
        raise ValueError("the token holds characters that no header can carry")
    return text
