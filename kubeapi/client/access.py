"""``Access``: address, token and TLS context for requests to the API server; ``Credentials``: the source of these.

``Configuration`` holds the credentials; ``Connection`` asks it for the access before each request.
"""

import ssl
from typing import Protocol

from msgspec import Struct


class Access(Struct, frozen=True, eq=False):
    """Where to send a request and how to authenticate.

    ``server`` is a URL without a slash at its end, ``header`` the value of ``Authorization``, ``server_name`` the name
    in the server's certificate if it is not the one in the URL, ``proxy`` the URL of an HTTP proxy, and
    ``impersonation`` the headers that name another user to act as. Without ``tls`` the default context of aiohttp is
    used.
    """

    server: str
    header: str | None = None
    tls: ssl.SSLContext | None = None
    server_name: str | None = None
    proxy: str | None = None
    impersonation: tuple[tuple[str, str], ...] = ()


class Credentials(Protocol):
    """A source of ``Access``: a service account or a kubeconfig. Its methods may block, and may raise any exception."""

    reread: float
    """Seconds after which :meth:`read` is due again."""

    def read(self) -> Access:
        """Read files, environment or plugin again."""
        ...

    def renewed(self) -> Access:
        """The access that was read last; if its credentials have expired, a new one."""
        ...


def header_of(text: str, what: str = "token") -> str:
    """The text without white space around it, as the value of a header; ``ValueError`` if it cannot be one."""
    text = text.strip()
    if not (text.isascii() and text.isprintable()):
        raise ValueError(f"the {what} holds characters that no header can carry")
    return text
