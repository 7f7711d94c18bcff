"""The composition root: the only file that sees every layer."""

import asyncio
import gc
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Protocol

from webhook.admission.answer import Answer
from webhook.admission.mutate import Ruling, mutate
from webhook.admission.validate import validate
from webhook.admission.workloads import Document
from webhook.cluster.configuration import NoClusterError, connect
from webhook.cluster.connection import Connection
from webhook.cluster.failure import Failure
from webhook.cluster.follow import SnapshotCluster
from webhook.cluster.live import LiveCluster
from webhook.cluster.reading import Reading
from webhook.cluster.report import Finding, Report
from webhook.cluster.snapshot import read_snapshot
from webhook.placement.inventory import Inventory
from webhook.placement.memo import Memo
from webhook.placement.policy import Policy
from webhook.placement.selector_text import parse_selector
from webhook.placement.world import World
from webhook.server.lifecycle import Announce, Service, run_server
from webhook.server.metrics import Metrics
from webhook.server.trouble import Trouble
from webhook.settings import Settings

_log = logging.getLogger(__name__)

YOUNG = 20_000
"""New containers before the garbage collector looks at them: reviews make no cycles, and the default of 700 would look
every ten reviews."""

PATIENCE: Final = 60.0
"""Seconds that a person waits for the whole of a cluster to be listed; 15,000 nodes and 150,000 pods take ten."""

_LOOK: Final = 0.05
"""Seconds between two looks whether that is done."""


def policy_of(settings: Settings) -> Policy:
    """The installation's choices, as the core sees them; ``ValueError`` for a selector that is none."""
    return Policy(
        host_binding=settings.host_binding,
        unknown_annotations=settings.unknown_annotations,
        elastic=settings.elastic,
        audit=settings.mode == "audit",
        verify_pods=settings.verify_pods,
        exclusive_effect=settings.exclusive_effect,
        poolable=parse_selector(settings.poolable_nodes),
    )


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


async def serve(settings: Settings, announce: Announce) -> None:
    """Serve reviews until a signal says stop; :class:`Trouble` where there is no cluster."""
    policy, metrics, memo = policy_of(settings), Metrics(), Memo[Ruling]()
    cluster = await asyncio.to_thread(_cluster, settings)

    def mutating(body: bytes) -> Answer:
        return mutate(body, cluster.inventory, policy, memo)

    def validating(body: bytes) -> Answer:
        return validate(body, cluster.inventory, policy)

    _watch(cluster, metrics)
    service = Service({"/mutate": mutating, "/validate": validating}, cluster.reason, (cluster.run,))
    await run_server(service, settings, metrics=metrics, announce=announce)


def _cluster(settings: Settings) -> Cluster:
    """The snapshot, if there is one, else the API server; blocks while credentials are read."""
    if settings.snapshot is not None:
        return SnapshotCluster(settings.snapshot, Inventory, tell=tell_reading)
    return _live(settings, _Settling())


def _live(settings: Settings, tell: Callable[[Report | Finding | Failure], object]) -> LiveCluster[Inventory]:
    try:
        configuration = connect(settings.context)
    except NoClusterError as error:
        raise Trouble(f"{error}; or give --snapshot with a folder of what kubectl prints") from error
    return LiveCluster(Connection(configuration), Inventory(), limit=settings.stale_after, tell=tell)


def _watch(cluster: Cluster, metrics: Metrics) -> None:
    """Gauges of what is known of the cluster."""

    def skipped() -> float:
        report = cluster.report
        return report.skipped_count if report else 0.0

    metrics.gauge("nodes", "Nodes known.", lambda: float(len(cluster.inventory.nodes.nodes)))
    metrics.gauge("host_pools", "Host pools known.", lambda: float(len(cluster.inventory.pools)))
    metrics.gauge("skipped_objects", "Objects that could not be used.", skipped)
    metrics.gauge(
        "cache_age_seconds",
        "Since the API server last said how it stands with a resource, for the longest silent one.",
        lambda: max(cluster.ages().values(), default=0.0),
    )


def explaining(settings: Settings, documents: Iterable[Document]) -> World:
    """The cluster as a world, with the host pools, jobs and nodes among ``documents`` taken as already applied.

    Raises :class:`SnapshotError` where the folder is no cluster, :class:`Trouble` where there is none at all, and
    ``ValueError`` for one of these documents that cannot be used.
    """
    if settings.snapshot is None:
        cluster = asyncio.run(_seen(_live(settings, lambda _: None)))
    else:
        cluster = Inventory()
        read_snapshot(settings.snapshot, cluster)
    reading = Reading(cluster)
    reading.begin("manifest")
    for document in documents:
        if document.get("kind") != "Pod":
            reading.document(document)
    report = reading.report()
    if report.skipped:
        raise ValueError(str(report.skipped[0]))
    return World(cluster, policy_of(settings))


async def _seen(cluster: LiveCluster[Inventory]) -> Inventory:
    """What the cluster holds, as soon as all of it has been listed once."""
    watching = asyncio.create_task(cluster.run())
    try:
        async with asyncio.timeout(PATIENCE):
            while not cluster.synced and not watching.done():
                await asyncio.wait({watching}, timeout=_LOOK)
    except TimeoutError:
        raise Trouble(str(cluster.reason())) from None
    finally:
        watching.cancel()
        await asyncio.wait({watching})
    if not watching.cancelled():
        watching.result()
    return cluster.inventory


def tell_reading(outcome: Report | Exception) -> None:
    """Say how a reading of the snapshot went."""
    if isinstance(outcome, Exception):
        _log.error("the snapshot was not read again, the last one stays: %s", outcome)
        return
    _log.info("snapshot: %s", outcome)
    for finding in (*outcome.skipped, *outcome.noted):
        _log.warning("snapshot: %s", finding)
    settle()


class _Settling:
    """Says what the watches tell, and settles once everything has been listed."""

    def __init__(self) -> None:
        self._settled = False

    def __call__(self, outcome: Report | Finding | Failure) -> None:
        if not isinstance(outcome, Report):
            _log.warning("cluster: %s", outcome)
            return
        _log.info("cluster: %s", outcome)
        if not self._settled:
            self._settled = True
            settle()


def settle() -> None:
    """Keep what was just read out of the garbage collector's way: it stays, and there is much of it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])
