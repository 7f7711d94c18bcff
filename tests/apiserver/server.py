"""``ApiServer``: a ``Storage`` over HTTP or TLS, with watches, canned answers and faults on demand."""

import asyncio
import contextlib
import dataclasses
import json
import socket
import ssl
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Self

from aiohttp import web

from kubeapi.client.access import Access
from kubeapi.client.configuration import Configuration
from tests.apiserver.kubeconfig import Given
from tests.apiserver.paths import PATHS, ApiPath, Json, api_path, path_of
from tests.apiserver.requests import obey
from tests.apiserver.storage import RefusedError, Storage

TOO_OLD = b'{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old resource version"}}\n'

LISTING = {"list", "page", "look", "watch"}

Answer = Callable[[], web.StreamResponse]
Hook = Callable[["Seen"], Awaitable[web.StreamResponse | None]]
"""May wait, answer in place of the server, or lose the answer; ``None`` lets the truth through."""


@dataclasses.dataclass
class Seen:
    """A request that came in; ``body`` is text. ``status`` is that of its answer, 0 before there is one."""

    at: float
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: str = dataclasses.field(repr=False)
    status: int = 0

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def parsed(self) -> ApiPath | None:
        return api_path(self.path)

    @property
    def resource(self) -> str:
        """The plural name of the kind; empty if the path is none of the API."""
        return self.parsed.resource if self.parsed else ""

    @property
    def what(self) -> str:
        """``list``, ``page`` (another one of a list), ``look`` (at the version only), ``watch``, or the method."""
        if self.method != "GET" or self.parsed is None or self.parsed.name:
            return self.method
        if "watch" in self.query:
            return "watch"
        if "continue" in self.query:
            return "page"
        return "look" if self.query.get("limit") == "1" else "list"


async def nothing(_seen: Seen) -> None:
    """No fault."""


def status(code: int, message: str = "because", **more: str) -> web.Response:
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code, **more}
    return web.json_response(body, status=code)


def refused(code: int, reason: str) -> web.Response:
    return status(code, f"because {reason}", reason=reason)


