"""Where the state of a cluster comes from: a folder, or an API server."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from kubeapi.client.configuration import Configuration, NoClusterError, connect
from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError
from webhook.app.policy import inventory_of
from webhook.app.telling import Settling, tell_reading
from webhook.cluster.objects.report import Finding, Report
from webhook.cluster.snapshot.follow import SnapshotCluster
from webhook.cluster.watch.live import LiveCluster
from webhook.placement.inventory.inventory import Inventory
from webhook.server.fatal_error import FatalError
from webhook.settings import Settings

PATIENCE: Final = 60.0
"""Seconds that a person waits for the whole of a cluster to be listed; 15,000 nodes and 150,000 pods take ten."""

_LOOK: Final = 0.05
"""Seconds between two looks whether that is done."""

_FAREWELL: Final = 0.25
"""Seconds for TLS connections to end before the loop does (aiohttp, graceful shutdown); else Python complains."""


class Cluster(Protocol):
    """Where the state of a cluster comes from."""

    @property
    def inventory(self) -> Inventory:
        """What is known now."""
        ...

    @property
    def report(self) -> Report | None:
        """What was read, and what could not be used."""
        ...

    def reason(self) -> str | None:
        """Why nothing can be decided now; ``None`` if it can."""
        ...

    def ages(self) -> Mapping[str, float]:
        """Seconds since something was heard of each resource."""
        ...

    async def run(self) -> None:
        """Keep it up to date until cancelled."""
        ...


def cluster_of(settings: Settings) -> Cluster:
    """The snapshot, if there is one, else the API server; blocks while credentials are read."""
    if settings.snapshot is not None:
        return SnapshotCluster(settings.snapshot, lambda: inventory_of(settings), tell=tell_reading)
    return live(settings, Settling())


def live(settings: Settings, tell: Callable[[Report | Finding | ApiError], object]) -> LiveCluster[Inventory]:
    """The API server's; :class:`FatalError` if there is none."""
    try:
        configuration = configuration_of(settings)
    except FatalError as trouble:
        raise FatalError(f"{trouble}; or give --snapshot with a folder of what kubectl prints") from trouble
    return LiveCluster(Connection(configuration), inventory_of(settings), limit=settings.stale_after, tell=tell)


def configuration_of(settings: Settings) -> Configuration:
    """How to reach the API server; :class:`FatalError` where there is no cluster."""
    try:
        return connect(settings.context)
    except NoClusterError as error:
        raise FatalError(str(error)) from error


async def seen(cluster: LiveCluster[Inventory]) -> Inventory:
    """What the cluster holds, as soon as all of it has been listed once."""
    watching = asyncio.create_task(cluster.run())
    try:
        async with asyncio.timeout(PATIENCE):
            while not cluster.synced and not watching.done():
                await asyncio.wait({watching}, timeout=_LOOK)
    except TimeoutError:
        raise FatalError(str(cluster.reason())) from None
    finally:
        watching.cancel()
        await asyncio.wait({watching})
        await asyncio.sleep(_FAREWELL)
    if not watching.cancelled():
        watching.result()
    return cluster.inventory
