"""The API server in memory, over HTTP: lists, watches, nodes, pods and pools of ``Kube``; Leases and Events besides."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

from aiohttp import web

from kubeapi.client.access import Access
from kubeapi.client.configuration import Configuration
from kubeapi.client.errors import ApiError, Cause
from tests.cluster.live.loopback import answering
from tests.cluster.live.objectserver import Given, ObjectServer, RefusedError, refused
from tests.controller.kube import NODES, PODS, POOLS, Change, Kube

JOBS = "/apis/streams.ibm.com/v1/streamsjobs"
WATCHED = (NODES, PODS, POOLS, JOBS)
KEPT = (NODES, PODS, "/api/v1/namespaces", "/apis/streams.ibm.com")

_CODES = {Cause.MISSING: (404, "NotFound"), Cause.CONFLICT: (409, "Conflict"), Cause.INVALID: (422, "Invalid")}


class KubeServer:
    """``others`` are the objects that ``kube`` does not keep. While it is ``mute`` watches end, and lists fail."""

    def __init__(self) -> None:
        self.kube = Kube()
        self.others = ObjectServer()
        self.url = ""
        self.mute = False
        self._news = asyncio.Event()
        self.kube.listeners.append(lambda _: self._wake())

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["KubeServer"]:
        async with answering(self._answer) as self.url:
            yield self

    def configuration(self) -> Configuration:
        return Configuration(Given(Access(server=self.url)))

    def kubeconfig(self, path: Path) -> Path:
        cluster = {"name": "c", "cluster": {"server": self.url}}
        context = {"name": "c", "context": {"cluster": "c", "user": "u"}}
        users = [{"name": "u", "user": {"token": "t"}}]
        whole = {"apiVersion": "v1", "kind": "Config", "current-context": "c", "clusters": [cluster]}
        path.write_text(json.dumps({**whole, "contexts": [context], "users": users}))
        return path

    def go_quiet(self) -> None:
        """From now on it says nothing of what happens."""
        self.mute = True
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if request.method == "GET" and request.path in WATCHED:
            if self.mute:
                return refused(500, "etcd")
            return await self._watch(request) if "watch" in request.query else self._list(request)
        body = json.loads(await request.read() or b"null")
        try:
            if request.path.startswith(
                ("/api/v1/nodes", "/api/v1/pods", "/api/v1/namespaces", "/apis/streams.ibm.com")
            ):
                path = request.raw_path
                found = self.kube.read(path) if request.method == "GET" else self.kube.merge_patch(path, body)
                return web.Response(body=found, content_type="application/json")
            code, answer = self.others.obey(request.method, request.path, body)
        except ApiError as failure:
            return refused(*_CODES[failure.cause])
        except RefusedError as error:
            return refused(error.code, error.reason)
        return web.json_response(answer, status=code)

    def _list(self, request: web.Request) -> web.Response:
        found = json.loads(self.kube.read(request.raw_path)) if request.path != JOBS else {"metadata": {}, "items": []}
        found["metadata"]["resourceVersion"] = str(1 + len(self.kube.changes))
        return web.json_response(found)

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        """Versions of lists count changes; events do not say theirs, so that a watch goes on from its list."""
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        seen = int(request.query["resourceVersion"]) - 1
        while not self.mute:
            news = self._news
            changes, seen = self.kube.changes[seen:], len(self.kube.changes)
            for change in changes:
                if change.collection == request.path:
                    await response.write(_line(change))
            await news.wait()
        return response


def _line(change: Change) -> bytes:
    return json.dumps({"type": change.type, "object": json.loads(change.body)}).encode() + b"\n"
