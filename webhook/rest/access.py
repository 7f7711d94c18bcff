"""Who may use the interface: processes of this machine, holders of a token, or users of the cluster.

``AccessControl`` is the protocol; its three implementations are ``LoopbackAccess``, ``TokenAccess`` and, in
``cluster_access``, ``ClusterAccess``.
"""

import hashlib
import hmac
import ipaddress
import logging
import socket
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import urlsplit

from aiohttp import hdrs, web
from msgspec import Struct

from webhook.admission.review import User
from webhook.rest.request_error import FieldError, RequestError, refused
from webhook.rest.routes import IntentGroup

TOKEN_LENGTH: Final = 16
"""Characters that a token has at least: 64 bits, even if they are written as hex digits."""

_FILE_LIMIT: Final = 64 * 1024
_SCHEME: Final = "bearer"

_log = logging.getLogger(__name__)


class Action(Struct, frozen=True):
    """An operation on storage: its ``verb`` in Kubernetes (get, list, create, update, delete), group and intent.

    ``intent`` is empty for a list.
    """

    verb: str
    group: IntentGroup
    intent: str = ""


class AccessControl(Protocol):
    """Decides who may use the interface. Each method raises :class:`RequestError` for a client that may not."""

    async def identify(self, request: web.BaseRequest, *, scraping: bool = False) -> User:
        """The client that sends the request; the error has status 401, or 403 if no token is required.

        ``scraping``: the request is for a page that says nothing of intents, such as ``/metrics``.
        """
        ...

    async def authorize(self, user: User, action: Action) -> None:
        """Check that the user may do this; the error has status 403."""
        ...

    async def authorize_path(self, user: User, path: str) -> None:
        """Check that the user may read a page beside the interface, such as ``/metrics``; the error has status 403."""
        ...


class LoopbackAccess:
    """Every user of this machine may do everything; a page of another site in a browser may do nothing.

    A page of another site can have its own name resolve to 127.0.0.1 (DNS rebinding), and then send any request. Such
    a request has that name in its header ``Host``. A form of another site can be sent to 127.0.0.1 itself; a browser
    then writes the site into the header ``Origin``.
    """

    async def identify(self, request: web.BaseRequest, *, scraping: bool = False) -> User:  # noqa: ARG002 -- as of the protocol
        """The user of every request that addresses this port by a name of this machine."""
        host = request.headers.get(hdrs.HOST, "")
        if not is_loopback_name(urlsplit(f"//{host}").hostname or ""):
            rule = "is not a name of this machine: ask for 127.0.0.1, [::1] or localhost"
            raise refused(403, "header Host", rule, host)
        origin = request.headers.get(hdrs.ORIGIN)
        if origin is not None and origin.partition("://")[2].lower() != host.lower():
            raise refused(403, "header Origin", "is another site, whose pages may not send requests here", origin)
        return User()

    async def authorize(self, user: User, action: Action) -> None:
        """Everything is allowed."""

    async def authorize_path(self, user: User, path: str) -> None:
        """Everything is allowed."""


class TokenAccess:
    """Holders of a token of a file may do everything. The file is read again when it changes.

    Each line of the file is a token; several make it possible to replace one without an interruption. The constructor
    raises ``ValueError`` if the file has no token that can be used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen = path.stat().st_mtime_ns
        self._digests = read_tokens(path)

    async def identify(self, request: web.BaseRequest, *, scraping: bool = False) -> User:  # noqa: ARG002 -- as of the protocol
        """The holder of one of the tokens, compared in constant time."""
        self._refresh()
        given = hashlib.sha256(bearer_token(request).encode()).digest()
        if not sum(hmac.compare_digest(given, each) for each in self._digests):
            raise unauthorized("is not a token that this server accepts")
        return User()

    async def authorize(self, user: User, action: Action) -> None:
        """Everything is allowed."""

    async def authorize_path(self, user: User, path: str) -> None:
        """Everything is allowed."""

    def _refresh(self) -> None:
        """Read the file again if it changed; tokens stay as they are if it cannot be used."""
        try:
            seen = self._path.stat().st_mtime_ns
            if seen == self._seen:
                return
            self._seen = seen
            self._digests = read_tokens(self._path)
        except (OSError, ValueError) as error:
            _log.warning("the tokens stay as they were, because the file cannot be used: %s", error)


def read_tokens(path: Path) -> tuple[bytes, ...]:
    """SHA-256 of each token in the file; raises ``OSError``, or ``ValueError`` that never quotes a token."""
    with path.open("rb") as file:
        lines = file.read(_FILE_LIMIT).decode("ascii", errors="replace").split("\n")
    tokens = [line.strip() for line in lines if line.strip()]
    if not tokens:
        raise ValueError(f"{path} has no token")
    for at, token in enumerate(tokens, 1):
        if len(token) < TOKEN_LENGTH or not (token.isascii() and token.isprintable()) or " " in token:
            raise ValueError(
                f"token {at} of {path} is not {TOKEN_LENGTH} or more printable ASCII characters without a blank"
            )
    return tuple(hashlib.sha256(token.encode()).digest() for token in tokens)


def bearer_token(request: web.BaseRequest) -> str:
    """The token in the header ``Authorization``; raises :class:`RequestError` with status 401 without one."""
    scheme, _, token = request.headers.get(hdrs.AUTHORIZATION, "").partition(" ")
    if scheme.lower() != _SCHEME or not token.strip():
        raise unauthorized("is missing: send Authorization: Bearer TOKEN")
    return token.strip()


def unauthorized(rule: str) -> RequestError:
    """The error 401 about the header ``Authorization``, whose value it never quotes."""
    return RequestError(401, (FieldError("header Authorization", rule),), {hdrs.WWW_AUTHENTICATE: "Bearer"})


def is_loopback_name(host: str) -> bool:
    """Whether a host name or address, as clients write it, stands for this machine only."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listens_on_loopback(host: str) -> bool:
    """Whether a server that listens on this host name or address can be reached from this machine only."""
    try:
        addresses = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        return False
    return all(ipaddress.ip_address(str(address[4][0]).partition("%")[0]).is_loopback for address in addresses)
