"""Budget of the memory that large request bodies may take, over all connections of a port.

Memory is reserved for a body before the body is read. A body for which there is no room waits unread, so that TCP holds
its client back, and is given up after a bounded time. No address may reserve more than its share, so that one client's
flood leaves room for other clients. Small bodies need no reservation: the number of connections bounds their memory
(``docs/operations.md``, Limits).
"""

import asyncio
from collections import Counter
from typing import Final

from msgspec import Struct

_QUEUE: Final = 256
"""Bodies that may wait for room at a time; each one holds up to 0.3 MB that its connection has read ahead."""


class _Waiter(Struct, eq=False):
    """A body that waits for room: its size in bytes, its client's address; ``granted`` is done when there is room."""

    size: int
    client: str
    granted: asyncio.Future[None]


class Budget:
    """Reserves at most ``total`` bytes at a time, and at most ``share`` of these for one address.

    ``total`` and ``share`` are at least the size of the largest body. ``used`` is the number of bytes that are reserved
    now, ``passed`` the number of bytes that were ever reserved.
    """

    def __init__(self, total: int, share: int) -> None:
        self._total = total
        self._share = share
        self._held: Counter[str] = Counter()
        self._waiting: list[_Waiter] = []
        self.used = self.passed = 0

    async def reserve(self, size: int, client: str, seconds: float) -> bool:
        """Reserve ``size`` bytes for the address ``client``; returns whether there was room within ``seconds``."""
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
        """Give back ``size`` bytes that were reserved for the address ``client``."""
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
        if waiter.granted.done():  # room was granted in the same iteration of the loop as the cancellation
            self.release(waiter.size, waiter.client)
        else:
            self._waiting.remove(waiter)

    def _grant(self) -> None:
        """Grant room to waiting bodies, the one of the address that holds least first; no smaller body overtakes it."""
        while eligible := [each for each in self._waiting if self._held[each.client] + each.size <= self._share]:
            first = min(eligible, key=lambda each: self._held[each.client])
            if self.used + first.size > self._total:
                return
            self._waiting.remove(first)
            self._take(first.size, first.client)
            first.granted.set_result(None)
