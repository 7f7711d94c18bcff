"""``Turn``: one at a time judges and stores what it promises."""

import asyncio
from collections.abc import Awaitable, Callable


class Turn:
    """A lock, held from a verdict until what it promises is stored, so that the next one counts it.

    What is in ``before`` is awaited each time that the lock is taken.
    """

    def __init__(self) -> None:
        self.before: list[Callable[[], Awaitable[object]]] = []
        self._lock = asyncio.Lock()

    async def __aenter__(self) -> None:
        await self._lock.acquire()
        try:
            for prepare in self.before:
                await prepare()
        except BaseException:
            self._lock.release()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._lock.release()
