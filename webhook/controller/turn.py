"""``Turn``: one at a time judges and stores what it promises."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from webhook.cluster.queries.job_verdicts import Found, searched

LOOKS: Final = 3
"""Maximum number of verdicts on one object while earlier promises keep losing their room."""


class Unsettled(Protocol):
    """Room that was promised, and that others may take."""

    @property
    def disturbed(self) -> bool:
        """Whether some of the promised room must be found elsewhere."""
        ...

    async def settle(self) -> None:
        """Look for it."""
        ...


class Turn:
    """A lock, held from a verdict until what it promises is stored, so that the next one counts it.

    What is judged in a turn is judged by :meth:`judged`, and ``rooms`` are settled before. The watches go on meanwhile.
    """

    def __init__(self) -> None:
        self.rooms: list[Unsettled] = []
        self._lock = asyncio.Lock()

    async def __aenter__(self) -> None:
        await self._lock.acquire()

    async def __aexit__(self, *_: object) -> None:
        self._lock.release()

    async def judged(self, judge: Callable[[], Awaitable[Found]]) -> Found:
        """What is found while no promised room is taken by others, as far as that does not happen each time."""
        for _ in range(LOOKS - 1):
            await self._settled()
            verdict = await searched(judge)
            if not any(room.disturbed for room in self.rooms):
                return verdict
        await self._settled()
        return await searched(judge)

    async def _settled(self) -> None:
        for room in self.rooms:
            await room.settle()
