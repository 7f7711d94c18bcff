"""Prometheus metrics of a process: ``Metrics`` of any, ``ReviewMetrics`` of the webhook; and what these are made of.

What each metric means stands in ``docs/metrics.md``. Every :class:`Metrics` has a registry of its own. Durations and
counts of reviews are kept as plain numbers, which are turned into samples at a scrape only: the metric objects of
``prometheus_client`` take a lock at every observation, and reviews are the hot path.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from typing import Final

from msgspec import Struct
from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from kubeapi.client.errors import Cause
from webhook.admission.answer import Answer, Outcome
from webhook.placement.text.api_kinds import REVIEWED
from webhook.server.http_protocol import familiar

PREFIX: Final = "streams_placement_"
OTHER: Final = "other"
"""Label value that stands for every kind or reason not in the lists below: clients could make up any number."""

KINDS: Final = frozenset({*(kind.name for kind in REVIEWED), "ProcessingElement"})
"""Kinds that have a label value of their own in every process."""
REASONS: Final = frozenset(
    {"", "BadRequest", "Conflict", "Forbidden", "InternalError", "Invalid", "NotFound", "ServiceUnavailable", "Timeout"}
)
"""Reasons of Kubernetes that an answer can carry (apimachinery, ``StatusReason``)."""

REVIEW_BUCKETS: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Bucket bounds in seconds: from a review over loopback to the shortest time-out that the API server allows, 1 s."""
DECISION_BUCKETS: Final = (1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2)
"""Bucket bounds in seconds: around the expected 0.1 ms, up to the 20 ms that the worst input may take."""
JOB_BUCKETS: Final = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
"""Bucket bounds in seconds: from a small Job to the longest time that the setting for it allows."""


class Durations:
    """A Prometheus histogram of seconds. Only the event loop's thread may call ``observe``, which takes no lock."""

    __slots__ = ("_bounds", "_counts", "_documentation", "_name", "_sum")

    def __init__(self, name: str, documentation: str, bounds: Sequence[float]) -> None:
        self._name = name
        self._documentation = documentation
        self._bounds = tuple(bounds)
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

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

    def __init__(self, name: str, documentation: str, labels: Sequence[str]) -> None:
        self._name = name
        self._documentation = documentation
        self._labels = tuple(labels)
        self._values: dict[tuple[str, ...], int] = {}

    def begin(self, *labels: str) -> None:
        """Show the counter of these label values from now on: Prometheus does not notice the step to a first value."""
        self._values.setdefault(labels, 0)

    def count(self, *labels: str) -> None:
        """Add one to the counter of these label values."""
        self._values[labels] = self._values.get(labels, 0) + 1

    def collect(self) -> Iterator[Metric]:
        """The counter at the time of a scrape (``prometheus_client``, custom collectors)."""
        family = CounterMetricFamily(self._name, self._documentation, labels=self._labels)
        for labels, value in sorted(self._values.items()):
            family.add_metric(labels, value)
        yield family


LabelledValues = Iterable[tuple[tuple[str, ...], float]]
"""Label values, and the value of the gauge for them."""


class Listing:
    """A Prometheus gauge, with or without labels, whose values are asked for at every scrape.

    The caller bounds the number of label values.
    """

    __slots__ = ("_documentation", "_labels", "_name", "_values")

    def __init__(
        self, name: str, documentation: str, labels: Sequence[str], values: Callable[[], LabelledValues]
    ) -> None:
        self._name = name
        self._documentation = documentation
        self._labels = tuple(labels)
        self._values = values

    def collect(self) -> Iterator[Metric]:
        """The gauge at the time of a scrape (``prometheus_client``, custom collectors)."""
        family = GaugeMetricFamily(self._name, self._documentation, labels=self._labels)
        for labels, value in self._values():
            family.add_metric(labels, value)
        yield family


class MetricDescription(Struct, frozen=True):
    """A metric as it is registered: ``kind`` is ``counter``, ``gauge`` or ``histogram``; counters end in ``_total``."""

    name: str
    kind: str
    labels: tuple[str, ...]
    documentation: str


