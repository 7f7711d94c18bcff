"""Rate limits of retries: exponential back-off a key, and a token bucket for all keys (client-go, ``workqueue``)."""

import time
from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

from kubeapi.clock import Clock

K = TypeVar("K", bound=Hashable)

LEAST: Final = 0.005
"""Seconds before the first retry: about one round trip to the API server, after which a conflict has often passed."""
MOST: Final = 60.0
"""The longest delay in seconds, so that a repaired cause takes effect within a minute."""
_DOUBLINGS: Final = 14
"""Failures that are counted: fourteen doublings of 5 ms exceed a minute."""

PER_SECOND: Final = 10.0
BURST: Final = 100
"""Limits of all keys' retries together (client-go), which bound the additional load on a failing API server."""


class Bucket:
    """A token bucket: ``burst`` at once, ``per_second`` in the long run.

    Flows, such as namespaces, that have used the bucket lately have equal shares of the rate; no flow waits for tokens
    that another flow has booked.
    """

    def __init__(self, per_second: float = PER_SECOND, burst: int = BURST, *, clock: Clock = time.monotonic) -> None:
        self._interval = 1.0 / per_second
        self._ahead = (burst - 1) * self._interval
        self._clock = clock
        self._booked: dict[Hashable, float] = {}
        """By flow, the time of its last token at a steady rate; flows whose share is full again are left out."""

    def take(self, flow: Hashable = None) -> float:
        """Take one token for the flow; returns the seconds to wait before using it."""
        now = self._clock()
        full = now - self._ahead - self._interval
        self._booked = {other: booked for other, booked in self._booked.items() if booked > full}
        shares = len(self._booked.keys() | {flow})
        booked = self._booked.get(flow, float("-inf"))
        self._booked[flow] = max(booked + self._interval * shares, now - self._ahead)
        return max(0.0, self._booked[flow] - now)


class Backoff(Generic[K]):
    """Consecutive failures by key; ``flow`` returns the flow of a key, by default one flow for all."""

    def __init__(
        self,
        bucket: Bucket,
        *,
        flow: Callable[[K], Hashable] = lambda _: None,
        least: float = LEAST,
        most: float = MOST,
    ) -> None:
        self._bucket = bucket
        self._flow = flow
        self._least = least
        self._most = most
        self._failures: dict[K, int] = {}

    def __len__(self) -> int:
        return len(self._failures)

    def after(self, key: K) -> float:
        """Count one more failure of the key; returns the seconds to wait."""
        failures = self._failures.get(key, 0)
        self._failures[key] = min(failures + 1, _DOUBLINGS)
        return max(min(self._least * 2.0**failures, self._most), self._bucket.take(self._flow(key)))

    def forget(self, key: K) -> None:
        """Reset the key's failures."""
        self._failures.pop(key, None)
