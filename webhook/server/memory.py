"""Returns freed heap to the system after a flood of requests (``mallopt`` and ``malloc_trim`` of glibc).

glibc keeps freed blocks for later use. It returns a block to the system at once only if the block was mapped by itself,
and it raises the size from which blocks are mapped as soon as a large block is freed (``mallopt(3)``,
``M_MMAP_THRESHOLD``). After a flood of large bodies, further large bodies would therefore lie in the heap, which cannot
shrink below the small objects that lie above them.
"""

import asyncio
import ctypes
from typing import Final

from webhook.server.http.budget import Budget
from webhook.server.http.connection import Connections
from webhook.server.http.limits import MIB

_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
_ARENA_MAX: Final = -8
"""Numbers of the parameters of ``mallopt`` (glibc, malloc.h)."""

_MAPPED: Final = 512 * 1024
"""Bytes from which a block is mapped by itself: more than the 256 KiB that every read of TLS allocates for a moment."""

_ARENAS: Final = 2
"""Heaps of the process: the event loop uses one, and the few other threads share the second."""

_INTERVAL: Final = 2.0
"""Seconds between two checks whether a flood is over."""

_BODIES: Final = 8 * MIB
_CONNECTIONS: Final = 20
"""Bytes of large bodies, or number of closed connections, that count as a flood: either takes some ten megabytes."""


def bound_heap() -> None:
    """Have glibc return large blocks to the system as soon as they are freed, from now on, and what is free now.

    Does nothing without glibc. While a whole cluster is read this would be wrong: a page of a list is such a block, and
    to get the same memory from the system for every page takes a fifth of the time.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _MAPPED)
        mallopt(_TRIM_THRESHOLD, 2 * _MAPPED)
        mallopt(_ARENA_MAX, _ARENAS)
    trim()


def trim() -> None:
    """Return all free pages of the heap to the system, which takes some milliseconds. Does nothing without glibc."""
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)


class HeapTrimmer:
    """Trims the heap whenever a flood of large bodies, or of connections, is over."""

    def __init__(self, connections: Connections, budget: Budget) -> None:
        self._connections = connections
        self._budget = budget
        self._most = self._passed = 0

    async def watch(self, seconds: float = _INTERVAL) -> None:
        """Check once in so many seconds whether a flood is over, and trim the heap; runs until cancelled."""
        while True:
            await asyncio.sleep(seconds)
            if self.flood_is_over():
                trim()

    def flood_is_over(self) -> bool:
        """Whether enough was freed since this method last returned ``True``, and no large body is in memory now."""
        count = len(self._connections.open)
        self._most = max(self._most, count)
        calm = not self._budget.used
        if not calm or (self._most - count < _CONNECTIONS and self._budget.passed - self._passed < _BODIES):
            return False
        self._most, self._passed = count, self._budget.passed
        return True
