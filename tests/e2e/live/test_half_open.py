"""Connections to the API server become silent: the webhook notices it, catches up, and reports itself stale."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from kubeapi.client.configuration import find_configuration
from kubeapi.client.connection import Connection
from tests.e2e.controlplane.identities import write_kubeconfig
from tests.e2e.live.bare_plane import ACCOUNT, BarePlane
from tests.e2e.live.closable_proxy import ClosableProxy
from tests.e2e.nodes import node
from tests.e2e.progress import say
from webhook.cluster.watch.backoff import Pace
from webhook.cluster.watch.live import LiveCluster
from webhook.placement.inventory.inventory import Inventory

PACE: Final = Pace(watch=(2.0, 3.0), silence=4.0, answer=2.0, absent=1.0)
"""As by default, but ten times as impatient."""

LIMIT: Final = 5.0
"""Seconds until what is known is too old; longer than any healthy watch is silent, as by default."""

NOTICED: Final = PACE.silence + PACE.answer + 4 * PACE.least
"""Seconds: the silence, a question on a connection that died as well, and two pauses before trying again."""

SLOW: Final = 20.0
"""Seconds for anything else, on a machine that others use."""


@pytest.fixture
def gate(core: BarePlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClosableProxy]:
    """The way to the API server, as a kubeconfig names it."""
    with ClosableProxy(core.port) as gate:
        url = f"https://127.0.0.1:{gate.port}"
        file = write_kubeconfig(tmp_path, core.identities[ACCOUNT], url, core.authority)
        monkeypatch.setenv("KUBECONFIG", str(file))
        yield gate


@contextlib.asynccontextmanager
async def watching(gate: ClosableProxy) -> AsyncIterator[LiveCluster[Inventory]]:
    """A cluster that has been listed, and is watched."""
    cluster = LiveCluster(Connection(find_configuration()), Inventory(), pace=PACE, limit=LIMIT)
    task = asyncio.create_task(cluster.run())
    try:
        await until(lambda: cluster.reason() is None)
        yield cluster
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        # aiohttp waits for the other side to say goodbye to TLS; on dead connections it does so only now.
        gate.shut()
        await asyncio.sleep(0.1)


async def until(fact: Callable[[], object]) -> float:
    """Wait until it is so; returns the seconds that took."""
    began = time.monotonic()
    async with asyncio.timeout(SLOW):
        while not fact():  # noqa: ASYNC110 -- facts are looked at from outside: nothing in the product tells of them
            await asyncio.sleep(0.01)
    return time.monotonic() - began


async def create(core: BarePlane, name: str) -> None:
    await asyncio.to_thread(core.admin.create, node(name))


async def test_changes_that_a_dead_watch_missed_are_read_and_no_request_is_refused(
    core: BarePlane, gate: ClosableProxy
) -> None:
    async with watching(gate) as cluster:
        await create(core, "heard")
        await until(lambda: cluster.inventory.nodes.get("heard"))
        gate.strand()
        await create(core, "missed")
        await asyncio.to_thread(core.admin.delete, "/api/v1/nodes/heard")
        nodes = cluster.inventory.nodes
        seconds = await until(lambda: nodes.get("missed") and not nodes.get("heard"))
        say(f"a watch that died was noticed and what it missed was known after {seconds:.1f} s")
        assert seconds <= NOTICED
        assert cluster.reason() is None


async def test_while_nothing_comes_through_it_says_so_and_afterwards_all_is_well(
    core: BarePlane, gate: ClosableProxy
) -> None:
    async with watching(gate) as cluster:
        gate.hang()
        await create(core, "meanwhile")
        await until(lambda: str(cluster.reason()).startswith("the cached state of the cluster is stale: nodes: "))
        gate.shut()
        gate.open()
        await until(lambda: cluster.inventory.nodes.get("meanwhile") and cluster.reason() is None)
