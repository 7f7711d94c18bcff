"""Metrics of the REST interface: requests by what they are about, and how long they take (``docs/metrics.md``)."""

from typing import Final

from webhook.server.metrics import Metrics

REQUEST_BUCKETS: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)
"""Bucket bounds in seconds: from a read out of memory to a write that waits for a busy disk."""

METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE"})
"""Methods that have a label value of their own."""


class RestMetrics:
    """Counts answers and their durations in the registry of ``metrics``; only the event loop may call it."""

    def __init__(self, metrics: Metrics) -> None:
        self.metrics = metrics
        self._requests = metrics.counts("rest_requests", "Requests answered.", "collection", "method", "code")
        self._seconds = metrics.durations(
            "rest_request_seconds", "From a request's first byte to its answer, in seconds.", REQUEST_BUCKETS
        )

    def answered(self, collection: str, method: str, code: int, seconds: float) -> None:
        """Count one answer; ``collection`` is a name of this program, or empty, and never a text of a client."""
        known = method if method in METHODS else "other"
        self._requests.count(collection, known, str(code))
        self._seconds.observe(seconds)
