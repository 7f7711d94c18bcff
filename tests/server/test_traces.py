"""Spans of reviews and reconciles, as a collector gets them."""

import asyncio
import gzip
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from kubeapi.client.errors import ApiError, Cause
from tests.server.pki import Authority
from tests.server.running_server import PATIENT, Running, allow, post, running
from webhook import tracing
from webhook.admission.answer import Answer, Outcome
from webhook.app import controller
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.controller.workqueue.queue import Queue
from webhook.controller.workqueue.workers import run_workers
from webhook.server.lifecycle import Service
from webhook.settings import Settings
from webhook.tracing import Traces, provider_of, traces_of

pytestmark = pytest.mark.integration

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"


async def _asked(body: bytes) -> Answer:
    await asyncio.sleep(0)
    return Answer(
        status=200,
        body=b"{}",
        outcome=Outcome.DENIED,
        reason="Forbidden",
        kind="Pod",
        operation="CREATE",
        namespace="team-a" * 100,
        uid=f"u-{len(body)}",
        message="names what a tenant wrote",
    )


@pytest.fixture
def memory() -> InMemorySpanExporter:
    """What a collector would get."""
    return InMemorySpanExporter()


@pytest.fixture
def traces(memory: InMemorySpanExporter) -> Traces:
    """Traces of everything."""
    return Traces(provider_of(SimpleSpanProcessor(memory), 1.0, "webhook"))


@pytest.fixture
async def traced(settings: Settings, authority: Authority, traces: Traces) -> AsyncIterator[Running]:
    """A server whose reviews are traced."""
    service = Service({"/mutate": allow, "/validate": _asked}, lambda: None, traces=traces)
    async with running(settings, authority, service, bounds=PATIENT) as server:
        yield server


