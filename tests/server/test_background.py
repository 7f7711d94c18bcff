"""A process without reviews: it works, answers probes, and ends as it should."""

import asyncio
import logging
import os
import signal

import aiohttp
import pytest

from webhook.server.background import run_background
from webhook.server.fatal_error import FatalError
from webhook.server.http.listener import bind
from webhook.server.metrics import Metrics
from webhook.settings import Settings

pytestmark = pytest.mark.integration

SETTINGS = Settings(health_port=0)


class Work:
    """Goes on until it is cancelled, or fails as it is told."""

    def __init__(self, failure: Exception | None = None, *, ends: bool = False) -> None:
        self.begun = asyncio.Event()
        self.cancelled = False
        self._failure = failure
        self._ends = ends

    async def __call__(self) -> None:
        self.begun.set()
        if self._failure:
            raise self._failure
        if self._ends:
            return
        try:
            await asyncio.Event().wait()
        finally:
            self.cancelled = True


class Started:
    """It runs; :meth:`get` asks its port for health."""

    def __init__(self, work: Work, ready: str | None = None) -> None:
        self.metrics = Metrics()
        self.work = work
        self._url: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.task = asyncio.create_task(
            run_background(work, lambda: ready, SETTINGS, metrics=self.metrics, announce=self._url.set_result)
        )

    async def get(self, path: str) -> tuple[int, str]:
        url = await asyncio.wait_for(asyncio.shield(self._url), 10)
        async with aiohttp.ClientSession() as session, session.get(url + path) as reply:
            return reply.status, await reply.text()


def terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


async def test_it_is_alive_and_ready_while_it_works() -> None:
    started = Started(Work())
    assert [await started.get(path) for path in ("/healthz", "/readyz")] == [(200, "ok\n"), (200, "ok\n")]
    terminate()
    await started.task


async def test_it_says_why_it_is_not_ready() -> None:
    started = Started(Work(), "the cluster is not read yet")
    assert await started.get("/readyz") == (503, "the cluster is not read yet\n")
    assert "\nstreams_placement_ready 0.0\n" in (await started.get("/metrics"))[1]
    terminate()
    await started.task


async def test_metrics_say_whether_it_is_ready() -> None:
    started = Started(Work())
    assert "\nstreams_placement_ready 1.0\n" in (await started.get("/metrics"))[1]
    terminate()
    await started.task


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_signal_ends_the_work_first(number: signal.Signals) -> None:
    started = Started(Work())
    await started.work.begun.wait()
    os.kill(os.getpid(), number)
    await started.task
    assert started.work.cancelled


async def test_it_is_unready_while_it_stops() -> None:
    stopping, go_on = asyncio.Event(), asyncio.Event()

    class Slow(Work):
        async def __call__(self) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                stopping.set()
                await go_on.wait()

    started = Started(Slow())
    await started.get("/healthz")
    terminate()
    await stopping.wait()
    assert await started.get("/readyz") == (503, "the program is stopping\n")
    go_on.set()
    await started.task


async def test_it_ends_with_the_work() -> None:
    assert await Started(Work(ends=True)).task is None


async def test_work_that_fails_is_trouble(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(FatalError, match="^the work failed: no more$"):
        await Started(Work(ValueError("no more"))).task
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [
        (logging.ERROR, "stopping, because the work failed")
    ]


async def test_a_port_that_is_taken_is_trouble() -> None:
    with bind("127.0.0.1", 0) as taken:
        taken.listen()
        settings = SETTINGS.model_copy(update={"health_port": taken.getsockname()[1]})
        work = Work()
        with pytest.raises(FatalError, match="^cannot listen on 127.0.0.1 port [0-9]+: Address already in use$"):
            await run_background(work, lambda: None, settings, metrics=Metrics(), announce=lambda _: None)
    assert not work.begun.is_set()
