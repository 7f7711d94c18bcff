"""The process's memory: what a flood of requests took is given back to the system.

glibc keeps freed blocks for later. It returns a block to the system only if that was mapped by itself, and raises the
size from which blocks are as soon as a large one is freed (``mallopt(3)``, ``M_MMAP_THRESHOLD``): after a flood of
large bodies the next ones are carved out of the heap, which small objects keep from shrinking.
"""

import asyncio
import ctypes
from typing import Final

from webhook.server.budget import Budget
from webhook.server.connection import Connections
from webhook.server.limits import MIB

_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
_ARENA_MAX: Final = -8
"""Parameters of ``mallopt`` (glibc, malloc.h)."""

_MAPPED: Final = 512 * 1024
"""Bytes from which a block is mapped by itself: above the 256 KiB that every read of TLS takes for a moment."""

_ARENAS: Final = 2
"""Heaps of the process: the event loop works on one, and its few helper threads share the other."""

_LOOK: Final = 2.0
"""Seconds between two looks whether a flood is over."""

_BODIES: Final = 8 * MIB
_CONNECTIONS: Final = 20
"""Bytes of large bodies, and connections that were closed, that make a flood: both take some ten megabytes."""


def bound_heap() -> None:
    """Have large blocks returned as soon as they are freed, from now on. Does nothing where there is no glibc."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _MAPPED)
        mallopt(_TRIM_THRESHOLD, 2 * _MAPPED)
        mallopt(_ARENA_MAX, _ARENAS)


def trim() -> None:
    """Return all free pages of the heap; takes some milliseconds. Does nothing where there is no glibc."""
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)


class Tide:
    """Trims the heap whenever a flood is over: no large body is in memory, and fewer connections are open than were."""

    def __init__(self, connections: Connections, budget: Budget) -> None:
        self._connections = connections
        self._budget = budget
        self._most = self._passed = 0

    async def watch(self, seconds: float = _LOOK) -> None:
        """Look for ever, once in so many seconds; bounds the heap first."""
        bound_heap()
        while True:
            await asyncio.sleep(seconds)
            if self.ebbed():
                trim()

    def ebbed(self) -> bool:
        """Whether so much was freed since the last time that this is true, that it is worth giving back."""
        count = len(self._connections.open)
        self._most = max(self._most, count)
        calm = not self._budget.used
        if not calm or (self._most - count < _CONNECTIONS and self._budget.passed - self._passed < _BODIES):
            return False
        self._most, self._passed = count, self._budget.passed
        return True
