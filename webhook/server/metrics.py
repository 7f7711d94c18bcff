"""Prometheus metrics of a server process: ``Metrics``, and the histogram and counter that it uses for reviews.

What each metric means stands in ``docs/operations.md``. Every :class:`Metrics` has a registry of its own. Durations and
counts of reviews are kept as plain numbers, which are turned into samples at a scrape only: the metric objects of
``prometheus_client`` take a lock at every observation, and reviews are the hot path.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric

from webhook.admission.responses import Answer
from webhook.placement.text.api_kinds import REVIEWED

PREFIX: Final = "streams_placement_"
OTHER: Final = "other"
"""Label value that stands for every kind or reason not in the lists below: clients could make up any number."""

KINDS: Final = frozenset({*(kind.name for kind in REVIEWED), "ProcessingElement"})
"""Kinds that have a label value of their own."""
REASONS: Final = frozenset(
    {"", "BadRequest", "Conflict", "Forbidden", "InternalError", "Invalid", "NotFound", "ServiceUnavailable", "Timeout"}
)
"""Reasons of Kubernetes that an answer can carry (apimachinery, ``StatusReason``)."""

REVIEW_BUCKETS: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Bucket bounds in seconds: from a review over loopback to the shortest time-out that the API server allows, 1 s."""
DECISION_BUCKETS: Final = (1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2)
"""Bucket bounds in seconds: around the expected 0.1 ms, up to the 20 ms that the worst input may take."""


class Durations:
    """A Prometheus histogram of seconds. Only the event loop's thread may call ``observe``, which takes no lock."""

    __slots__ = ("_bounds", "_counts", "_documentation", "_name", "_sum")

    def __init__(self, name: str, documentation: str, bounds: Sequence[float], registry: CollectorRegistry) -> None:
        self._name = name
        self._documentation = documentation
        self._bounds = tuple(bounds)
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0
        registry.register(self)

    def observe(self, seconds: float) -> None:
        """Count one duration; a bucket counts durations of at most its bound."""
        self._counts[bisect_left(self._bounds, seconds)] += 1
        self._sum += seconds

    def collect(self) -> Iterator[Metric]:
        """The histogram at the time of a scrape (``prometheus_client``, custom collectors)."""
        total, buckets = 0, []
        for bound, count in zip((*map(str, self._bounds), "+Inf"), self._counts, strict=True):
            total += count
            buckets.append((bound, total))
        yield HistogramMetricFamily(self._name, self._documentation, buckets=buckets, sum_value=self._sum)


class Counts:
    """A Prometheus counter with labels. Only the event loop's thread may call ``count``, which takes no lock.

    The caller bounds the number of label values.
    """

    __slots__ = ("_documentation", "_labels", "_name", "_values")

    def __init__(self, name: str, documentation: str, labels: Sequence[str], registry: CollectorRegistry) -> None:
        self._name = name
        self._documentation = documentation
        self._labels = tuple(labels)
        self._values: dict[tuple[str, ...], int] = {}
        registry.register(self)

    def count(self, *labels: str) -> None:
        """Add one to the counter of these label values."""
        self._values[labels] = self._values.get(labels, 0) + 1

    def collect(self) -> Iterator[Metric]:
        """The counter at the time of a scrape (``prometheus_client``, custom collectors)."""
        family = CounterMetricFamily(self._name, self._documentation, labels=self._labels)
        for labels, value in sorted(self._values.items()):
            family.add_metric(labels, value)
        yield family


class Metrics:
    """The metrics of one server process; other parts add gauges with :meth:`gauge`, or register in ``registry``."""

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
        self._unknown_workloads = Counter(
            f"{PREFIX}unknown_workloads",
            "Workloads judged without the others of their job, which could not be listed (busy, failed).",
            ("cause",),
            registry=self.registry,
        )
        self.reload_failures = Counter(
            f"{PREFIX}certificate_reload_failures",
            "Changed certificate files that could not be used; the last good pair keeps serving.",
            registry=self.registry,
        )

    def reviewed(self, path: str, answer: Answer, seconds: float) -> None:
        """Count one answered review; ``seconds`` is the time from its first byte to its answer."""
        self._seconds.observe(seconds)
        reason = answer.reason if answer.reason in REASONS else OTHER
        kind = answer.kind if answer.kind in KINDS else OTHER
        self._reviews.count(path, answer.outcome.value, reason, kind)
        if answer.waits:
            self._waiting.count(answer.waits)

    def decided(self, seconds: float) -> None:
        """Count one decision that took so many seconds."""
        self._decision.observe(seconds)

    def http_error(self, code: int) -> None:
        """Count one request that was answered with an HTTP error."""
        self._errors.labels(str(code)).inc()

    def connection_failed(self, cause: str) -> None:
        """Count one connection that the server ended for that cause."""
        self._connections.labels(cause).inc()

    def workloads_unknown(self, cause: str) -> None:
        """Count one workload that was judged without the others of its job, for that cause."""
        self._unknown_workloads.labels(cause).inc()

    def gauge(self, name: str, documentation: str, value: Callable[[], float]) -> None:
        """Add a gauge ``streams_placement_<name>``; ``value`` is called at every scrape."""
        Gauge(PREFIX + name, documentation, registry=self.registry).set_function(value)

    def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self.registry)

    def _histogram(self, name: str, documentation: str, buckets: tuple[float, ...]) -> Durations:
        return Durations(PREFIX + name, documentation, buckets, self.registry)
