"""What has to be looked at: keys, each waiting at most once, and never with two workers at a time.

What is added while it is being worked on is worked on once more afterwards. So a worker that looks at the present state
of its key misses nothing, and a thousand changes in a moment cost one look (client-go, ``workqueue``).

Keys belong to flows, such as namespaces, which take turns: a flow with one key waits for at most one key of each other
flow, however many keys those have (Kubernetes, API Priority and Fairness).
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
"""Seconds that a key which is to be added later waits at least. Event loops fire timers a tick of the clock early, so
that a key which is due in less than a tick could be looked at for ever before its time has come."""


class Queue(Generic[K]):
    """Keys in the order in which they were added, flow by flow; for the tasks of one event loop, whose timers it uses.

    ``flow`` says whose a key is; without it all are of one flow. At most ``seats`` keys of one flow are worked on at a
    time; without it any number. ``clock`` runs like the loop's own.
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
        """Keys that came to wait, since the beginning."""
        self.retries = 0
        """Calls of :meth:`retry`, since the beginning."""
        self._backoff: Backoff[K] = Backoff(Bucket(clock=clock), flow=flow) if backoff is None else backoff
        self._flow = flow
        self._seats = seats
        self._clock = clock
        self._waiting: dict[K, float] = {}
        """Since when, the longest first; also keys that wait for their own worker to end."""
        self._working: dict[Hashable, set[K]] = {}
        """By flow."""
        self._later: dict[K, asyncio.TimerHandle] = {}
        self._ready: dict[Hashable, deque[K]] = {}
        """Keys that can be worked on, by flow; whose turn it is comes first."""
        self._changed = asyncio.Event()

    @property
    def depth(self) -> int:
        """Keys that wait now; not those that are added later."""
        return len(self._waiting)

    @property
    def working(self) -> int:
        """Keys that are being worked on."""
        return sum(map(len, self._working.values()))

    @property
    def scheduled(self) -> int:
        """Keys that will be added at some time."""
        return len(self._later)

    @property
    def failing(self) -> int:
        """Keys that failed when they were last worked on."""
        return len(self._backoff)

    @property
    def oldest(self) -> float:
        """Seconds that the first key has been waiting; 0 if there is none."""
        return self._clock() - next(iter(self._waiting.values())) if self._waiting else 0.0

    def add(self, key: K) -> None:
        """Have it worked on."""
        if key in self._waiting:
            return
        self.added += 1
        self._waiting[key] = self._clock()
        if key not in self._working.get(self._flow(key), ()):
            self._can_be_taken(key)

    def add_after(self, key: K, seconds: float) -> None:
        """Add it in so many seconds; of several times the first counts."""
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
        """Add it again after a failure, later with each one; returns in how many seconds.

        ``wait`` is for how long the API server wants to be left alone; a minute of that is granted.
        """
        self.retries += 1
        seconds = max(self._backoff.after(key), min(wait, MOST))
        self.add_after(key, seconds)
        return seconds

    def forget(self, key: K) -> None:
        """Count no failures of it any more."""
        self._backoff.forget(key)

    async def take(self) -> K:
        """The next key to work on; tell :meth:`done` afterwards."""
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
        """Nobody works on it any more."""
        flow = self._flow(key)
        self._working[flow].remove(key)
        if not self._working[flow]:
            del self._working[flow]
        if key in self._waiting:
            self._can_be_taken(key)
        self._changed.set()  # its flow has a seat more

    def _next(self) -> K | None:
        """The first key of the flow whose turn it is, of those that have a seat left."""
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
