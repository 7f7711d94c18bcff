"""What has to be looked at: keys, each waiting at most once, and never with two workers at a time.

What is added while it is being worked on is worked on once more afterwards. So a worker that looks at the present state
of its key misses nothing, and a thousand changes in a moment cost one look (client-go, ``workqueue``).
"""

import asyncio
import time
from collections.abc import Hashable
from typing import Generic, TypeVar

from webhook.controller.clock import Clock
from webhook.controller.retries import MOST, Backoff, Bucket

K = TypeVar("K", bound=Hashable)


class Queue(Generic[K]):
    """Keys in the order in which they were added; for the tasks of one event loop, whose timers it uses.

    ``clock`` runs like the loop's own.
    """

    def __init__(self, *, backoff: Backoff[K] | None = None, clock: Clock = time.monotonic) -> None:
        self.added = 0
        """Keys that came to wait, since the beginning."""
        self.retries = 0
        """Calls of :meth:`retry`, since the beginning."""
        self._backoff: Backoff[K] = Backoff(Bucket(clock=clock)) if backoff is None else backoff
        self._clock = clock
        self._waiting: dict[K, float] = {}
        """Since when, the longest first; also keys that wait for their own worker to end."""
        self._working: set[K] = set()
        self._later: dict[K, asyncio.TimerHandle] = {}
        self._ready: asyncio.Queue[K] = asyncio.Queue()

    @property
    def depth(self) -> int:
        """Keys that wait now; not those that are added later."""
        return len(self._waiting)

    @property
    def working(self) -> int:
        """Keys that are being worked on."""
        return len(self._working)

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
        if key not in self._working:
            self._ready.put_nowait(key)

    def add_after(self, key: K, seconds: float) -> None:
        """Add it in so many seconds; of several times the first counts."""
        if seconds <= 0:
            self.add(key)
            return
        loop = asyncio.get_running_loop()
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
        key = await self._ready.get()
        del self._waiting[key]
        self._working.add(key)
        return key

    def done(self, key: K) -> None:
        """Nobody works on it any more."""
        self._working.remove(key)
        if key in self._waiting:
            self._ready.put_nowait(key)

    def _due(self, key: K) -> None:
        del self._later[key]
        self.add(key)