class ApiServer:
    """Answers requests for all objects of ``storage``; ``seen`` are the requests that came, in their order.

    ``before`` is called for every request before it is obeyed, ``after`` before it is answered. ``tokens`` are the
    values of ``Authorization`` that are believed, ``None`` for all; ``missing`` are resources that are not installed.
    ``watching`` counts the watches that are open, by resource. While the server is ``muted`` watches say nothing.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.storage = Storage()
        self.storage.listeners.append(lambda _: self._wake())
        self.seen: list[Seen] = []
        self.before: Hook = nothing
        self.after: Hook = nothing
        self.answers: dict[tuple[str, str], deque[Answer | None]] = defaultdict(deque)
        """Canned answers by resource and what is asked; ``None`` answers truly, and the last one stays if ``stuck``."""
        self.stuck = False
        self.tokens: set[str] | None = None
        self.missing: set[str] = set()
        self.muted = False
        self.watch_seconds = 60.0
        self.chunk: int | None = None
        """The number of bytes that a watch sends at a time; ``None`` for a line."""
        self.watching: dict[str, int] = defaultdict(int)
        # Bound but never listening: while the server is down nobody gets the port, and who asks there is refused.
        self._place = socket.socket()
        self._place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._place.bind(("127.0.0.1", 0))
        self.port: int = self._place.getsockname()[1]
        self.tls = tls
        self._lists_fail = False
        self._news = asyncio.Event()
        self._extra: list[tuple[str, bytes]] = []
        self._runner: web.AppRunner | None = None
        self._listener: socket.socket | None = None

    # The life of the server

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    def configuration(self) -> Configuration:
        """The way here, without TLS and credentials."""
        return Configuration(Given(Access(server=self.url)))

    async def start(self) -> None:
        app = web.Application(client_max_size=8 << 20)
        app.router.add_route("*", "/{path:.*}", self.handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.01, handler_cancellation=True)
        await self._runner.setup()
        self._listener = socket.create_server(("127.0.0.1", self.port))
        await web.SockSite(self._runner, self._listener, ssl_context=self.tls).start()

    async def stop(self) -> None:
        if self._runner is not None and self._listener is not None:
            runner, self._runner = self._runner, None
            # What is accepted while a server closes is lost open (asyncio, Server._attach): first accept no more, and
            # let what has been accepted become a connection, which takes two turns of the loop.
            asyncio.get_running_loop().remove_reader(self._listener)
            for _ in range(3):
                await asyncio.sleep(0)
            await runner.cleanup()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        await self.start()
        try:
            yield self
        finally:
            await self.stop()
            self._place.close()
            # aiohttp leaves connections alone that came in while it stopped: they end now that the client has gone.
            await asyncio.sleep(0.01)

    # What happens in the cluster

    @property
    def objects(self) -> dict[str, Json]:
        """The objects of the storage by path."""
        return self.storage.objects

    def put(self, path: str, thing: Json) -> Json:
        """Store an object as if somebody had just written it."""
        return self.storage.put(path, thing)

    def store(self, resource: str, item: Json) -> Json:
        """Store an object of a watched resource at the path that its metadata says."""
        metadata = item.get("metadata") or {}
        path = path_of(PATHS[resource], metadata.get("name", ""), metadata.get("namespace", ""))
        return self.storage.put(path, item)

    def remove(self, resource: str, name: str, namespace: str = "") -> None:
        """Remove an object of a watched resource."""
        self.storage.remove(path_of(PATHS[resource], name, namespace))

    def fail_lists(self, *, failing: bool = True) -> None:
        """While lists fail they are answered with 500, and watches end."""
        self._lists_fail = failing
        self._wake()

    def send(self, resource: str, line: bytes) -> None:
        """Send bytes to everyone who watches the resource now."""
        self._extra.append((resource, line))
        self._wake()

    def bookmark(self, resource: str, **metadata: object) -> None:
        """Send a bookmark of this version, with the zero values that a server in Go writes."""
        item = {"metadata": {"resourceVersion": str(self.storage.version), "creationTimestamp": None, **metadata}}
        item |= {"spec": {"containers": None}, "status": {"addresses": None}}
        self.send(resource, _line({"type": "BOOKMARK", "object": item}))

    def asked(self, resource: str, *what: str) -> list[Seen]:
        return [seen for seen in self.seen if seen.resource == resource and seen.what in what]

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    # Answers

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer a request; what it was answered is in ``seen``."""
        body = (await request.read()).decode()
        query, headers = dict(request.query), dict(request.headers)
        seen = Seen(time.monotonic(), request.method, request.path, query, headers, body)
        self.seen.append(seen)
        response = self._instead(seen) or await self.before(seen)
        if response is None:
            watches = seen.what == "watch"
            response = await self._watch(request, seen) if watches else await self._obey(seen)
        seen.status = response.status
        return response

    def _instead(self, seen: Seen) -> web.StreamResponse | None:
        if self.tokens is not None and seen.headers.get("Authorization") not in self.tokens:
            return status(401, "Unauthorized")
        if seen.resource in self.missing:
            return web.Response(status=404, text="404 page not found\n")
        if self._lists_fail and seen.what in LISTING:
            return refused(500, "etcd")
        waiting = self.answers.get((seen.resource, seen.what))
        if not waiting:
            return None
        canned = waiting[0] if self.stuck and len(waiting) == 1 else waiting.popleft()
        return canned() if canned else None

    async def _obey(self, seen: Seen) -> web.StreamResponse:
        body = seen.json if seen.body else None
        try:
            code, answer = obey(self.storage, seen.method, seen.path, body, seen.query)
        except RefusedError as error:
            return status(error.code, str(error), reason=error.reason)
        if instead := await self.after(seen):
            return instead
        response = web.json_response(answer, status=code)
        if seen.what in LISTING and "gzip" in seen.headers.get("Accept-Encoding", ""):
            response.enable_compression(web.ContentCoding.gzip)
        return response

    async def _watch(self, request: web.Request, seen: Seen) -> web.StreamResponse:
        version = int(seen.query.get("resourceVersion", self.storage.version))
        try:
            self._events(seen, version)
        except RefusedError as error:
            return status(error.code, str(error), reason=error.reason)
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        self.watching[seen.resource] += 1
        try:
            if "resourceVersion" not in seen.query:
                assert seen.parsed is not None
                for item in self.storage.page(seen.parsed, {**seen.query, "limit": "500"})["items"] or ():
                    await self._send(response, _line({"type": "ADDED", "object": item}))
            await self._tell(response, seen, version)
        finally:
            self.watching[seen.resource] -= 1
        return response

    async def _tell(self, response: web.StreamResponse, seen: Seen, version: int) -> None:
        """Send events until the time is up, or they are too old."""
        extra = len(self._extra)
        end = time.monotonic() + self.watch_seconds
        while (left := end - time.monotonic()) > 0 and not self._lists_fail:
            news = self._news
            if not self.muted:
                try:
                    events, version = self._events(seen, version), self.storage.version
                except RefusedError:
                    await self._send(response, TOO_OLD)
                    return
                sent, extra = self._extra[extra:], len(self._extra)
                for line in (*map(_line, events), *(line for resource, line in sent if resource == seen.resource)):
                    await self._send(response, line)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(news.wait(), left)

    def _events(self, seen: Seen, version: int) -> list[Json]:
        assert seen.parsed is not None
        return self.storage.events(version, seen.parsed, seen.query)

    async def _send(self, response: web.StreamResponse, line: bytes) -> None:
        size = self.chunk or len(line)
        for start in range(0, len(line), size):
            await response.write(line[start : start + size])
            if self.chunk:
                await asyncio.sleep(0)


def _line(event: Json) -> bytes:
    return json.dumps(event).encode() + b"\n"
