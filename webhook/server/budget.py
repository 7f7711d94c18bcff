"""The memory that large request bodies may take, over all connections of a port.

A body is reserved for before it is read. What finds no room waits unread, so that TCP holds its client back, and is
given up after a bounded time. No address may take more than its share, so that one client's flood leaves room for the
others. Small bodies need no reservation: the number of connections bounds them (``docs/operations.md``, Limits).
"""

import asyncio
from collections import Counter
from typing import Final

from msgspec import Struct

_QUEUE: Final = 256
"""Bodies that wait for room at a time; each holds up to 0.3 MB that its connection has read ahead."""


class _Waiter(Struct, eq=False):
    """A body that waits: its size in bytes, the address of its client, and what tells that there is room."""

    size: int
    client: str
    granted: asyncio.Future[None]


class Budget:
    """At most ``total`` bytes are reserved at a time, and at most ``share`` of them by one address.

    Both are at least the largest body. ``used`` is what is reserved now, and ``passed`` what was reserved since the
    start.
    """

    def __init__(self, total: int, share: int) -> None:
        self._total = total
        self._share = share
        self._held: Counter[str] = Counter()
        self._waiting: list[_Waiter] = []
        self.used = self.passed = 0

    async def reserve(self, size: int, client: str, seconds: float) -> bool:
        """Whether so many bytes were reserved for that address within so many seconds."""
        if not self._waiting and self._fits(size, client):
            self._take(size, client)
            return True
        if len(self._waiting) >= _QUEUE:
            return False
        waiter = _Waiter(size, client, asyncio.get_running_loop().create_future())
        self._waiting.append(waiter)
        self._grant()
        try:
            await asyncio.wait((waiter.granted,), timeout=seconds)
        except asyncio.CancelledError:
            self._give_up(waiter)
            raise
        if waiter.granted.done():
            return True
        self._give_up(waiter)
        return False

    def release(self, size: int, client: str) -> None:
        """Give back what was reserved."""
        self.used -= size
        self._held[client] -= size
        if not self._held[client]:
            del self._held[client]
        self._grant()

    def _fits(self, size: int, client: str) -> bool:
        return self.used + size <= self._total and self._held[client] + size <= self._share

    def _take(self, size: int, client: str) -> None:
        self.used += size
        self.passed += size
        self._held[client] += size

    def _give_up(self, waiter: _Waiter) -> None:
        if waiter.granted.done():  # granted in the moment of its cancellation
            self.release(waiter.size, waiter.client)
        else:
            self._waiting.remove(waiter)

    def _grant(self) -> None:
        """Room for those that wait: the address that holds least goes first, and what is first is not overtaken."""
        while eligible := [one for one in self._waiting if self._held[one.client] + one.size <= self._share]:
            first = min(eligible, key=lambda one: self._held[one.client])
            if self.used + first.size > self._total:
                return
            self._waiting.remove(first)
            self._take(first.size, first.client)
            first.granted.set_result(None)
