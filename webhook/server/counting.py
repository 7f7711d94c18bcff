"""Counts and durations of every review, kept as plain numbers: they cost the hot path next to nothing.

Prometheus' own metric objects take a lock and a method call a bucket; these are read only when somebody scrapes.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric


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
        """One more duration; a bucket holds what is at most its bound."""
        self._counts[bisect_left(self._bounds, seconds)] += 1
        self._sum += seconds

    def collect(self) -> Iterator[Metric]:
        """The histogram as it stands."""
        total, buckets = 0, []
        for bound, count in zip((*map(str, self._bounds), "+Inf"), self._counts, strict=True):
            total += count
            buckets.append((bound, total))
        yield HistogramMetricFamily(self._name, self._documentation, buckets=buckets, sum_value=self._sum)


class Counts:
    """A counter by labels; only the event loop's thread may count. Whoever counts bounds the labels' values."""

    __slots__ = ("_documentation", "_labels", "_name", "_values")

    def __init__(self, name: str, documentation: str, labels: Sequence[str], registry: CollectorRegistry) -> None:
        self._name = name
        self._documentation = documentation
        self._labels = tuple(labels)
        self._values: dict[tuple[str, ...], int] = {}
        registry.register(self)

    def count(self, *labels: str) -> None:
        """One more of these labels."""
        self._values[labels] = self._values.get(labels, 0) + 1

    def collect(self) -> Iterator[Metric]:
        """The counter as it stands."""
        family = CounterMetricFamily(self._name, self._documentation, labels=self._labels)
        for labels, value in sorted(self._values.items()):
            family.add_metric(labels, value)
        yield family
