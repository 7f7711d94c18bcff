"""What is counted of placement reviews."""

from collections.abc import Callable
from typing import Final

from webhook.server.metrics import Metrics

BUCKETS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
"""Bucket bounds in seconds: from a review of one pod to the longest wait with the longest answer."""

COPY_BUCKETS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
"""Bucket bounds in seconds: from a webhook of 50 MB to one of some gigabytes."""

CODES: Final = ("201", "400", "401", "403", "404", "405", "413", "415", "422", "429", "500", "503", "504")


class PlacementReviewMetrics:
    """Counts answers, of requests that are no reviews as well."""

    def __init__(self, metrics: Metrics, waiting: Callable[[], int]) -> None:
        self._answers = metrics.counts(
            "placement_reviews", "Requests about PlacementReviews, by HTTP status.", "code", known=CODES
        )
        self._seconds = metrics.durations(
            "placement_review_seconds",
            "From a PlacementReview's first byte to its answer, with the wait for its turn, in seconds.",
            BUCKETS,
        )
        self._copies = metrics.durations(
            "placement_review_copy_seconds",
            "Copies of the webhook for PlacementReviews, in which it answers nothing, in seconds.",
            COPY_BUCKETS,
        )
        metrics.gauge(
            "waiting_placement_reviews", "PlacementReviews that wait for their turn.", lambda: float(waiting())
        )

    def copied(self, seconds: float) -> None:
        """Count a copy of the webhook, which took so many seconds."""
        self._copies.observe(seconds)

    def answered(self, code: int, seconds: float) -> None:
        """Count the answer to a request that creates a review, so many seconds after its first byte."""
        self._answers.count(str(code))
        self._seconds.observe(seconds)

    def refused(self, code: int) -> None:
        """Count a request that is not a review, or is refused before it is read."""
        self._answers.count(str(code))
