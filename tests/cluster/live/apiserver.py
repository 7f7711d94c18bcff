"""An API server for tests: real HTTP over TLS, real lists in pages and watches; it forgets and fails on demand.

It keeps what a real one keeps: one counter of versions for everything, a history that can be compacted, snapshots that
continue tokens refer to, selectors that turn a change into a deletion.
"""

import asyncio
import contextlib
import json
import socket
import ssl
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, NamedTuple

from aiohttp import web

Json = dict[str, Any]

PATHS = {
    "nodes": "/api/v1/nodes",
    "pods": "/api/v1/pods",
    "streamshostpools": "/apis/streams.ibm.com/v1/streamshostpools",
    "streamsjobs": "/apis/streams.ibm.com/v1/streamsjobs",
    "streamshpaintents": "/apis/streams.ibm.com/v1/streamshpaintents",
    "namespaces": "/api/v1/namespaces",
}
FINISHED = {"Succeeded", "Failed"}


class Request(NamedTuple):
    """A request that came in: ``what`` is list, page, look or watch."""

    at: float
    resource: str
    what: str
    query: dict[str, str]
    headers: dict[str, str]


class Change(NamedTuple):
    version: int
    resource: str
    before: Json | None
    after: Json | None


def status(code: int, message: str = "because") -> web.Response:
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code}
    return web.json_response(body, status=code)


def key_of(item: Json) -> tuple[str, str]:
    metadata = item.get("metadata") or {}
    return metadata.get("namespace", ""), metadata.get("name", "")


TOO_OLD = b'{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old resource version"}}\n'

Answer = Callable[[], web.StreamResponse]


