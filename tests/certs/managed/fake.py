"""A small API server over TLS on loopback: objects by path, versions, generations, conflicts, and faults on demand."""

import asyncio
import copy
import json
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import jsonpatch
from aiohttp import web

from certs.authority import create_authority
from certs.names import LOOPBACK
from tests.certs.samples import DAY

Object = dict[str, Any]
Fault = Callable[[str, str], "Awaitable[int | None]"]
"""Of method and path: a status code to answer in place of the truth, or none."""

SECRET = "/api/v1/namespaces/ns/secrets/pair"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/ns/leases/pair"
MUTATING = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/m"
VALIDATING = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/v"

TOKEN = "let-me-in"


async def no_fault(_method: str, _path: str) -> int | None:
    return None


@dataclass
class Seen:
    """A request and its answer."""

    method: str
    path: str
    status: int
    body: Any = field(repr=False)


class FakeCluster:
    """``async with FakeCluster(folder) as cluster``; ``objects`` may be looked at and changed at any time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.objects: dict[str, Object] = {}
        self.seen: list[Seen] = []
        self.fault: Fault = no_fault
        self.moment: datetime | None = None
        """What the server says the time is; the truth if it is none."""
        self.url = ""
        self._version = 100
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        now = datetime.now(UTC)
        authority = create_authority(now, DAY)
        leaf = authority.issue(LOOPBACK, now, lifetime=DAY)
        for name, content in (
            ("api-ca.crt", authority.certificate_pem),
            ("api.crt", leaf.certificate_pem),
            ("api.key", leaf.key_pem),
        ):
            (self.folder / name).write_bytes(content)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "api.crt", self.folder / "api.key")
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._dispatch)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=context)
        await site.start()
        self.url = f"https://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    def kubeconfig(self) -> Path:
        """A file that leads here."""
        file = self.folder / "kubeconfig"
        cluster = {"server": self.url, "certificate-authority": str(self.folder / "api-ca.crt")}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "fake", "cluster": cluster}],
            "users": [{"name": "me", "user": {"token": TOKEN}}],
            "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": "me"}}],
            "current-context": "fake",
        }
        file.write_text(json.dumps(config))
        return file

    def put(self, path: str, thing: Object) -> Object:
        """Store an object as if somebody else had just written it."""
        self._version += 1
        old = self.objects.get(path)
        metadata = {**thing.get("metadata", {}), "resourceVersion": str(self._version)}
        metadata["uid"] = old["metadata"]["uid"] if old else f"uid-{self._version}"
        if "webhooks" in thing:
            generation = old["metadata"]["generation"] if old else 0
            metadata["generation"] = generation + (old is None or old["webhooks"] != thing["webhooks"])
        self.objects[path] = {**copy.deepcopy(thing), "metadata": metadata}
        return self.objects[path]

    def writes(self, path: str = "") -> list[Seen]:
        """The changes that succeeded, of one object or of all."""
        done = [one for one in self.seen if one.method != "GET" and one.status < 300]
        return [one for one in done if one.path.startswith(path)]

    async def _dispatch(self, request: web.Request) -> web.Response:
        return await self.handle(request)

    async def handle(self, request: web.Request) -> web.Response:
        body = await request.json() if request.can_read_body else None
        status = await self.fault(request.method, request.path)
        answer: Object = {"kind": "Status", "message": "made to fail"}
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            status, answer = 401, {"kind": "Status", "message": "Unauthorized"}
        if status is None:
            status, answer = self._change(request.method, request.path, body)
        self.seen.append(Seen(request.method, request.path, status, body))
        headers = {"Date": format_datetime(self.moment, usegmt=True)} if self.moment else {}
        return web.json_response(answer, status=status, headers=headers)

    def _change(self, method: str, path: str, body: Any) -> tuple[int, Object]:
        if method == "POST":
            return self._create(f"{path}/{body['metadata']['name']}", body)
        old = self.objects.get(path)
        if old is None:
            return 404, {"message": f"{path} not found"}
        return (200, old) if method == "GET" else self._update(path, old, method, body)

    def _create(self, path: str, thing: Object) -> tuple[int, Object]:
        if path in self.objects:
            return 409, {"message": f"{path} already exists"}
        return 201, self.put(path, thing)

    def _update(self, path: str, old: Object, method: str, body: Any) -> tuple[int, Object]:
        try:
            new = jsonpatch.apply_patch(old, body) if method == "PATCH" else body
        except jsonpatch.JsonPatchException as error:
            return 422, {"message": str(error)}
        if new["metadata"].get("resourceVersion") != old["metadata"]["resourceVersion"]:
            return 409, {"message": "the object has been modified"}
        return 200, self.put(path, new)


def webhooks(*names: str, bundle: str | None = None) -> Object:
    """A configuration whose webhooks call our service."""
    client: Object = {"service": {"namespace": "ns", "name": "web", "path": "/mutate"}}
    if bundle is not None:
        client["caBundle"] = bundle
    return {"webhooks": [{"name": name, "clientConfig": dict(client), "failurePolicy": "Fail"} for name in names]}


async def until(ask: Callable[[], object], seconds: float = 15.0) -> None:
    """Wait for a fact."""
    async with asyncio.timeout(seconds):
        while not ask():  # noqa: ASYNC110 - the fact is another program's, which sets no event of ours
            await asyncio.sleep(0.01)
