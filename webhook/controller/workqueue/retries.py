"""When to try again what has failed: later each time, and not too many things at once."""

import time
from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

from kubeapi.clock import Clock

K = TypeVar("K", bound=Hashable)

LEAST: Final = 0.005
"""Seconds: the round trip to an API server, by which a conflict has often passed (client-go, ``workqueue``)."""
MOST: Final = 60.0
"""Seconds: whoever has mended the cause shall see the effect within a minute."""
_DOUBLINGS: Final = 14
"""From 5 ms to more than a minute; beyond, there is nothing to count."""

PER_SECOND: Final = 10.0
BURST: Final = 100
"""Retries of all keys together (client-go): an API server in trouble gets no more than that on top."""


class Bucket:
    """Lets ``burst`` pass at once, and ``per_second`` in the long run.

    Flows, such as namespaces, have equal shares of that, as many as have made use of theirs lately: none waits for what
    another one has booked.
    """

    def __init__(self, per_second: float = PER_SECOND, burst: int = BURST, *, clock: Clock = time.monotonic) -> None:
        self._interval = 1.0 / per_second
        self._ahead = (burst - 1) * self._interval
        self._clock = clock
        self._booked: dict[Hashable, float] = {}
        """When the last one of a flow was, or would have been at a steady pace; not of flows whose share is full."""

    def take(self, flow: Hashable = None) -> float:
        """Seconds until the next one of the flow may pass; it counts as passed."""
        now = self._clock()
        full = now - self._ahead - self._interval
        self._booked = {other: booked for other, booked in self._booked.items() if booked > full}
        shares = len(self._booked.keys() | {flow})
        booked = self._booked.get(flow, float("-inf"))
        self._booked[flow] = max(booked + self._interval * shares, now - self._ahead)
        return max(0.0, self._booked[flow] - now)


class Backoff(Generic[K]):
    """Failures in a row, by key; ``flow`` says whose a key is, all of one flow by default."""

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
        """Seconds to wait after one more failure."""
        failures = self._failures.get(key, 0)
        self._failures[key] = min(failures + 1, _DOUBLINGS)
        return max(min(self._least * 2.0**failures, self._most), self._bucket.take(self._flow(key)))

    def forget(self, key: K) -> None:
        """All is well with it."""
        self._failures.pop(key, None)
