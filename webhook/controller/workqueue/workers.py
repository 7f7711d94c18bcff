"""Those who work on the keys of a queue."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from typing import Final, NoReturn, TypeVar

from webhook.cluster.client.errors import ApiError
from webhook.controller.leaderelection.lease_hold import LostError
from webhook.controller.workqueue.queue import Queue

K = TypeVar("K", bound=Hashable)

KeyHandler = Callable[[K], Awaitable[float | None]]
"""Looks at the present state behind a key and does what it takes; may return seconds after which to look again."""

WORKERS: Final = 5
"""At a time: they wait for the API server most of the while, and one that is stuck shall not hold up the rest."""

SEATS: Final = 4
"""Of them, for one flow of keys: there is always one for the others."""

_log: Final = logging.getLogger(__name__)


async def run_workers(queue: Queue[K], work: KeyHandler[K], *, name: str, workers: int = WORKERS) -> None:
    """Work on every key until cancelled; LostError ends it, too. Whatever else fails is tried again.

    ``name`` is what the log calls the work.
    """
    tasks = [asyncio.create_task(_run(queue, work, name), name=f"{name} {number}") for number in range(workers)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def _run(queue: Queue[K], work: KeyHandler[K], name: str) -> NoReturn:
    while True:
        key = await queue.take()
        try:
            await _turn(queue, work, name, key)
        finally:
            queue.done(key)


async def _turn(queue: Queue[K], work: KeyHandler[K], name: str, key: K) -> None:
    try:
        again = await work(key)
    except LostError:
        raise
    except ApiError as failure:
        seconds = queue.retry(key, wait=failure.wait)
        _log.warning("%s %s: %s (again in %.3g s)", name, key, failure, seconds)
    except Exception:  # noqa: BLE001 -- whatever it is, it is logged, and one key must not stop all others
        seconds = queue.retry(key)
        _log.exception("%s %s has failed (again in %.3g s)", name, key, seconds)
    else:
        queue.forget(key)
        if again is not None:
            queue.add_after(key, again)
