"""Where the state of a cluster comes from, a folder or an API server, and what is logged while it is read.

Modules before the first reading, and the inventory after it, are taken out of the garbage collector's way: they stay,
and are large.
"""

import asyncio
import gc
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from kubeapi.client.configuration import Configuration, NoClusterError, find_configuration
from kubeapi.client.errors import ApiError, Cause, NotServedError
from webhook.cluster.objects.kinds import KINDS, NODE_GROUPS, AnyKind
from webhook.cluster.objects.report import Finding, Report
from webhook.cluster.snapshot.follow import SnapshotCluster
from webhook.placement.inventory.inventory import Inventory
from webhook.server.fatal_error import FatalError
from webhook.settings import Settings, policy_of

if TYPE_CHECKING:
    from webhook.cluster.watch.live import LiveCluster

PATIENCE: Final = 60.0
"""Seconds that a person waits for the whole of a cluster to be listed; 15,000 nodes and 150,000 pods take ten."""

_LOOK: Final = 0.05
"""Seconds between two looks whether that is done."""

_FAREWELL: Final = 0.25
"""Seconds for TLS connections to end before the loop does (aiohttp, graceful shutdown); else Python complains."""


_log = logging.getLogger(__package__)


class Cluster(Protocol):
    """Where the state of a cluster comes from."""

    @property
    def inventory(self) -> Inventory:
        """The inventory as it is now."""
        ...

    @property
    def report(self) -> Report | None:
        """Which objects were read, and which could not be used."""
        ...

    def reason(self) -> str | None:
        """Why nothing can be decided now; ``None`` if it can."""
        ...

    def ages(self) -> Mapping[str, float]:
        """Seconds since the API server last answered for each resource."""
        ...

    async def run(self) -> None:
        """Keep the inventory up to date until cancelled."""
        ...


def inventory_of(settings: Settings) -> Inventory:
    """An empty inventory that counts whatever these settings need."""
    return Inventory(policy_of(settings).spared)


def watched_kinds(settings: Settings) -> tuple[AnyKind, ...]:
    """The kinds that decisions with these settings go by: node groups only where pods may wait for their nodes."""
    return KINDS if settings.scale_up == "off" else (*KINDS, *NODE_GROUPS)


def cluster_of(
    settings: Settings, failed: Callable[[Cause], object] = lambda _: None, kinds: Sequence[AnyKind] = KINDS
) -> Cluster:
    """The snapshot, if there is one, else these kinds at the API server; blocks while credentials are read.

    ``failed`` is told the cause of each failure of the API server.
    """
    gc.freeze()
    if settings.snapshot is not None:
        return SnapshotCluster(settings.snapshot, lambda: inventory_of(settings), tell=tell_reading)
    return live(settings, ReadingLog(failed), kinds)


def live(
    settings: Settings, tell: Callable[[Report | Finding | ApiError], object], kinds: Sequence[AnyKind] = KINDS
) -> "LiveCluster[Inventory]":
    """The cluster of an API server, as far as these kinds go; :class:`FatalError` if there is none."""
    # The HTTP client takes a fifth of the time in which a command reads a snapshot, which does without.
    from kubeapi.client.connection import Connection  # noqa: PLC0415
    from webhook.cluster.watch.live import LiveCluster  # noqa: PLC0415

    try:
        configuration = configuration_of(settings)
    except FatalError as trouble:
        raise FatalError(f"{trouble}; or give --snapshot with a folder of what kubectl prints") from trouble
    return LiveCluster(
        Connection(configuration), inventory_of(settings), kinds=kinds, limit=settings.stale_after, tell=tell
    )


def configuration_of(settings: Settings) -> Configuration:
    """The address and credentials of the API server; :class:`FatalError` where there is no cluster."""
    try:
        return find_configuration(settings.context)
    except NoClusterError as error:
        raise FatalError(str(error)) from error


async def seen(
    cluster: "LiveCluster[Inventory]", patience: float = PATIENCE, step: Callable[[int], object] = lambda _: None
) -> Inventory:
    """The inventory as soon as every kind has been listed once; :class:`FatalError` after so many seconds.

    ``step`` is called now and then with the number of objects that have come.
    """
    watching = asyncio.create_task(cluster.run())
    try:
        async with asyncio.timeout(patience):
            while not cluster.synced and not watching.done():
                await asyncio.wait({watching}, timeout=_LOOK)
                step(sum(cluster.report.counts.values()))
    except TimeoutError:
        raise FatalError(str(cluster.reason())) from None
    finally:
        watching.cancel()
        await asyncio.wait({watching})
        await asyncio.sleep(_FAREWELL)
    if not watching.cancelled():
        watching.result()
    return cluster.inventory


def tell_reading(outcome: Report | Exception) -> None:
    """Log the outcome of reading the snapshot."""
    if isinstance(outcome, Exception):
        _log.error("the snapshot could not be reread; keeping the last one: %s", outcome)
        return
    _log.info("snapshot: %s", outcome)
    for line in unused(outcome):
        _log.warning("snapshot: %s", line)
    settle()


def unused(report: Report) -> Iterator[str]:
    """A line for each object that was skipped and each part that was left out, and one for those not named."""
    yield from map(str, (*report.skipped, *report.noted))
    more = report.skipped_count - len(report.skipped) + report.noted_count - len(report.noted)
    if more:
        yield f"and {more} more that are not named"


def listener(tell: Callable[[str], object]) -> Callable[[Report | Finding | ApiError], None]:
    """Tells a person which objects the watches could not use and what fails, but for kinds that are not installed."""

    def hear(outcome: Report | Finding | ApiError) -> None:
        missing = isinstance(outcome, ApiError) and outcome.cause is Cause.MISSING
        if not missing and not isinstance(outcome, Report):
            tell(f"cluster: {outcome}")

    return hear


class ReadingLog:
    """Logs what the watches tell; once every kind has been listed, :func:`settle` is called.

    ``failed`` is told the cause of each failure.
    """

    def __init__(self, failed: Callable[[Cause], object] = lambda _: None) -> None:
        self._failed = failed
        self._settled = False

    def __call__(self, outcome: Report | Finding | ApiError) -> None:
        """Log one outcome of a watch."""
        if not isinstance(outcome, Report):
            if isinstance(outcome, NotServedError):
                _log.info("cluster: %s; decisions are made without them", outcome)
                return
            if isinstance(outcome, ApiError):
                self._failed(outcome.cause)
            _log.warning("cluster: %s", outcome)
            return
        _log.info("cluster: %s", outcome)
        if not self._settled:
            self._settled = True
            settle()


def settle() -> None:
    """Keep what was just read out of the garbage collector's way: it stays, and is large."""
    gc.collect()
    gc.freeze()