def spans(memory: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    """The finished spans by name."""
    return {span.name: span for span in memory.get_finished_spans()}


def attributes(span: ReadableSpan) -> dict[str, Any]:
    """The attributes of a span."""
    return dict(span.attributes or {})


async def test_a_review_is_a_span_with_its_parts(traced: Running, memory: InMemorySpanExporter) -> None:
    assert (await traced.ask(post(b"{}", "/mutate?timeout=10s"))).status == 200
    done = spans(memory)
    assert list(done) == ["judge", "POST /mutate"]
    review, judge = done["POST /mutate"], done["judge"]
    assert review.parent is None
    assert judge.parent == review.context
    assert attributes(review) == {
        "http.response.status_code": 200,
        "review.kind": "Pod",
        "review.uid": "u-1",
        "review.outcome": "allowed",
    }
    assert review.start_time is not None
    assert judge.start_time is not None
    assert review.start_time <= judge.start_time


async def test_a_review_continues_the_trace_of_its_caller(traced: Running, memory: InMemorySpanExporter) -> None:
    await traced.ask(post(b"{}", "/mutate", traceparent=f"00-{TRACE}-{PARENT}-01"))
    review = spans(memory)["POST /mutate"]
    assert review.context is not None
    assert review.parent is not None
    assert f"{review.context.trace_id:032x}" == TRACE
    assert f"{review.parent.span_id:016x}" == PARENT


async def test_a_review_of_a_request_that_is_not_traced_is_not(traced: Running, memory: InMemorySpanExporter) -> None:
    assert (await traced.ask(post(b"{}", "/mutate", traceparent=f"00-{TRACE}-{PARENT}-00"))).status == 200
    assert memory.get_finished_spans() == ()


async def test_a_header_that_is_not_a_trace_begins_one(traced: Running, memory: InMemorySpanExporter) -> None:
    await traced.ask(post(b"{}", "/mutate", traceparent="00-zz-1-01"))
    assert spans(memory)["POST /mutate"].parent is None


async def test_what_the_api_server_is_asked_is_a_span_and_no_message_leaves(
    traced: Running, memory: InMemorySpanExporter
) -> None:
    await traced.ask(post(b"{}", "/validate"))
    done = spans(memory)
    assert list(done) == ["judge", "ask", "POST /validate"]
    facts = attributes(done["POST /validate"])
    assert facts["review.outcome"] == "denied"
    assert facts["review.reason"] == "Forbidden"
    assert len(facts["review.namespace"]) == 256
    assert "tenant" not in str([attributes(span) for span in done.values()])


async def test_a_wrong_request_is_a_span_with_an_error(traced: Running, memory: InMemorySpanExporter) -> None:
    await traced.ask(post(b"{}", "/other"))
    request = spans(memory)["request"]
    assert attributes(request) == {"http.response.status_code": 404}
    assert request.status.status_code.name == "ERROR"


async def test_a_body_that_comes_later_has_a_span_for_reading(traced: Running, memory: InMemorySpanExporter) -> None:
    data = post(b"{}", "/mutate")
    async with traced.wire() as wire:
        wire.send(data[:-1])
        await asyncio.sleep(0.05)
        wire.send(data[-1:])
        assert (await wire.reply()).status == 200
    done = spans(memory)
    assert list(done) == ["read", "judge", "POST /mutate"]
    read = done["read"]
    assert read.end_time is not None
    assert read.start_time is not None
    assert read.end_time - read.start_time > 20_000_000


async def test_a_reconcile_is_a_span_with_its_key(traces: Traces, memory: InMemorySpanExporter) -> None:
    async def work(key: object) -> float | None:
        del key
        finished.set()
        return None

    for key in (("team-a", "pool"), "node-1"):
        finished = asyncio.Event()
        queue: Queue[object] = Queue()
        queue.add(key)
        running_workers = asyncio.create_task(run_workers(queue, work, name="host pool", workers=1, traces=traces))
        await asyncio.wait_for(finished.wait(), 5)
        running_workers.cancel()
        await asyncio.wait({running_workers})
    done = memory.get_finished_spans()
    assert [span.name for span in done] == ["reconcile host pool"] * 2
    assert [attributes(span)["reconcile.key"] for span in done] == ["team-a/pool", "node-1"]


async def test_a_reconcile_that_fails_has_the_type_of_its_error_and_no_message(
    traces: Traces, memory: InMemorySpanExporter
) -> None:
    async def work(key: str) -> float | None:
        with traces.span("write"):
            raise ApiError(Cause.FORBIDDEN, f"a webhook denied the request: {key} says what a tenant wrote")

    with pytest.raises(ApiError):
        await traces.reconciled("job", work)("j")
    done = memory.get_finished_spans()
    assert [span.name for span in done] == ["write", "reconcile job"]
    for span in done:
        assert (attributes(span)["error.type"], span.status.status_code.name) == ("ApiError", "ERROR")
        assert "tenant" not in span.to_json()


# Over the network


class _Collector(BaseHTTPRequestHandler):
    """Keeps what is posted to it; waits first if it is told to."""

    def do_POST(self) -> None:
        """Take one request of an exporter."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.hold.wait(20)  # type: ignore[attr-defined]
        self.server.bodies.append((self.path, body))  # type: ignore[attr-defined]
        self.server.headers.append(self.headers)  # type: ignore[attr-defined]
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the name that the base class has
        """Print nothing."""


@pytest.fixture
def collector() -> Iterator[ThreadingHTTPServer]:
    """A collector on loopback, with ``bodies``, ``headers`` and ``hold``."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Collector)
    server.daemon_threads = True
    server.bodies, server.headers = [], []  # type: ignore[attr-defined]
    server.hold = threading.Event()  # type: ignore[attr-defined]
    server.hold.set()  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.hold.set()  # type: ignore[attr-defined]
    server.shutdown()
    server.server_close()


def _endpoint(collector: ThreadingHTTPServer) -> str:
    return f"http://127.0.0.1:{collector.server_port}/v1/traces"


async def test_the_last_spans_reach_the_collector_before_the_process_ends(
    settings: Settings, authority: Authority, collector: ThreadingHTTPServer
) -> None:
    traces = traces_of(_endpoint(collector), 1.0, "streams-placement-webhook")
    async with running(settings, authority, Service({"/mutate": allow}, lambda: None, traces=traces)) as server:
        await server.ask(post(b"{}", "/mutate"))
    ((path, body),) = collector.bodies  # type: ignore[attr-defined]
    (resource,) = ExportTraceServiceRequest.FromString(body).resource_spans
    assert path == "/v1/traces"
    facts = {entry.key: entry.value.string_value for entry in resource.resource.attributes}
    assert facts["service.name"] == "streams-placement-webhook"
    assert facts["service.namespace"] == "streams-placement"
    assert [span.name for scope in resource.scope_spans for span in scope.spans] == ["judge", "POST /mutate"]


def _variables(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    """Set variables of the exporter, as the chart does; those that would win over its authority are removed."""
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in values.items():
        monkeypatch.setenv(f"OTEL_EXPORTER_OTLP_{name}", value)


@pytest.fixture
def secured(collector: ThreadingHTTPServer, authority: Authority, tmp_path: Path) -> str:
    """The URL of the collector, which now has a certificate."""
    cert, key = authority.issue("collector").write(tmp_path, "collector")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(cert, key)
    collector.socket = context.wrap_socket(collector.socket, server_side=True)
    return _endpoint(collector).replace("http:", "https:")


async def test_a_collector_gets_headers_and_is_checked_against_its_authority(
    secured: str,
    collector: ThreadingHTTPServer,
    authority: Authority,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "ca.crt").write_bytes(authority.cert)
    _variables(
        monkeypatch,
        HEADERS="authorization=Bearer%20a,b=c",
        CERTIFICATE=str(tmp_path / "ca.crt"),
        COMPRESSION="gzip",
    )
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "k8s.cluster.name=east")
    traces = traces_of(secured, 1.0, "streams-placement-webhook")
    assert traces is not None
    with traces.span("anything"):
        pass
    await traces.close()
    ((_, body),) = collector.bodies  # type: ignore[attr-defined]
    (headers,) = collector.headers  # type: ignore[attr-defined]
    assert (headers["Authorization"], headers["B"]) == ("Bearer a", "c")
    (resource,) = ExportTraceServiceRequest.FromString(gzip.decompress(body)).resource_spans
    facts = {entry.key: entry.value.string_value for entry in resource.resource.attributes}
    assert (facts["k8s.cluster.name"], facts["service.name"]) == ("east", "streams-placement-webhook")


async def test_without_its_authority_a_collector_gets_nothing_and_the_process_goes_on(
    secured: str, collector: ThreadingHTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _variables(monkeypatch, CERTIFICATE=str(tmp_path / "not yet" / "ca.crt"), HEADERS="authorization=Bearer%20a")
    monkeypatch.setattr(tracing, "_EXPORT", 0.3)
    traces = traces_of(secured, 1.0, "streams-placement-webhook")
    assert traces is not None
    with traces.span("anything"):
        pass
    await traces.close()
    assert collector.bodies == []  # type: ignore[attr-defined]


async def test_a_collector_that_hangs_delays_the_end_by_little(
    collector: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracing, "_CLOSE", 0.3)
    collector.hold.clear()  # type: ignore[attr-defined]
    traces = traces_of(_endpoint(collector), 1.0, "streams-placement-webhook")
    assert traces is not None
    with traces.span("anything"):
        pass
    before = time.monotonic()
    await traces.close()
    assert 0.2 < time.monotonic() - before < 2


def test_of_a_ratio_of_zero_nothing_is_sent(memory: InMemorySpanExporter) -> None:
    traces = Traces(provider_of(SimpleSpanProcessor(memory), 0.0, "webhook"))
    with traces.span("anything"):
        pass
    assert memory.get_finished_spans() == ()


@pytest.mark.untraced
def test_without_a_collector_nothing_of_it_is_loaded() -> None:
    text = (
        "import sys; import webhook.app.serve, webhook.app.controller; from webhook.tracing import traces_of; "
        "assert traces_of('', 1.0, 'webhook') is None; "
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True, timeout=60)  # noqa: S603
    assert done.stdout == "[]\n"


async def test_a_controller_that_ends_sends_its_last_spans(
    collector: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Candidate:
        reason = run = None

        def __init__(self, _: object, rules: ReconcilerSettings, *_others: object, **_options: object) -> None:
            self.rules = rules
            candidates.append(self)

    async def work(*_: object, **__: object) -> None:
        traces = candidates[0].rules.traces
        assert traces is not None
        with traces.span("reconcile host pool"):
            await asyncio.sleep(0)

    candidates: list[Candidate] = []
    monkeypatch.setattr(controller.gc, "freeze", lambda: None)
    monkeypatch.setattr(controller, "configuration_of", lambda _: None)
    monkeypatch.setattr(controller, "Controller", Candidate)
    monkeypatch.setattr(controller, "ControllerFigures", lambda *_, **__: None)
    monkeypatch.setattr(controller, "run_background", work)
    await controller.control(Settings(traces_endpoint=_endpoint(collector), traces_ratio=1), lambda _: None)
    ((_, body),) = collector.bodies  # type: ignore[attr-defined]
    (resource,) = ExportTraceServiceRequest.FromString(body).resource_spans
    assert [span.name for scope in resource.scope_spans for span in scope.spans] == ["reconcile host pool"]
    facts = {entry.key: entry.value.string_value for entry in resource.resource.attributes}
    assert facts["service.name"] == "streams-placement-controller"
