"""OpenTelemetry traces of reviews and reconciles, sent by OTLP over HTTP (``docs/operations.md``, Traces).

A review continues the trace of the API server, whose ``traceparent`` header its request has (W3C Trace Context). The
SDK is imported by :func:`traces_of` alone, so that a process without a collector does not load it.
"""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Generator, Hashable, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Final, TypeVar

from webhook.admission.answer import Answer

if TYPE_CHECKING:  # the SDK takes a tenth of a second to import
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span

K = TypeVar("K", bound=Hashable)

_Reconcile = Callable[[K], Awaitable[float | None]]

SERVICE: Final = "streams-placement"
"""``service.namespace`` of all processes of the product."""

_BATCH: Final = 512
_QUEUE: Final = 2048
"""Spans of one request to the collector, and spans that wait for one; more are dropped."""

_DELAY: Final = 2.0
"""Seconds that a span waits for others."""

_EXPORT: Final = 2.0
"""Seconds that a request to the collector may take, with its retries."""

_CLOSE: Final = 3.0
"""Seconds that a process that ends waits for its last spans to be sent."""

_TEXT: Final = 256
"""Characters of a text of the caller in an attribute."""

_CLIENT_ERROR: Final = 400


class Traces:
    """The spans of one process; ``provider`` makes them and sends them."""

    def __init__(self, provider: "TracerProvider") -> None:
        from opentelemetry import trace  # noqa: PLC0415 -- only a process that sends traces loads it
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415

        self._api = trace
        self._provider = provider
        self._tracer = provider.get_tracer("webhook")
        self._extract = TraceContextTextMapPropagator().extract

    @contextmanager
    def request(self, name: str, headers: Mapping[str, str], arrived: float) -> Generator[Callable[[int], None]]:
        """The span of a request whose first byte arrived at the ``perf_counter`` time ``arrived``.

        Gives a function that takes the HTTP status of the answer.
        """
        start = time.time_ns() - round((time.perf_counter() - arrived) * 1e9)
        with self._open(name, headers=headers, start=start) as span:

            def answered(status: int) -> None:
                span.set_attribute("http.response.status_code", status)
                if status >= _CLIENT_ERROR:
                    span.set_status(self._api.StatusCode.ERROR)

            yield answered

    def span(self, name: str) -> AbstractContextManager[object]:
        """A span within the current one."""
        return self._open(name)

    @contextmanager
    def _open(
        self, name: str, *, headers: Mapping[str, str] | None = None, start: int | None = None
    ) -> Generator["Span"]:
        """A span as the current one, of a request if it has ``headers``.

        Of an error it has the type alone: the message may quote an object, as a refusal does.
        """
        kind = self._api.SpanKind.INTERNAL if headers is None else self._api.SpanKind.SERVER
        with self._tracer.start_as_current_span(
            name,
            context=None if headers is None else self._extract(headers),
            kind=kind,
            start_time=start,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield span
            except Exception as error:
                span.set_attribute("error.type", type(error).__qualname__)
                span.set_status(self._api.StatusCode.ERROR)
                raise

    def reviewed(self, answer: Answer) -> None:
        """State in the current span what was reviewed, and the outcome; no message, which quotes the object."""
        facts = {
            "uid": answer.uid,
            "kind": answer.kind,
            "operation": answer.operation,
            "namespace": answer.namespace,
            "outcome": answer.outcome,
            "reason": answer.reason,
        }
        self._api.get_current_span().set_attributes(
            {f"review.{name}": value[:_TEXT] for name, value in facts.items() if value}
        )

    def reconciled(
        self, name: str, work: Callable[[K], Awaitable[float | None]]
    ) -> Callable[[K], Awaitable[float | None]]:
        """The reconcile function with a span for each call, which has the key as an attribute."""

        async def traced(key: K) -> float | None:
            with self._open(f"reconcile {name}") as span:
                span.set_attribute("reconcile.key", "/".join(key) if isinstance(key, tuple) else str(key))
                return await work(key)

        return traced

    async def close(self) -> None:
        """Send what is left, for at most :data:`_CLOSE` seconds: a collector that hangs does not delay a stop."""
        last = threading.Thread(target=self._provider.shutdown, name="last spans", daemon=True)
        last.start()
        await asyncio.to_thread(last.join, _CLOSE)


def traces_of(endpoint: str, ratio: float, process: str) -> Traces | None:
    """Traces to the collector at that URL, such as ``http://collector:4318/v1/traces``; ``None`` without a URL.

    ``ratio`` is the part of the traces that begin here which are sent; a review whose caller has decided follows the
    caller. ``process`` is the ``service.name``.
    """
    if not endpoint:
        return None
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    exporter: SpanExporter = OTLPSpanExporter(endpoint, timeout=_EXPORT)
    processor = BatchSpanProcessor(
        exporter, max_queue_size=_QUEUE, max_export_batch_size=_BATCH, schedule_delay_millis=_DELAY * 1000
    )
    return Traces(provider_of(processor, ratio, process))


def provider_of(processor: "SpanProcessor", ratio: float, process: str) -> "TracerProvider":
    """What makes spans and gives them to the processor."""
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased  # noqa: PLC0415

    provider = TracerProvider(
        sampler=ParentBased(TraceIdRatioBased(ratio)),
        resource=Resource.create({"service.name": process, "service.namespace": SERVICE}),
        shutdown_on_exit=False,
    )
    provider.add_span_processor(processor)
    return provider
