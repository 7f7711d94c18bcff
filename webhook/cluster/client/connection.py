"""The way to the API server: one session, credentials that are renewed, and every failure as one kind of exception."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from http import HTTPStatus
from types import TracebackType
from typing import Final, Self

import aiohttp
import msgspec
from msgspec import Struct

from webhook.cluster.client.access import Access
from webhook.cluster.client.configuration import Configuration
from webhook.cluster.client.errors import ApiError, Cause

CONNECT: Final = 5.0
"""Seconds to reach the API server, which is near; over it, another attempt is worth more than patience."""

CREDENTIALS: Final = 30.0
"""Seconds for the credentials: a plugin may ask a service far away."""

_ERROR_BYTES: Final = 65536
"""Bytes read of an answer that is no success: a Status object has some 300."""

_HEADERS: Final = {"Accept": "application/json", "User-Agent": "streams-placement"}

_DONE: Final = frozenset({HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.ACCEPTED})
"""How the API server says yes: here it is, it is made, it will be deleted."""

_CAUSES: Final[Mapping[int, Cause]] = {
    HTTPStatus.UNAUTHORIZED: Cause.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN: Cause.FORBIDDEN,
    HTTPStatus.NOT_FOUND: Cause.MISSING,
    HTTPStatus.CONFLICT: Cause.CONFLICT,
    HTTPStatus.GONE: Cause.GONE,
    HTTPStatus.UNPROCESSABLE_ENTITY: Cause.INVALID,
    HTTPStatus.TOO_MANY_REQUESTS: Cause.BUSY,
}

_NETWORK: Final = (aiohttp.ClientError, OSError, TimeoutError)
"""What asking and reading can raise."""

_TLS: Final = (aiohttp.ClientConnectorSSLError, aiohttp.ClientConnectorCertificateError)


class Status(Struct, frozen=True, gc=False):
    """``v1 Status``: how the API server says no."""

    message: str | None = None
    code: int | None = None
    reason: str | None = None


class Request(Struct, frozen=True, kw_only=True):
    """What is asked. ``silence`` is how many seconds may pass without a byte.

    ``fence`` is called right before every sending, and raises whatever forbids it.
    """

    path: str
    method: str = "GET"
    query: Mapping[str, str] = {}
    body: bytes | None = None
    content: str = ""
    silence: float
    fence: Callable[[], object] = lambda: None


def cause_of(code: int) -> Cause:
    """What an HTTP status code, or the code of a Status, means."""
    return _CAUSES.get(code, Cause.BROKEN)


class Connection:
    """Asks one API server, for any number of tasks of one event loop; a context, which may be entered by several."""

    def __init__(
        self, configuration: Configuration, *, connect_seconds: float = CONNECT, credential_seconds: float = CREDENTIALS
    ) -> None:
        self._configuration = configuration
        self._connect_seconds = connect_seconds
        self._credential_seconds = credential_seconds
        self._asking = asyncio.Lock()
        self._session: aiohttp.ClientSession | None = None
        self._users = 0

    async def __aenter__(self) -> Self:
        self._users += 1
        if self._session is None:
            self._session = aiohttp.ClientSession(
                cookie_jar=aiohttp.DummyCookieJar(), headers=_HEADERS, middlewares=(_once,)
            )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._users -= 1
        if self._session is not None and not self._users:
            session, self._session = self._session, None
            await session.close()

    @contextlib.asynccontextmanager
    async def get(
        self, path: str, query: Mapping[str, str], *, silence: float
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """The answer to a GET; ``silence`` is how many seconds may pass without a byte. Raises :class:`ApiError`."""
        async with self.send(Request(path=path, query=query, silence=silence)) as response:
            yield response

    @contextlib.asynccontextmanager
    async def send(self, request: Request) -> AsyncIterator[aiohttp.ClientResponse]:
        """The answer, if it is yes; everything else, also while it is read, raises :class:`ApiError`.

        What was sent once is not sent again, unless the API server has refused to look at it.
        """
        try:
            async with await self._answered(request) as response:
                if response.status not in _DONE:
                    raise await self._failure(response)
                yield response
        except _NETWORK as error:
            raise ApiError(Cause.UNREACHABLE, f"the API server does not answer: {_why(error)}") from error

    async def _answered(self, request: Request) -> aiohttp.ClientResponse:
        """Any answer; after a refusal of the credentials, or of the server's certificate, both are renewed once."""
        access = await self._access()
        try:
            response = await self._ask(access, request)
        except _TLS:
            pass
        else:
            if response.status != HTTPStatus.UNAUTHORIZED:
                return response
            response.release()
        return await self._ask(await self._access(refused=access), request)

    async def _access(self, refused: Access | None = None) -> Access:
        # One at a time: feeds that are refused together renew once, as only the newest access can be refused.
        try:
            async with asyncio.timeout(self._credential_seconds), self._asking:
                return await asyncio.to_thread(self._configuration.access, refused=refused)
        except TimeoutError:
            text = f"there were no credentials within {self._credential_seconds:g} seconds"
            raise ApiError(Cause.UNAUTHORIZED, text) from None

    async def _ask(self, access: Access, request: Request) -> aiohttp.ClientResponse:
        if self._session is None:
            raise RuntimeError("a connection is used as a context")
        headers = {"Accept-Encoding": "gzip", "Authorization": access.header, "Content-Type": request.content}
        request.fence()
        return await self._session.request(
            request.method,
            access.server + request.path,
            params=request.query,
            data=request.body,
            headers={name: value for name, value in headers.items() if value},
            ssl=access.tls or True,
            server_hostname=access.server_name,
            proxy=access.proxy,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._connect_seconds, sock_read=request.silence),
        )

    async def _failure(self, response: aiohttp.ClientResponse) -> ApiError:
        said = await _status(response)
        cause = Cause.EXISTS if said.reason == "AlreadyExists" else cause_of(response.status)
        text = f"the API server answers {response.status}: {said.message or response.reason or 'no reason given'}"
        if cause is Cause.UNAUTHORIZED and self._configuration.trouble:
            text = f"{text} (the last credentials were used, as there are no others: {self._configuration.trouble})"
        wait = response.headers.get("Retry-After", "")
        return ApiError(cause, text, wait=float(wait) if wait.isdecimal() else 0.0)


async def _once(request: aiohttp.ClientRequest, sending: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Keep aiohttp from sending again what may have arrived: it does so when a connection that was kept breaks."""
    try:
        return await sending(request)
    except aiohttp.ClientConnectorError:
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise aiohttp.ClientConnectionError(_why(error)) from error


async def _status(response: aiohttp.ClientResponse) -> Status:
    """What the API server says; nothing if something else answers in its place."""
    body = await response.content.read(_ERROR_BYTES)
    try:
        return msgspec.json.decode(body, type=Status)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return Status()


def _why(error: Exception) -> str:
    """The cause that the system names, without the addresses of objects that aiohttp adds."""
    inner = getattr(error, "certificate_error", None) or getattr(error, "os_error", None) or error
    return str(inner) or type(error).__name__