class Metrics:
    """The metrics of one process, all of which begin with ``streams_placement_``; other parts of it add their own.

    ``program`` is the command that the process runs: ``serve``, ``controller`` or ``hpa-api``. ``described`` lists
    what was added, also what has no value yet.
    """

    def __init__(self, program: str = "serve") -> None:
        self.registry = CollectorRegistry()
        self.described: list[MetricDescription] = []
        ProcessCollector(registry=self.registry)
        about = (program, version("streams-placement"))
        self.listing("info", "The program and its version; always 1.", ("program", "version"), lambda: [(about, 1.0)])
        self._errors = self.counts("http_errors", "Requests answered with an HTTP error.", "code")
        self._connections = self.counts(
            "connection_failures",
            "Connections ended by the server: no TLS handshake, too slow, or too many (handshake, timeout, capacity).",
            "cause",
            known=("handshake", "timeout", "capacity"),
        )

    def http_error(self, code: int) -> None:
        """Count one request that was answered with an HTTP error."""
        self._errors.count(str(code))

    def connection_failed(self, cause: str) -> None:
        """Count one connection that the server ended for that cause."""
        self._connections.count(cause)

    def counts(self, name: str, documentation: str, *labels: str, known: Iterable[str] = ()) -> Counts:
        """Add a counter ``streams_placement_<name>_total``, shown at once for the ``known`` values of its one label."""
        self.described.append(MetricDescription(f"{PREFIX}{name}_total", "counter", labels, documentation))
        counter = Counts(PREFIX + name, documentation, labels)
        for value in known:
            counter.begin(value)
        if not labels:
            counter.begin()
        self.registry.register(counter)
        return counter

    def durations(self, name: str, documentation: str, bounds: Sequence[float]) -> Durations:
        """Add a histogram ``streams_placement_<name>`` of seconds."""
        self.described.append(MetricDescription(PREFIX + name, "histogram", (), documentation))
        histogram = Durations(PREFIX + name, documentation, bounds)
        self.registry.register(histogram)
        return histogram

    def gauge(self, name: str, documentation: str, value: Callable[[], float]) -> None:
        """Add a gauge ``streams_placement_<name>``; ``value`` is called at every scrape."""
        self.listing(name, documentation, (), lambda: [((), value())])

    def listing(
        self, name: str, documentation: str, labels: Sequence[str], values: Callable[[], LabelledValues]
    ) -> None:
        """Add a gauge ``streams_placement_<name>`` with labels; the caller bounds the number of its values."""
        self.described.append(MetricDescription(PREFIX + name, "gauge", tuple(labels), documentation))
        self.registry.register(Listing(PREFIX + name, documentation, labels, values))

    def cluster_failures(self) -> Callable[[Cause], None]:
        """Add the counter of failures of lists and watches; returns what counts one."""
        known = [cause.name.lower() for cause in Cause]
        counter = self.counts(
            "cluster_failures",
            "Failures of lists and watches of the API server, each once while it lasts.",
            "cause",
            known=known,
        )
        return lambda cause: counter.count(cause.name.lower())

    def serving(self, ready: Callable[[], str | None], connections: Callable[[], int]) -> None:
        """Add the gauges of a server: why it is not ready, ``None`` if it is, and how many connections are open."""
        self.readiness(ready)
        self.gauge("connections", "Open connections of clients.", lambda: float(connections()))

    def readiness(self, ready: Callable[[], str | None]) -> None:
        """Add the gauge that says what ``/readyz`` says."""
        self.gauge("ready", "Whether the process is ready, as /readyz says: 1 or 0.", lambda: float(ready() is None))

    def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self.registry)


