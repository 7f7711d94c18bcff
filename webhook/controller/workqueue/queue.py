"""Work queue: each key waits at most once and is processed by one worker at a time (client-go, ``workqueue``).

A key that is added while a worker processes it is processed once more afterwards. So a worker that reads the present
state behind its key misses no change, and a thousand changes in a moment cost one reconcile.

Keys belong to flows, such as namespaces, which take turns: a flow with one key waits for at most one key of each other
flow, however many keys the other flows have (Kubernetes, API Priority and Fairness).
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

from kubeapi.clock import Clock
from webhook.controller.workqueue.retries import MOST, Backoff, Bucket

K = TypeVar("K", bound=Hashable)

SHORTEST: Final = 0.001
"""The shortest delay of ``add_after``, in seconds. Event loops fire timers up to one clock tick early, so a key with a
shorter delay could be processed again and again before its time has come."""


class Queue(Generic[K]):
    """A fair queue of keys for the tasks of one event loop, in the order of addition within a flow.

    ``flow`` returns the flow of a key; by default all keys are of one flow. At most ``seats`` keys of one flow are
    processed at a time; without ``seats`` any number. ``clock`` must run like the loop's own.
    """

    def __init__(
        self,
        *,
        backoff: Backoff[K] | None = None,
        flow: Callable[[K], Hashable] = lambda _: None,
        seats: int | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        self.added = 0
        """How many keys were added in total, not counting keys that were waiting already."""
        self.retries = 0
        """How often :meth:`retry` was called in total."""
        self._backoff: Backoff[K] = Backoff(Bucket(clock=clock), flow=flow) if backoff is None else backoff
        self._flow = flow
        self._seats = seats
        self._clock = clock
        self._waiting: dict[K, float] = {}
        """Waiting keys and since when, the longest wait first; also keys that a worker is still processing."""
        self._working: dict[Hashable, set[K]] = {}
        """Keys that workers are processing, by flow."""
        self._later: dict[K, asyncio.TimerHandle] = {}
        self._ready: dict[Hashable, deque[K]] = {}
        """Keys that can be taken, by flow; the flow whose turn it is comes first."""
        self._changed = asyncio.Event()

    @property
    def depth(self) -> int:
        """How many keys wait now, without keys that are added later."""
        return len(self._waiting)

    @property
    def working(self) -> int:
        """How many keys workers are processing."""
        return sum(map(len, self._working.values()))

    @property
    def scheduled(self) -> int:
        """How many keys a timer will add later."""
        return len(self._later)

    @property
    def failing(self) -> int:
        """How many keys failed when they were last processed."""
        return len(self._backoff)

    @property
    def oldest(self) -> float:
        """Seconds that the longest waiting key has waited; 0 if no key waits."""
        return self._clock() - next(iter(self._waiting.values())) if self._waiting else 0.0

    def add(self, key: K) -> None:
        """Add the key unless it waits already."""
        if key in self._waiting:
            return
        self.added += 1
        self._waiting[key] = self._clock()
        if key not in self._working.get(self._flow(key), ()):
            self._can_be_taken(key)

    def add_after(self, key: K, seconds: float) -> None:
        """Add the key in so many seconds; of several pending times the earliest counts."""
        if seconds <= 0:
            self.add(key)
            return
        loop = asyncio.get_running_loop()
        seconds = max(seconds, SHORTEST)
        later = self._later.get(key)
        if later is not None:
            if later.when() <= loop.time() + seconds:
                return
            later.cancel()
        self._later[key] = loop.call_later(seconds, self._due, key)

    def retry(self, key: K, *, wait: float = 0.0) -> float:
        """Add the key again after a failure, with exponential back-off; returns the delay in seconds.

        ``wait`` is the API server's Retry-After in seconds; at most a minute of it is respected.
        """
        self.retries += 1
        seconds = max(self._backoff.after(key), min(wait, MOST))
        self.add_after(key, seconds)
        return seconds

    def forget(self, key: K) -> None:
        """Reset the key's back-off."""
        self._backoff.forget(key)

    async def take(self) -> K:
        """Wait for the next key to process; the caller must call :meth:`done` afterwards."""
        while (key := self._next()) is None:
            self._changed.clear()
            await self._changed.wait()
        flow = self._flow(key)
        keys = self._ready.pop(flow)
        keys.popleft()
        if keys:
            self._ready[flow] = keys  # behind all others
        del self._waiting[key]
        self._working.setdefault(flow, set()).add(key)
        return key

    def done(self, key: K) -> None:
        """Mark the key as processed; if it was added meanwhile it can be taken again."""
        flow = self._flow(key)
        self._working[flow].remove(key)
        if not self._working[flow]:
            del self._working[flow]
        if key in self._waiting:
            self._can_be_taken(key)
        self._changed.set()  # the flow has a free seat now

    def _next(self) -> K | None:
        """The first key of the first flow that has a free seat; ``None`` if no flow has."""
        for flow, keys in self._ready.items():
            if self._seats is None or len(self._working.get(flow, ())) < self._seats:
                return keys[0]
        return None

    def _can_be_taken(self, key: K) -> None:
        self._ready.setdefault(self._flow(key), deque()).append(key)
        self._changed.set()

    def _due(self, key: K) -> None:
        del self._later[key]
        self.add(key)
