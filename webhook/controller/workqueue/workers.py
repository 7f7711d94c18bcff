"""Workers: asyncio tasks that take keys from a queue, call the reconcile function, and requeue keys that failed."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from typing import Final, NoReturn, TypeVar

from kubeapi.client.errors import ApiError
from kubeapi.clock import Clock
from kubeapi.leaderelection.lease_hold import LostError
from webhook.controller.workqueue.queue import Queue
from webhook.tracing import Traces

K = TypeVar("K", bound=Hashable)

KeyHandler = Callable[[K], Awaitable[float | None]]
"""A reconcile function: acts on the present state behind a key; may return seconds after which to run again."""

WORKERS: Final = 5
"""Tasks that work at a time: each mostly waits for the API server, and a stuck one must not hold up the others."""

SEATS: Final = 4
"""Of these, how many one flow of keys may occupy, so that one is always left for the other flows."""

_log: Final = logging.getLogger(__name__)


async def run_workers(
    queue: Queue[K], work: KeyHandler[K], *, name: str, workers: int = WORKERS, traces: Traces | None = None
) -> None:
    """Process keys until cancelled or until LostError; every other failure requeues its key.

    ``name`` is what log lines call the work, and spans of ``traces``.
    """
    if traces is not None:
        work = traces.reconciled(name, work)
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
        _log.warning("%s %s: %s; retrying in %.3g s", name, key, failure, seconds)
    except Exception:  # noqa: BLE001 -- the error is logged, and one key must not stop the others
        seconds = queue.retry(key)
        _log.exception("%s %s failed; retrying in %.3g s", name, key, seconds)
    else:
        queue.forget(key)
        if again is not None:
            queue.add_after(key, again)


def fair_queue(clock: Clock) -> Queue[tuple[str, str]]:
    """A queue of objects by namespace and name, in which namespaces take turns and each has :data:`SEATS` workers."""
    return Queue(flow=_namespace, seats=SEATS, clock=clock)


def _namespace(name: tuple[str, str]) -> str:
    return name[0]
