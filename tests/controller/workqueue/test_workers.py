"""Workers work on every key, come back to what failed, and stop when they are to."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import pairwise

import pytest

from kubeapi.client.errors import ApiError, Cause
from kubeapi.leaderelection.lease_hold import LostError
from tests.controller.virtual_time import clock, settle
from webhook.controller.workqueue.queue import Queue
from webhook.controller.workqueue.workers import run_workers


@pytest.fixture
async def queue() -> Queue[str]:
    return Queue(clock=clock)


@contextlib.asynccontextmanager
async def working(
    queue: Queue[str], work: Callable[[str], Awaitable[float | None]], workers: int = 2
) -> AsyncIterator[None]:
    task = asyncio.create_task(run_workers(queue, work, name="pool", workers=workers))
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


class RecordingWorker:
    """A worker that notes what it does, and fails as it is told."""

    def __init__(self, *trouble: Exception, again: float | None = None) -> None:
        self.begun: list[tuple[str, float]] = []
        self.trouble = list(trouble)
        self.again = again

    async def __call__(self, key: str) -> float | None:
        self.begun.append((key, round(clock(), 3)))
        if self.trouble:
            raise self.trouble.pop(0)
        again, self.again = self.again, None
        return again

    @property
    def pauses(self) -> list[float]:
        times = [when for _, when in self.begun]
        return [round(b - a, 3) for a, b in pairwise(times)]


async def test_every_key_is_worked_on(queue: Queue[str]) -> None:
    worker = RecordingWorker()
    async with working(queue, worker):
        for key in "abc":
            queue.add(key)
        await settle()
    assert ([key for key, _ in worker.begun], queue.working) == (["a", "b", "c"], 0)


async def test_so_many_keys_are_worked_on_at_a_time(queue: Queue[str]) -> None:
    async def slow(_key: str) -> None:
        await asyncio.sleep(5)

    async with working(queue, slow, workers=3):
        for key in "abcde":
            queue.add(key)
        await settle()
        assert (queue.working, queue.depth) == (3, 2)


async def test_what_fails_is_tried_again_later_and_later(queue: Queue[str]) -> None:
    worker = RecordingWorker(ValueError(), ValueError(), ValueError())
    async with working(queue, worker):
        queue.add("a")
        await asyncio.sleep(1)
    assert worker.pauses == [0.005, 0.01, 0.02]


async def test_a_success_is_the_end_of_it(queue: Queue[str]) -> None:
    async with working(queue, RecordingWorker(ValueError())):
        queue.add("a")
        await asyncio.sleep(1)
        assert (queue.failing, queue.scheduled, queue.retries) == (0, 0, 1)


async def test_a_failure_waits_as_long_as_the_api_server_asks_for(queue: Queue[str]) -> None:
    worker = RecordingWorker(ApiError(Cause.BUSY, "later", wait=3.0))
    async with working(queue, worker):
        queue.add("a")
        await asyncio.sleep(5)
    assert worker.pauses == [3.0]


async def test_a_worker_may_ask_to_look_again(queue: Queue[str]) -> None:
    worker = RecordingWorker(again=2.5)
    async with working(queue, worker):
        queue.add("a")
        await asyncio.sleep(5)
    assert worker.pauses == [2.5]


async def test_a_failure_is_one_line_of_the_log(queue: Queue[str], caplog: pytest.LogCaptureFixture) -> None:
    async with working(queue, RecordingWorker(ApiError(Cause.CONFLICT, "it has changed"))):
        queue.add("a")
        await settle()
    assert [(record.levelno, record.getMessage(), record.exc_info) for record in caplog.records] == [
        (logging.WARNING, "pool a: it has changed; retrying in 0.005 s", None)
    ]


async def test_an_unforeseen_error_is_logged_with_its_traceback(
    queue: Queue[str], caplog: pytest.LogCaptureFixture
) -> None:
    async with working(queue, RecordingWorker(KeyError("surprise"))):
        queue.add("a")
        await settle()
    [record] = caplog.records
    assert (record.levelno, record.getMessage()) == (logging.ERROR, "pool a failed; retrying in 0.005 s")
    assert record.exc_info
    assert record.exc_info[0] is KeyError


async def test_whoever_may_not_act_any_more_stops(queue: Queue[str]) -> None:
    queue.add("a")
    with pytest.raises(LostError, match="^gone$"):
        await run_workers(queue, RecordingWorker(LostError("gone")), name="pool")
    assert queue.retries == 0


async def test_workers_end_with_those_who_are_cancelled(queue: Queue[str]) -> None:
    ended = []

    async def slow(key: str) -> None:
        try:
            await asyncio.sleep(50)
        finally:
            ended.append(key)

    async with working(queue, slow):
        queue.add("a")
        queue.add("b")
        await settle()
    assert (sorted(ended), queue.working) == (["a", "b"], 0)
