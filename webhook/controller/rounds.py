"""Pools that are looked at together, now and then, while something changes that may matter to all of them."""

import asyncio
from typing import Final

from webhook.controller.queue import Queue
from webhook.placement.pool_index import Name

PER_ROUND: Final = 100
"""Pools of which a round takes no longer than it has to: with more of them rounds are further apart in proportion, so
that however many wait the looks stay as many: a look takes a millisecond or two in a cluster of 15,000 nodes."""


class Rounds:
    """Puts ``names`` into the queue, at most once in so many seconds; for the tasks of one event loop."""

    def __init__(self, queue: Queue[Name], seconds: float) -> None:
        self.names: set[Name] = set()
        self._queue = queue
        self._seconds = seconds
        self._due: asyncio.TimerHandle | None = None

    def ask(self) -> None:
        """Go round soon; a thousand times is the same as once."""
        if self.names and self._due is None:
            seconds = self._seconds * max(1.0, len(self.names) / PER_ROUND)
            self._due = asyncio.get_running_loop().call_later(seconds, self._go)

    def _go(self) -> None:
        self._due = None
        for name in self.names:
            self._queue.add(name)
