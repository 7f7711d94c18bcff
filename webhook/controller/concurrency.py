"""Run coroutines concurrently; the first error cancels the rest."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def gather_or_cancel(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Return the coroutines' results in their order; the first exception cancels the others and is raised."""
    tasks = [asyncio.ensure_future(work) for work in works]
    if not tasks:
        return []
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
