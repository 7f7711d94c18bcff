"""A connection to the API server: one HTTP session that sends requests, renews credentials and raises ``ApiError``."""

import asyncio
import contextlib
import functools
import io
from collections.abc import AsyncIterator, Callable, Mapping
from http import HTTPStatus
from types import TracebackType
from typing import Final, Self

import aiohttp
import msgspec
from msgspec import Struct

from kubeapi.client.access import Access
from kubeapi.client.configuration import Configuration
from kubeapi.client.decoding import ERRORS
from kubeapi.client.errors import ApiError, Cause, FailedRequest

CONNECT: Final = 5.0
"""Seconds to open a connection: the API server is near, so after this time another attempt is better than waiting."""

CREDENTIALS: Final = 30.0
"""Seconds to read the credentials: a plugin may ask a service far away."""

_DIRECT_BYTES: Final = 1 << 20
"""Bytes of a body that is written at once; aiohttp warns of more (``TOO_LARGE_BYTES_BODY``), and streams a file."""

_ERROR_BYTES: Final = 65536
"""Bytes read of an error answer: a Status object has some 300."""

_AGENT: Final = "streams-placement"
"""The ``User-Agent`` if none is given."""

_DONE: Final = frozenset({HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.ACCEPTED})
"""Status codes of success: the object, a created object, an object that will be deleted."""

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
"""Exceptions of sending a request and of reading its answer."""

_TLS: Final = (aiohttp.ClientConnectorSSLError, aiohttp.ClientConnectorCertificateError)


class Status(Struct, frozen=True, gc=False):
    """``v1 Status``: the answer of the API server to a request that it does not fulfil."""

    message: str | None = None
    code: int | None = None
    reason: str | None = None


class Request(Struct, frozen=True, kw_only=True):
    """An HTTP request. ``silence`` is the number of seconds that may pass without a byte of the answer.

    ``content`` is the media type of ``body``. ``fence`` is called right before the request is sent, each time, and
    raises an exception of its own if it must not be sent.
    """

    path: str
    method: str = "GET"
    query: Mapping[str, str] = {}
    body: bytes | None = None
    content: str = ""
    silence: float
    fence: Callable[[], object] = lambda: None


def cause_of(code: int) -> Cause:
    """The cause that an HTTP status code, or the code of a Status, stands for."""
    return _CAUSES.get(code, Cause.BROKEN)


class Connection:
    """Sends requests to one API server, for any number of tasks of one event loop.

    A connection is an async context manager that several tasks may enter; the session ends when the last one leaves.
    ``agent`` is the ``User-Agent``, which audit logs and ``managedFields`` show. Proxies are those of the configuration
    only, not those of the environment.
    """

    def __init__(
        self,
        configuration: Configuration,
        *,
        connect_seconds: float = CONNECT,
        credential_seconds: float = CREDENTIALS,
        agent: str = _AGENT,
    ) -> None:
        self._configuration = configuration
        self._headers = {"Accept": "application/json", "User-Agent": agent}
        self._connect_seconds = connect_seconds
        self._credential_seconds = credential_seconds
        self._asking = asyncio.Lock()
        self._reading: asyncio.Future[Access] | None = None
        """The last reading of credentials; it goes on in its thread if the request that needs it is given up."""
        self._session: aiohttp.ClientSession | None = None
        self._users = 0

    async def __aenter__(self) -> Self:
        self._users += 1
        if self._session is None:
            self._session = aiohttp.ClientSession(
                cookie_jar=aiohttp.DummyCookieJar(), headers=self._headers, middlewares=(_once,)
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
        """The answer to a GET; see :class:`Request` for ``silence``. Raises :class:`ApiError`."""
        async with self.send(Request(path=path, query=query, silence=silence)) as response:
            yield response

    @contextlib.asynccontextmanager
    async def send(self, request: Request) -> AsyncIterator[aiohttp.ClientResponse]:
        """The answer, if it is a success; any failure, also while the answer is read, raises :class:`ApiError`.

        A request is sent once. It is sent again only if the API server has refused its credentials.
        """
        try:
            async with await self._answered(request) as response:
                if response.status not in _DONE:
                    raise await self._failure(request, response)
                yield response
        except _NETWORK as error:
            failed = FailedRequest(method=request.method, path=request.path, detail=_text(error))
            text = f"the API server does not answer: {_why(error)}"
            raise ApiError(Cause.UNREACHABLE, text, request=failed) from error

    async def _answered(self, request: Request) -> aiohttp.ClientResponse:
        """The answer, success or not.

        If the credentials or the server's certificate are refused, both are read again, and the request is repeated.
        """
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
        # One reading at a time: if several requests are refused together, only the first one reads credentials again,
        # because ``refused`` must be the newest access. A reading that was given up is waited for: else each request
        # would run a plugin that is stuck again, in one more thread, until there are none left for anything else.
        read = functools.partial(self._configuration.access, refused=refused)
        try:
            async with asyncio.timeout(self._credential_seconds), self._asking:
                if self._reading is not None:
                    await asyncio.wait((self._reading,))
                self._reading = asyncio.get_running_loop().run_in_executor(None, read)
                return await asyncio.shield(self._reading)
        except TimeoutError:
            text = f"no credentials arrived within {self._credential_seconds:g} seconds"
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
            data=_sent(request.body),
            headers=[*((name, value) for name, value in headers.items() if value), *access.impersonation],
            ssl=access.tls or True,
            server_hostname=access.server_name,
            proxy=access.proxy,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._connect_seconds, sock_read=request.silence),
        )

    async def _failure(self, request: Request, response: aiohttp.ClientResponse) -> ApiError:
        status = await _status(response)
        cause = Cause.EXISTS if status.reason == "AlreadyExists" else cause_of(response.status)
        detail = status.message or response.reason or "no reason given"
        if cause is Cause.UNAUTHORIZED and self._configuration.trouble:
            detail += f" (using the previous credentials, no newer ones are available: {self._configuration.trouble})"
        wait = response.headers.get("Retry-After", "")
        failed = FailedRequest(method=request.method, path=request.path, code=response.status, detail=detail)
        text = f"the API server answers {response.status}: {detail}"
        return ApiError(cause, text, wait=float(wait) if wait.isdecimal() else 0.0, request=failed)


def _sent(body: bytes | None) -> bytes | io.BytesIO | None:
    """The body as aiohttp takes it without blocking the loop."""
    return io.BytesIO(body) if body is not None and len(body) > _DIRECT_BYTES else body


async def _once(request: aiohttp.ClientRequest, sending: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """An aiohttp middleware that prevents retries: aiohttp would repeat a request when a kept connection breaks.

    Such a request may have arrived, and must not be sent twice.
    """
    try:
        return await sending(request)
    except aiohttp.ClientConnectorError:
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise aiohttp.ClientConnectionError(_why(error)) from error


async def _status(response: aiohttp.ClientResponse) -> Status:
    """The Status in the answer; an empty Status if the answer is not from an API server (a proxy's page)."""
    body = await response.content.read(_ERROR_BYTES)
    try:
        return msgspec.json.decode(body, type=Status)
    except ERRORS:
        return Status()


def _why(error: Exception) -> str:
    """The text of the underlying system or certificate error, without what aiohttp adds to it."""
    return _text(getattr(error, "certificate_error", None) or getattr(error, "os_error", None) or error)


def _text(error: Exception) -> str:
    return str(error) or type(error).__name__
