"""The cluster of ``manage``: an API server over TLS that wants a token, says what time it is, and fails on demand."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any

from aiohttp import web

from certs.authority import create_authority
from certs.names import LOOPBACK
from tests.apiserver.kubeconfig import Kubeconfig
from tests.apiserver.server import ApiServer, Seen, status
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


class FakeCluster(ApiServer):
    """``async with FakeCluster(folder).running() as cluster``; certificates and kubeconfig are files of the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        now = datetime.now(UTC)
        self._authority = create_authority(now, DAY)
        leaf = self._authority.issue(LOOPBACK, now, lifetime=DAY)
        for name, content in (("api.crt", leaf.certificate_pem), ("api.key", leaf.key_pem)):
            (folder / name).write_bytes(content)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "api.crt", folder / "api.key")
        super().__init__(context)
        self.tokens = {f"Bearer {TOKEN}"}
        self.before = self._failing
        self.fault: Fault = no_fault
        self.moment: datetime | None = None
        """What the server says the time is; the truth if it is none."""

    def kubeconfig(self, server: str = "") -> Path:
        """A file that leads here, or to another server."""
        authority = self._authority.certificate_pem
        way = {"server": server or self.url, "context": "fake", "token": TOKEN}
        return Kubeconfig(self.folder / "kubeconfig", authority=authority, **way).path

    def writes(self, path: str = "") -> list[Seen]:
        """The changes that succeeded, of one object or of all."""
        done = [one for one in self.seen if one.method != "GET" and 200 <= one.status < 300]
        return [one for one in done if one.path.startswith(path)]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        response = await super().handle(request)
        if self.moment:
            response.headers["Date"] = format_datetime(self.moment, usegmt=True)
        return response

    async def _failing(self, seen: Seen) -> web.StreamResponse | None:
        code = await self.fault(seen.method, seen.path)
        return None if code is None else status(code, "made to fail")


def webhooks(*names: str, bundle: str | None = None) -> Object:
    """A configuration whose webhooks call our service."""
    client: Object = {"service": {"namespace": "ns", "name": "web", "path": "/mutate"}}
    if bundle is not None:
        client["caBundle"] = bundle
    return {"webhooks": [{"name": name, "clientConfig": dict(client), "failurePolicy": "Fail"} for name in names]}


async def until(ask: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait for a fact."""
    async with asyncio.timeout(seconds):
        while not ask():  # noqa: ASYNC110 - the fact is another program's, which sets no event of ours
            await asyncio.sleep(0.01)