class ApiServer:
    """Answers lists and watches of all resources; ``requests`` are those that came."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.objects: dict[str, dict[tuple[str, str], Json]] = {resource: {} for resource in PATHS}
        self.version = 100
        self.requests: list[Request] = []
        self.answers: dict[tuple[str, str], deque[Answer | None]] = defaultdict(deque)
        """Canned answers by resource and what is asked; ``None`` answers truly, and the last one stays if ``stuck``."""
        self.stuck = False
        self.tokens: set[str] | None = None
        self.missing: set[str] = set()
        self.muted = False
        self.watch_seconds = 60.0
        self.chunk: int | None = None
        # Bound but never listening: while the server is down nobody gets the port, and who asks there is refused.
        self._place = socket.socket()
        self._place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._place.bind(("127.0.0.1", 0))
        self.port: int = self._place.getsockname()[1]
        self._tls = tls
        self._history: list[Change] = []
        self._compacted = 0
        self._snapshots: dict[str, tuple[int, list[Json]]] = {}
        self._news = asyncio.Event()
        self._extra: list[tuple[str, bytes]] = []
        self._runner: web.AppRunner | None = None
        self._listener: socket.socket | None = None
        self.watching: dict[str, int] = defaultdict(int)

    # The life of the server

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    async def start(self) -> None:
        app = web.Application()
        for resource, path in PATHS.items():
            app.router.add_get(path, self._handler(resource))
        self._runner = web.AppRunner(app, shutdown_timeout=0.01, handler_cancellation=True)
        await self._runner.setup()
        self._listener = socket.create_server(("127.0.0.1", self.port))
        await web.SockSite(self._runner, self._listener, ssl_context=self._tls).start()

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
    async def running(self) -> AsyncIterator["ApiServer"]:
        await self.start()
        try:
            yield self
        finally:
            await self.stop()
            self._place.close()
            # aiohttp leaves connections alone that came in while it stopped: they end now that the client has gone.
            await asyncio.sleep(0.01)

    # What happens in the cluster

    def put(self, resource: str, item: Json) -> Json:
        """Create or change; another uid is another object, so the old one is deleted first."""
        metadata = item.get("metadata")
        before = self.objects[resource].get(key_of(item))
        if before and metadata and before["metadata"].get("uid") != metadata.get("uid"):
            namespace, name = key_of(item)
            self.delete(resource, name, namespace)
            before = None
        self.version += 1
        if isinstance(metadata, dict):
            item = {**item, "metadata": {**metadata, "resourceVersion": str(self.version)}}
        self.objects[resource][key_of(item)] = item
        self._changed(Change(self.version, resource, before, item))
        return item

    def delete(self, resource: str, name: str, namespace: str = "") -> None:
        before = self.objects[resource].pop((namespace, name))
        self.version += 1
        gone = {**before, "metadata": {**before["metadata"], "resourceVersion": str(self.version)}}
        self._changed(Change(self.version, resource, gone, None))

    def compact(self) -> None:
        """Forget all history: watches of older versions, and lists that are under way, are gone."""
        self._compacted = self.version
        self._history.clear()
        self._snapshots.clear()

    def send(self, resource: str, line: bytes) -> None:
        """Send bytes to everyone who watches the resource now."""
        self._extra.append((resource, line))
        self._wake()

    def bookmark(self, resource: str, **metadata: object) -> None:
        item = {"metadata": {"resourceVersion": str(self.version), "creationTimestamp": None, **metadata}}
        item |= {"spec": {"containers": None}, "status": {"addresses": None}}
        self.send(resource, json.dumps({"type": "BOOKMARK", "object": item}).encode() + b"\n")

    def asked(self, resource: str, *what: str) -> list[Request]:
        return [request for request in self.requests if request.resource == resource and request.what in what]

    def _changed(self, change: Change) -> None:
        self._history.append(change)
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    # Answers

    def _handler(self, resource: str) -> Callable[[web.Request], Any]:
        async def answer(request: web.Request) -> web.StreamResponse:
            query = dict(request.query)
            what = "watch" if "watch" in query else "page" if "continue" in query else "list"
            if what == "list" and query.get("limit") == "1":
                what = "look"
            self.requests.append(Request(time.monotonic(), resource, what, query, dict(request.headers)))
            if self.tokens is not None and request.headers.get("Authorization") not in self.tokens:
                return status(401, "Unauthorized")
            if resource in self.missing:
                return web.Response(status=404, text="404 page not found\n")
            if canned := self._canned(resource, what):
                return canned()
            return await self._watch(request, resource) if what == "watch" else self._list(request, resource)

        return answer

    def _canned(self, resource: str, what: str) -> Answer | None:
        waiting = self.answers[resource, what]
        if not waiting:
            return None
        return waiting[0] if self.stuck and len(waiting) == 1 else waiting.popleft()

    def _list(self, request: web.Request, resource: str) -> web.StreamResponse:
        limit = int(request.query.get("limit", "500"))
        if token := request.query.get("continue"):
            if token not in self._snapshots:
                return status(410, "The provided continue parameter is too old")
            version, rest = self._snapshots[token]
        else:
            version = self.version
            rest = [item for _, item in sorted(self.objects[resource].items()) if selected(item, request.query)]
        following = ""
        if len(rest) > limit:
            following = f"{resource}-{version}-{len(rest)}+/="
            self._snapshots[following] = version, rest[limit:]
        metadata = {"resourceVersion": str(version), **({"continue": following} if following else {})}
        answer = web.json_response({"kind": "List", "metadata": metadata, "items": rest[:limit] or None})
        if "gzip" in request.headers.get("Accept-Encoding", ""):
            answer.enable_compression(web.ContentCoding.gzip)
        return answer

    async def _watch(self, request: web.Request, resource: str) -> web.StreamResponse:
        seen = int(request.query["resourceVersion"])
        if seen < self._compacted:
            return status(410, f"too old resource version: {seen} ({self._compacted})")
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        extra = len(self._extra)
        end = time.monotonic() + self.watch_seconds
        self.watching[resource] += 1
        try:
            while (left := end - time.monotonic()) > 0:
                news = self._news
                if not self.muted:
                    if seen < self._compacted:
                        await self._send(response, TOO_OLD)
                        break
                    changes, seen = [change for change in self._history if change.version > seen], self.version
                    for change in changes:
                        await self._send(response, line_of(change, resource, request.query))
                    for other, line in self._extra[extra:]:
                        await self._send(response, line if other == resource else b"")
                    extra = len(self._extra)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(news.wait(), left)
        finally:
            self.watching[resource] -= 1
        return response

    async def _send(self, response: web.StreamResponse, line: bytes) -> None:
        size = self.chunk or len(line) or 1
        for start in range(0, len(line), size):
            await response.write(line[start : start + size])
            if self.chunk:
                await asyncio.sleep(0)


def selected(item: Json | None, query: Mapping[str, str]) -> bool:
    """Whether it is asked for: the field selector is that of live pods, a label selector has one label."""
    if item is None:
        return False
    if wanted := query.get("labelSelector"):
        key, _, value = wanted.partition("=")
        return bool(((item.get("metadata") or {}).get("labels") or {}).get(key) == value)
    return "fieldSelector" not in query or (item.get("status") or {}).get("phase") not in FINISHED


def line_of(change: Change, resource: str, query: Mapping[str, str]) -> bytes:
    """The event as this watch sees it; nothing if it does not."""
    if change.resource != resource:
        return b""
    before, after = selected(change.before, query), selected(change.after, query)
    if not before and not after:
        return b""
    kind = "MODIFIED" if before and after else "ADDED" if after else "DELETED"
    return json.dumps({"type": kind, "object": change.after or change.before}).encode() + b"\n"
