"""The way to the API server: one session, credentials that are renewed, and every failure as one kind of exception."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from types import TracebackType
from typing import Final, Self

import aiohttp
import msgspec
from msgspec import Struct

from webhook.cluster.access import Access
from webhook.cluster.configuration import Configuration
from webhook.cluster.failure import Cause, Failure

CONNECT: Final = 5.0
"""Seconds to reach the API server, which is near; over it, another attempt is worth more than patience."""

CREDENTIALS: Final = 30.0
"""Seconds for the credentials: a plugin may ask a service far away."""

_ERROR_BYTES: Final = 65536
"""Bytes read of an answer that is no success: a Status object has some 300."""

_HEADERS: Final = {"Accept": "application/json", "User-Agent": "streams-placement"}

_CAUSES: Final[Mapping[int, Cause]] = {
    HTTPStatus.UNAUTHORIZED: Cause.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN: Cause.FORBIDDEN,
    HTTPStatus.NOT_FOUND: Cause.MISSING,
    HTTPStatus.GONE: Cause.GONE,
    HTTPStatus.TOO_MANY_REQUESTS: Cause.BUSY,
}

_NETWORK: Final = (aiohttp.ClientError, OSError, TimeoutError)
"""What asking and reading can raise."""

_TLS: Final = (aiohttp.ClientConnectorSSLError, aiohttp.ClientConnectorCertificateError)


class Status(Struct, frozen=True, gc=False):
    """``v1 Status``: how the API server says no."""

    message: str | None = None
    code: int | None = None


def cause_of(code: int) -> Cause:
    """What an HTTP status code, or the code of a Status, means."""
    return _CAUSES.get(code, Cause.BROKEN)


class Connection:
    """Asks one API server; used as a context, by any number of tasks of one event loop."""

    def __init__(
        self, configuration: Configuration, *, connect_seconds: float = CONNECT, credential_seconds: float = CREDENTIALS
    ) -> None:
        self._configuration = configuration
        self._connect_seconds = connect_seconds
        self._credential_seconds = credential_seconds
        self._asking = asyncio.Lock()
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=_HEADERS,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()

    @contextlib.asynccontextmanager
    async def get(
        self, path: str, query: Mapping[str, str], *, silence: float
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """The answer to a GET, of status 200; everything else, also while it is read, raises :class:`Failure`.

        ``silence`` is how many seconds may pass without a byte.
        """
        try:
            async with await self._answered(path, query, silence) as response:
                if response.status != HTTPStatus.OK:
                    raise await self._failure(response)
                yield response
        except _NETWORK as error:
            raise Failure(Cause.UNREACHABLE, f"the API server does not answer: {_why(error)}") from error

    async def _answered(self, path: str, query: Mapping[str, str], silence: float) -> aiohttp.ClientResponse:
        """Any answer; after a refusal of the credentials, or of the server's certificate, both are renewed once."""
        access = await self._access()
        try:
            response = await self._ask(access, path, query, silence)
        except _TLS:
            pass
        else:
            if response.status != HTTPStatus.UNAUTHORIZED:
                return response
            response.release()
        return await self._ask(await self._access(refused=access), path, query, silence)

    async def _access(self, refused: Access | None = None) -> Access:
        # One at a time: feeds that are refused together renew once, as only the newest access can be refused.
        try:
            async with asyncio.timeout(self._credential_seconds), self._asking:
                return await asyncio.to_thread(self._configuration.access, refused=refused)
        except TimeoutError:
            text = f"there were no credentials within {self._credential_seconds:g} seconds"
            raise Failure(Cause.UNAUTHORIZED, text) from None

    async def _ask(self, access: Access, path: str, query: Mapping[str, str], silence: float) -> aiohttp.ClientResponse:
        if self._session is None:
            raise RuntimeError("a connection is used as a context")
        return await self._session.get(
            access.server + path,
            params=query,
            headers={"Accept-Encoding": "gzip", **({"Authorization": access.header} if access.header else {})},
            ssl=access.tls or True,
            server_hostname=access.server_name,
            proxy=access.proxy,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._connect_seconds, sock_read=silence),
        )

    async def _failure(self, response: aiohttp.ClientResponse) -> Failure:
        cause = cause_of(response.status)
        text = await _message(response)
        if cause is Cause.UNAUTHORIZED and self._configuration.trouble:
            text = f"{text} (the last credentials were used, as there are no others: {self._configuration.trouble})"
        wait = response.headers.get("Retry-After", "")
        return Failure(cause, text, wait=float(wait) if wait.isdecimal() else 0.0)


async def _message(response: aiohttp.ClientResponse) -> str:
    """What the API server says, or whoever answers in its place."""
    body = await response.content.read(_ERROR_BYTES)
    try:
        said = msgspec.json.decode(body, type=Status).message
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        said = None
    return f"the API server answers {response.status}: {said or response.reason or 'no reason given'}"


def _why(error: Exception) -> str:
    """The cause that the system names, without the addresses of objects that aiohttp adds."""
    inner = getattr(error, "certificate_error", None) or getattr(error, "os_error", None) or error
    return str(inner) or type(error).__name__
