"""Metrics for Prometheus (``docs/operations.md``): one registry for each ``Metrics``, nothing global.

Counts and durations of reviews are plain numbers that are turned into metrics at a scrape: the objects of
``prometheus_client`` take a lock, and one method call for each bucket.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric

from webhook.admission.responses import Answer
from webhook.placement.text.api_kinds import REVIEWED


class Durations:
    """A histogram of seconds; only the event loop's thread may observe."""

    __slots__ = ("_bounds", "_counts", "_documentation", "_name", "_sum")

    def __init__(self, name: str, documentation: str, bounds: Sequence[float], registry: CollectorRegistry) -> None:
        self._name = name
        self._documentation = documentation
        self._bounds = tuple(bounds)
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0
        registry.register(self)

    def observe(self, seconds: float) -> None:
        """Count a duration; a bucket holds those of at most its bound."""
        self._counts[bisect_left(self._bounds, seconds)] += 1
        self._sum += seconds

    def collect(self) -> Iterator[Metric]:
        """The histogram as it is now."""
        total, buckets = 0, []
        for bound, count in zip((*map(str, self._bounds), "+Inf"), self._counts, strict=True):
            total += count
            buckets.append((bound, total))
        yield HistogramMetricFamily(self._name, self._documentation, buckets=buckets, sum_value=self._sum)


class Counts:
    """A counter by labels; only the event loop's thread may count, and the caller bounds the values of labels."""

    __slots__ = ("_documentation", "_labels", "_name", "_values")

    def __init__(self, name: str, documentation: str, labels: Sequence[str], registry: CollectorRegistry) -> None:
        self._name = name
        self._documentation = documentation
        self._labels = tuple(labels)
        self._values: dict[tuple[str, ...], int] = {}
        registry.register(self)

    def count(self, *labels: str) -> None:
        """Add one for these labels."""
        self._values[labels] = self._values.get(labels, 0) + 1

    def collect(self) -> Iterator[Metric]:
        """The counter as it is now."""
        family = CounterMetricFamily(self._name, self._documentation, labels=self._labels)
        for labels, value in sorted(self._values.items()):
            family.add_metric(labels, value)
        yield family


PREFIX: Final = "streams_placement_"
OTHER: Final = "other"
"""Stands for every value that callers could make up."""

KINDS: Final = frozenset({*(kind.name for kind in REVIEWED), "ProcessingElement"})
"""Kinds that are told apart."""
REASONS: Final = frozenset(
    {"", "BadRequest", "Conflict", "Forbidden", "InternalError", "Invalid", "NotFound", "ServiceUnavailable", "Timeout"}
)
"""Kubernetes' reasons that an answer can carry (apimachinery, ``StatusReason``)."""

REVIEW_BUCKETS: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Seconds: from a review over loopback to the shortest time-out the API server allows, 1 s."""
DECISION_BUCKETS: Final = (1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2)
"""Seconds: around the expected 0.1 ms, up to the 20 ms that the worst of inputs may take."""


class Metrics:
    """The metrics of one server; ``registry`` is open for more."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._reviews = Counts(
            f"{PREFIX}reviews", "Reviews answered.", ("path", "outcome", "reason", "kind"), self.registry
        )
        self._waiting = Counts(
            f"{PREFIX}waiting_pods", "Pods let in that no node could run then.", ("cause",), self.registry
        )
        self._seconds = self._histogram(
            "review_seconds", "From a review's first byte to its answer, in seconds.", REVIEW_BUCKETS
        )
        self._decision = self._histogram(
            "decision_seconds", "The decision alone, without reading and sending, in seconds.", DECISION_BUCKETS
        )
        self._errors = Counter(
            f"{PREFIX}http_errors", "Requests answered with an HTTP error.", ("code",), registry=self.registry
        )
        self._connections = Counter(
            f"{PREFIX}connection_failures",
            "Connections ended by the server: no TLS handshake, too slow, or too many (handshake, timeout, capacity).",
            ("cause",),
            registry=self.registry,
        )
        self.reload_failures = Counter(
            f"{PREFIX}certificate_reload_failures",
            "Changed certificate files that could not be used; the last good pair keeps serving.",
            registry=self.registry,
        )

    def reviewed(self, path: str, answer: Answer, seconds: float) -> None:
        """Count a review, and observe the seconds from its first byte to its answer."""
        self._seconds.observe(seconds)
        reason = answer.reason if answer.reason in REASONS else OTHER
        kind = answer.kind if answer.kind in KINDS else OTHER
        self._reviews.count(path, answer.outcome.value, reason, kind)
        if answer.waits:
            self._waiting.count(answer.waits)

    def decided(self, seconds: float) -> None:
        """Observe the seconds of one decision."""
        self._decision.observe(seconds)

    def http_error(self, code: int) -> None:
        """Count a request answered with an HTTP error."""
        self._errors.labels(str(code)).inc()

    def connection_failed(self, cause: str) -> None:
        """Count a connection that was ended for that cause."""
        self._connections.labels(cause).inc()

    def gauge(self, name: str, documentation: str, value: Callable[[], float]) -> None:
        """Add a gauge ``streams_placement_<name>`` whose value is asked for at every scrape."""
        Gauge(PREFIX + name, documentation, registry=self.registry).set_function(value)

    def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self.registry)

    def _histogram(self, name: str, documentation: str, buckets: tuple[float, ...]) -> Durations:
        return Durations(PREFIX + name, documentation, buckets, self.registry)
