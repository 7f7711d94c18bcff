"""Pools that are looked at together, now and then, while something changes that may matter to all of them."""

import asyncio
from typing import Final

from webhook.controller.workqueue.queue import Queue
from webhook.placement.inventory.pool_index import Name

PER_ROUND: Final = 100
"""Pools of which a round takes no longer than it has to: with more of them rounds are further apart in proportion, so
that however many wait the looks stay as many: a look takes a millisecond or two in a cluster of 15,000 nodes."""


class Rounds:
    """Puts pools into the queue, each at most once in so many seconds; for the tasks of one event loop.

    Every namespace goes its own rounds, and all have equal shares of the looks: who has one pool that waits does not
    wait longer because somebody else has hundreds.
    """

    def __init__(self, queue: Queue[Name], seconds: float) -> None:
        self._queue = queue
        self._seconds = seconds
        self._names: dict[str, set[str]] = {}
        """Pools by namespace."""
        self._due: dict[str, asyncio.TimerHandle] = {}
        """By namespace."""

    def join(self, name: Name) -> None:
        """The pool is looked at from now on."""
        self._names.setdefault(name[0], set()).add(name[1])

    def leave(self, name: Name) -> None:
        """It is not looked at any more."""
        names = self._names.get(name[0])
        if names is None:
            return
        names.discard(name[1])
        if not names:
            del self._names[name[0]]
            if name[0] in self._due:
                self._due.pop(name[0]).cancel()

    def ask(self) -> None:
        """Go round soon; a thousand times is the same as once."""
        if len(self._due) == len(self._names):
            return  # all of them will
        for namespace, names in self._names.items():
            if namespace not in self._due:
                looks = len(names) * len(self._names)
                seconds = self._seconds * max(1.0, looks / PER_ROUND)
                self._due[namespace] = asyncio.get_running_loop().call_later(seconds, self._go, namespace)

    def _go(self, namespace: str) -> None:
        del self._due[namespace]
        for name in self._names[namespace]:
            self._queue.add((namespace, name))
