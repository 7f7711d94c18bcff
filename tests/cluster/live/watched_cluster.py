"""A cluster that is being watched by the real thing, and what it told."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

from kubeapi.client.configuration import find_configuration
from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError
from tests.cluster.objects import Recorder
from webhook.cluster.objects.report import Finding, Report
from webhook.cluster.watch.backoff import Pace
from webhook.cluster.watch.live import LiveCluster

LIMIT = 30.0
"""Seconds that anything here may take on a busy machine."""

FAST = Pace(
    page=3, batch=2, watch=(5.0, 9.0), silence=5.0, answer=2.0, brief=0.02, least=0.01, most=0.05, most_away=0.05,
    between_lists=0.02, absent=0.05, horizon=60.0,
)  # fmt: skip


class WatchedCluster:
    """A cluster, and what it told."""

    def __init__(self, pace: Pace = FAST, *, limit: float = 0.0, connection: Connection | None = None) -> None:
        self.told: list[Report | Finding | ApiError] = []
        self.sink = Recorder()
        self.cluster = LiveCluster(
            connection or Connection(find_configuration()), self.sink, pace=pace, limit=limit, tell=self.told.append
        )

    @property
    def findings(self) -> list[str]:
        return [str(told) for told in self.told if isinstance(told, Finding)]

    @property
    def failures(self) -> list[str]:
        return [str(told) for told in self.told if isinstance(told, ApiError)]

    @contextlib.asynccontextmanager
    async def running(self, *, synced: bool = True) -> AsyncIterator["WatchedCluster"]:
        task = asyncio.create_task(self.cluster.run())
        try:
            if synced:
                await until(lambda: self.cluster.synced)
            yield self
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


async def until(fact: Callable[[], object], limit: float = LIMIT) -> None:
    """Wait until it is so."""
    async with asyncio.timeout(limit):
        while not fact():  # noqa: ASYNC110 -- facts are looked at from outside: nothing in the product tells of them
            await asyncio.sleep(0.002)
