"""A real server of PlacementReviews in this process, an API server that knows rights, and the front proxy as client."""

import asyncio
import contextlib
import json
import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import aiohttp
from aiohttp import web
from msgspec import Raw

from kubeapi.client.connection import Connection
from tests.apiserver.server import ApiServer, Seen
from tests.server.pki import Authority
from webhook.aggregated.front_proxy import PATH as CONFIG_MAP
from webhook.aggregated.review_creation import LIMITS, ReviewOutcome, ReviewQuestion, ReviewSource
from webhook.aggregated.review_server import ReviewAddress, ReviewServer
from webhook.cluster.judging.changes import ChangeLog
from webhook.placement.inventory.inventory import Inventory
from webhook.placementreview.review import API_VERSION, GROUP, KIND, RESOURCE
from webhook.server.certificate import Files
from webhook.server.http.limits import Limits
from webhook.server.metrics import Metrics

ROOT: Final = f"/apis/{GROUP}/v1"
PROXY: Final = "front-proxy-client"
HEADERS: Final = {
    "requestheader-allowed-names": json.dumps([PROXY]),
    "requestheader-username-headers": '["X-Remote-User"]',
    "requestheader-uid-headers": '["X-Remote-Uid"]',
    "requestheader-group-headers": '["X-Remote-Group"]',
    "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
}


def reviews_of(namespace: str) -> str:
    """Where reviews of a namespace are created."""
    return f"{ROOT}/namespaces/{namespace}/{RESOURCE}"


def review(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": API_VERSION, "kind": KIND, "spec": spec}


def told(question: ReviewQuestion) -> ReviewOutcome:
    """The answer of tests: what the question was."""
    said = {"namespace": question.namespace, "spec": json.loads(question.spec), "user": question.user.username}
    return ReviewOutcome(Raw(json.dumps(said).encode()))


class ReviewBench:
    """The server, and all that it needs. ``may`` says which rights users have, as ``user verb resource namespace``."""

    def __init__(self, folder: Path, api: ApiServer) -> None:
        self.folder = folder
        self.api = api
        self.may: set[str] = set()
        self.asked: list[dict[str, Any]] = []
        self.answering: Callable[[ReviewQuestion], ReviewOutcome] = told
        self.ready: str | None = None
        self.inventory, self.changes = Inventory(), ChangeLog()
        self.metrics = Metrics()
        self.servers, self.proxies = Authority(), Authority()
        self.pair = self.servers.issue().write(folder)
        self.server: ReviewServer
        self._number = 0
        api.before = self._rights

    def publish(self, *authorities: Authority, **data: str) -> None:
        """Write the ConfigMap of the front proxy."""
        ca = "".join(one.cert.decode() for one in authorities)
        metadata = {"name": "extension-apiserver-authentication", "namespace": "kube-system"}
        values = {**HEADERS, "requestheader-client-ca-file": ca, **data}
        self.api.put(CONFIG_MAP, {"metadata": metadata, "data": values})

    def client(self, authority: Authority | None = None, name: str = PROXY) -> ssl.SSLContext:
        """A client's context, with a certificate of this authority."""
        context = self.servers.client()
        context.check_hostname = False
        if authority is not None:
            self._number += 1
            context.load_cert_chain(*authority.issue(name).write(self.folder, f"client-{self._number}"))
        return context

    @contextlib.asynccontextmanager
    async def session(self, tls: ssl.SSLContext | None = None) -> AsyncIterator[aiohttp.ClientSession]:
        """Connections of the front proxy, or with another context."""
        connector = aiohttp.TCPConnector(ssl=tls or self.client(self.proxies))
        async with aiohttp.ClientSession(self.server.url, connector=connector) as session:
            yield session

    async def ask(
        self, method: str, path: str, *, user: str = "jane", groups: Sequence[str] = (),
        tls: ssl.SSLContext | None = None, headers: dict[str, str] | None = None, **more: Any,
    ) -> tuple[int, Any]:  # fmt: skip
        """Status and JSON of the answer to the front proxy, which speaks for that user."""
        said = [("X-Remote-User", user), *(("X-Remote-Group", group) for group in groups), *(headers or {}).items()]
        async with self.session(tls) as session, session.request(method, path, headers=said, **more) as reply:
            text = await reply.read()
            return reply.status, json.loads(text) if text else None

    async def create(self, body: Any = None, namespace: str = "team-a", **more: Any) -> tuple[int, Any]:
        """The answer to a review."""
        return await self.ask("POST", reviews_of(namespace), json=review() if body is None else body, **more)

    def answer(self, question: ReviewQuestion) -> ReviewOutcome:
        """What the server answers by now, in its process."""
        return self.answering(question)

    def figure(self, name: str, **labels: str) -> float | None:
        return self.metrics.registry.get_sample_value(f"streams_placement_{name}", labels)

    async def _rights(self, seen: Seen) -> web.StreamResponse | None:
        if not seen.path.endswith("subjectaccessreviews"):
            return None
        spec = seen.json["spec"]
        self.asked.append(spec)
        of = spec["resourceAttributes"]
        right = f"{spec['user']} {of['verb']} {of['resource']} {of.get('namespace', '')}".strip()
        return web.json_response({"status": {"allowed": right in self.may}}, status=201)


@contextlib.asynccontextmanager
async def bench_running(folder: Path, limits: Limits = LIMITS) -> AsyncIterator[ReviewBench]:
    """The server and its front proxy, known already; jane may create reviews in team-a."""
    async with ApiServer().running() as api, Connection(api.configuration()) as connection:
        bench = ReviewBench(folder, api)
        bench.may.add("jane create placementreviews team-a")
        bench.publish(bench.proxies)
        address = ReviewAddress("127.0.0.1", 0, Files(*bench.pair))
        bench.server = ReviewServer(
            connection,
            address,
            ReviewSource(bench.answer, bench.inventory, bench.changes),
            lambda: bench.ready,
            metrics=bench.metrics,
            limits=limits,
        )
        running = asyncio.create_task(bench.server.run())
        try:
            while not (bench.server.url and bench.server.watch.proxy):
                assert not running.done(), running.exception()
                await asyncio.sleep(0.01)
            yield bench
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


@contextlib.contextmanager
def slow(bench: ReviewBench, seconds: float) -> Iterator[None]:
    """Answers that take so many seconds."""
    before = bench.answering

    def late(question: ReviewQuestion) -> ReviewOutcome:
        time.sleep(seconds)
        return before(question)

    bench.answering = late
    try:
        yield
    finally:
        bench.answering = before


@contextlib.contextmanager
def held(bench: ReviewBench) -> Iterator[Path]:
    """Answers that are not made before the file exists."""
    before, gate = bench.answering, bench.folder / "go"

    def waiting(question: ReviewQuestion) -> ReviewOutcome:
        while not gate.exists():
            time.sleep(0.01)
        return before(question)

    bench.answering = waiting
    try:
        yield gate
    finally:
        bench.answering = before