class ReviewMetrics(Metrics):
    """The metrics of the process that answers reviews; ``kinds`` have label values beside :data:`KINDS`."""

    def __init__(self, kinds: Iterable[str] = ()) -> None:
        super().__init__("serve")
        self._kinds = KINDS.union(kinds)
        self._reviews = self.counts("reviews", "Reviews answered.", "path", "outcome", "reason", "kind")
        self._refusals = self.counts(
            "refusals", "Refusals, once for each rule that is part of one.", "kind", "rule", "mode"
        )
        self._failures = self.counts("review_failures", "Reviews that failed by an error in the program.", "path")
        self._waiting = self.counts(
            "waiting_pods",
            "Pods let in that no node could run then.",
            "cause",
            known=("condition", "elastic", "scale-up", "controlled"),
        )
        self._unknown_workloads = self.counts(
            "unknown_workloads",
            "Workloads judged without the others of their job, which could not be listed (busy, failed).",
            "cause",
            known=("busy", "failed"),
        )
        self._seconds = self.durations(
            "review_seconds", "From a review's first byte to its answer, in seconds.", REVIEW_BUCKETS
        )
        self._decision = self.durations(
            "decision_seconds", "The decision alone, without reading and sending, in seconds.", DECISION_BUCKETS
        )
        self.gauge(
            "inline_answers",
            "Whether reviews are answered as they arrive, 1; 0 if aiohttp lacks what that takes: twice the CPU time.",
            lambda: float(familiar()),
        )
        self._job_decision = self.durations(
            "job_decision_seconds",
            "The decision about a whole Job, with the wait for its turn, in seconds.",
            JOB_BUCKETS,
        )

    def begin(self, paths: Iterable[str]) -> None:
        """Show the counters of failures of these paths from now on."""
        for path in paths:
            self._failures.begin(path)

    def reviewed(self, path: str, answer: Answer, seconds: float) -> None:
        """Count one answered review; ``seconds`` is the time from its first byte to its answer."""
        self._seconds.observe(seconds)
        reason = answer.reason if answer.reason in REASONS else OTHER
        kind = answer.kind if answer.kind in self._kinds else OTHER
        self._reviews.count(path, answer.outcome, reason, kind)
        for rule in answer.rules:
            self._refusals.count(kind, rule, "enforce" if answer.outcome is Outcome.DENIED else "audit")
        if answer.waits:
            self._waiting.count(answer.waits)

    def review_failed(self, path: str) -> None:
        """Count one review that an error in the program ended; ``path`` is one that the server has."""
        self._failures.count(path)

    def decided(self, seconds: float) -> None:
        """Count one decision that took so many seconds."""
        self._decision.observe(seconds)

    def job_decided(self, seconds: float) -> None:
        """Count one decision about a whole Job that took so many seconds."""
        self._job_decision.observe(seconds)

    def job_process(self, running: Callable[[], bool]) -> "JobProcessMetrics":
        """Add the metrics of the process that judges whole Jobs; ``running`` says whether there is one."""
        self.gauge(
            "job_process_running",
            "Whether a process judges whole Jobs now: 1 or 0.",
            lambda: float(running()),
        )
        return JobProcessMetrics(self)

    def workloads_unknown(self, cause: str) -> None:
        """Count one workload that was judged without the others of its job, for that cause."""
        self._unknown_workloads.count(cause)


class JobProcessMetrics:
    """Counts what becomes of the process that judges whole Jobs."""

    def __init__(self, metrics: ReviewMetrics) -> None:
        self._starts = metrics.counts("job_process_starts", "Starts of the process that judges whole Jobs.")
        self._fallbacks = metrics.counts(
            "job_process_fallbacks",
            "Jobs judged in the server itself: no process can be started, the last one has just failed, or it "
            "ended, was silent, had too much to do, could not be sent a message or had an error (start, paused, ended, "
            "stuck, full, unsent, failed).",
            "cause",
            known=("start", "paused", "ended", "stuck", "full", "unsent", "failed"),
        )
        self._took = metrics.job_decided

    def started(self) -> None:
        """Count one start."""
        self._starts.count()

    def fell_back(self, cause: str) -> None:
        """Count one Job that the server judges itself, for that cause."""
        self._fallbacks.count(cause)

    def took(self, seconds: float) -> None:
        """Count one decision of the process that took so many seconds."""
        self._took(seconds)
