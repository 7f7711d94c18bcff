"""A proxy in front of the API server that counts requests, and stops a controller at a named one."""

import asyncio
import contextlib
import dataclasses
import http
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Final, Self

import aiohttp
from aiohttp import ClientResponse, web
from yarl import URL

from tests.e2e.controller.request_points import PassedRequest, RequestPoint, kind_of
from tests.e2e.controlplane.identities import write_kubeconfig
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.programs.ports import free_ports

_SECONDS: Final = 10.0
"""For the relay to start and to end."""

_LINGER: Final = 0.1
"""Seconds for connections to end by themselves, which watches never do."""

_HELD_SECONDS: Final = 60.0
"""For a request that nobody lets go."""

_NOT_PASSED_ON: Final = frozenset(
    {"host", "connection", "content-length", "transfer-encoding", "keep-alive", "date", "server"}
)  # fmt: skip
"""Headers that are about one connection, and those that each of the two servers writes itself."""


class StopPoint:
    """Waits for a moment; then calls ``act`` with the name of who asked, and holds the request until ``let_go``."""

    def __init__(self, moment: RequestPoint, act: Callable[[str], object], loop: asyncio.AbstractEventLoop) -> None:
        self.moment = moment
        self.act = act
        self.sprung = threading.Event()
        self.who = ""
        self.dropped = False
        """Whether a request that was held is never passed on."""
        self.answered = threading.Event()
        self.code = 0
        """The answer of the API server to that request, once it is answered."""
        self.count = 0
        """Requests of the kind so far."""
        self._loop = loop
        self._free = asyncio.Event()

    def let_go(self, *, dropped: bool = False) -> None:
        """Pass the request on, or drop it."""
        self.dropped = dropped
        self._loop.call_soon_threadsafe(self._free.set)

    async def hold(self) -> None:
        """Wait for that, not for ever."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_HELD_SECONDS):
                await self._free.wait()


class StoppingProxy:
    """``with Relay(plane) as stopping_proxy``; every client that has a kubeconfig of its own is known by its name."""

    def __init__(self, plane: ControlPlane) -> None:
        (self.port,) = free_ports(1)
        self.seen: list[PassedRequest] = []  # lists append atomically
        """Every request that was answered, in that order."""
        self.stop_point: StopPoint | None = None
        self._plane = plane
        self._tls = ssl.create_default_context(cafile=plane.authority)
        self._served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)  # no client sends a token without TLS
        self._served.load_cert_chain(plane.authority, Path(plane.authority).with_suffix(".key"))
        self._up = threading.Event()
        self._over = asyncio.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), name="relay", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._up.wait(_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        if self.stop_point is not None:
            self.stop_point.let_go(dropped=True)
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(_SECONDS)

    def kubeconfig(self, folder: Path, who: str, account: str) -> Path:
        """A kubeconfig by which a client asks through the relay, with the token of an account of the plane."""
        folder.mkdir(parents=True, exist_ok=True)
        url = f"https://127.0.0.1:{self.port}/{who}"
        return write_kubeconfig(folder, self._plane.identities[account], url, self._plane.authority)

    def counts(self, who: str = "") -> Counter[str]:
        """How many requests of each kind were answered; those of one client, or of all."""
        return Counter(one.kind for one in list(self.seen) if who in {"", one.who})

    def spring(self, moment: RequestPoint, act: Callable[[str], object]) -> StopPoint:
        """Set a trap; it counts from now on."""
        self.stop_point = StopPoint(moment, act, self._loop)
        return self.stop_point

    async def _main(self) -> None:
        """Serve until it is over; whatever is still under way then is cancelled."""
        self._loop = asyncio.get_running_loop()
        connector = aiohttp.TCPConnector(ssl=self._tls, limit=0)
        timeout = aiohttp.ClientTimeout(total=None)
        async with aiohttp.ClientSession(connector=connector, timeout=timeout, auto_decompress=False) as self._session:
            runner = web.ServerRunner(
                web.Server(self._handle, access_log=None), handler_cancellation=True, shutdown_timeout=_LINGER
            )
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", self.port, ssl_context=self._served).start()
            self._up.set()
            await self._over.wait()
            await runner.cleanup()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        who, _, rest = request.raw_path.removeprefix("/").partition("/")
        body = await request.read()
        path = f"/{rest}"
        seen = PassedRequest(who, kind_of(request.method, path, body), request.method, path)
        if seen.kind == "watch":
            return await self._stream(request, path)
        # What was sent goes on, even if its sender is no more.
        return await asyncio.shield(asyncio.ensure_future(self._exchange(request, seen, body)))

    async def _exchange(self, request: web.BaseRequest, seen: PassedRequest, body: bytes) -> web.Response:
        before = self._caught(seen, "before")
        if before is not None:
            await before.hold()
            if before.dropped:
                return web.Response(status=http.HTTPStatus.BAD_GATEWAY, text="dropped")
        try:
            async with self._sent(request, seen.path, body) as answer:
                reply = web.Response(status=answer.status, headers=_passed_on(answer.headers), body=await answer.read())
        except (aiohttp.ClientError, OSError) as error:  # the API server is away
            return web.Response(status=http.HTTPStatus.BAD_GATEWAY, text=str(error))
        self.seen.append(dataclasses.replace(seen, code=answer.status))
        after = self._caught(seen, "after") if answer.status < http.HTTPStatus.BAD_REQUEST else None
        for stop_point in filter(None, (before, after)):
            stop_point.code = answer.status
            stop_point.answered.set()
        if after is not None:
            await after.hold()
        return reply

    async def _stream(self, request: web.BaseRequest, path: str) -> web.StreamResponse:
        reply = web.StreamResponse(status=http.HTTPStatus.BAD_GATEWAY)
        with contextlib.suppress(aiohttp.ClientError, OSError):  # either end has hung up
            async with self._sent(request, path, b"") as answer:
                reply = web.StreamResponse(status=answer.status, headers=_passed_on(answer.headers))
                await reply.prepare(request)
                async for chunk in answer.content.iter_any():
                    await reply.write(chunk)
        return reply

    def _sent(self, request: web.BaseRequest, path: str, body: bytes) -> AbstractAsyncContextManager[ClientResponse]:
        url = URL(f"{self._plane.url}{path}", encoded=True)
        return self._session.request(request.method, url, data=body or None, headers=_passed_on(request.headers))

    def _caught(self, seen: PassedRequest, side: str) -> StopPoint | None:
        """The trap, if this is its moment; each springs once."""
        stop_point = self.stop_point
        if (
            stop_point is None
            or stop_point.sprung.is_set()
            or (stop_point.moment.side, stop_point.moment.kind) != (side, seen.kind)
        ):
            return None
        stop_point.count += 1
        if stop_point.count != stop_point.moment.number:
            return None
        stop_point.who = seen.who
        stop_point.act(seen.who)
        stop_point.sprung.set()
        return stop_point


def _passed_on(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _NOT_PASSED_ON}
