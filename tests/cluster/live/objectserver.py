"""A server that keeps single objects as an API server does: versions, conflicts, preconditions; and faults on demand.

The lists and watches of a cluster are another server's (``apiserver``).
"""

import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, NamedTuple

import jsonpatch
from aiohttp import web

from kubeapi.client.access import Access
from kubeapi.client.configuration import Configuration
from tests.cluster.live.loopback import answering

Json = dict[str, Any]
Fault = Callable[["Seen"], Awaitable[web.StreamResponse | None]]
"""May wait, answer in place of the server, or lose the answer; ``None`` lets the truth through."""


class Seen(NamedTuple):
    """A request that came in; ``body`` is text."""

    method: str
    path: str
    headers: dict[str, str]
    body: str

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class RefusedError(Exception):
    """What a Status says."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def refused(code: int, reason: str) -> web.Response:
    body = {"kind": "Status", "status": "Failure", "message": f"because {reason}", "reason": reason, "code": code}
    return web.json_response(body, status=code)


async def nothing(_seen: Seen) -> None:
    """No fault."""


class ObjectServer:
    """``objects`` by path, which may be looked at and changed at any time; ``seen`` are the requests that came.

    ``before`` is called for every request before it is obeyed, ``after`` before it is answered.
    """

    def __init__(self) -> None:
        self.objects: dict[str, Json] = {}
        self.seen: list[Seen] = []
        self.before: Fault = nothing
        self.after: Fault = nothing
        self.url = ""
        self._version = 100

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["ObjectServer"]:
        async with answering(self._answer) as self.url:
            yield self

    def configuration(self) -> Configuration:
        """The way here."""
        return Configuration(Given(Access(server=self.url)))

    def put(self, path: str, thing: Json) -> Json:
        """Store an object as if somebody had just written it."""
        self._version += 1
        old = self.objects.get(path)
        uid = old["metadata"]["uid"] if old else f"uid-{self._version}"
        metadata = {**thing.get("metadata", {}), "resourceVersion": str(self._version), "uid": uid}
        self.objects[path] = {**thing, "metadata": metadata}
        return self.objects[path]

    def obey(self, method: str, path: str, body: Any) -> tuple[int, Json]:
        """Do it; raises RefusedError."""
        if method == "POST":
            path = f"{path}/{body['metadata']['name']}"
            if path in self.objects:
                raise RefusedError(409, "AlreadyExists")
            return 201, self.put(path, body)
        if path not in self.objects:
            raise RefusedError(404, "NotFound")
        old = self.objects[path]
        match method:
            case "GET":
                return 200, old
            case "PUT":
                self._check(old, body["metadata"])
                return 200, self.put(path, body)
            case "PATCH" if isinstance(body, list):
                new = jsonpatch.apply_patch(old, body)
                self._check(old, new["metadata"])
                return 200, self.put(path, new)
            case "PATCH":
                self._check(old, body.get("metadata", {}))
                return 200, self.put(path, merged(old, body))
            case _:
                self._check(old, body.get("preconditions", {}))
                return 200, self.objects.pop(path)

    def _check(self, old: Json, wanted: Json) -> None:
        for field in ("uid", "resourceVersion"):
            if wanted.get(field) not in {None, old["metadata"][field]}:
                raise RefusedError(409, "Conflict")

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        seen = Seen(request.method, request.path, dict(request.headers), (await request.read()).decode())
        self.seen.append(seen)
        if instead := await self.before(seen):
            return instead
        try:
            code, body = self.obey(seen.method, seen.path, seen.json if seen.body else None)
        except RefusedError as error:
            return refused(error.code, error.reason)
        return await self.after(seen) or web.json_response(body, status=code)


class Given:
    """Credentials that never change."""

    reread = 60.0

    def __init__(self, access: Access) -> None:
        self._access = access

    def read(self) -> Access:
        return self._access

    def header(self) -> str | None:
        return self._access.header


def merged(old: Any, change: Any) -> Any:
    """RFC 7396."""
    if not isinstance(change, dict):
        return change
    kept = dict(old) if isinstance(old, dict) else {}
    for name, value in change.items():
        if value is None:
            kept.pop(name, None)
        else:
            kept[name] = merged(kept.get(name), value)
    return kept
