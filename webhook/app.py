"""The composition root: the only file that sees every layer."""

import gc
import logging
from collections.abc import Iterable

from webhook.admission.answer import Answer
from webhook.admission.mutate import Ruling, mutate
from webhook.admission.validate import validate
from webhook.admission.workloads import Document
from webhook.cluster.follow import SnapshotCluster
from webhook.cluster.reading import Reading
from webhook.cluster.report import Report
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


async def serve(settings: Settings, announce: Announce) -> None:
    """Serve reviews against the snapshot until a signal says stop; :class:`Trouble` where there is none."""
    if settings.snapshot is None:
        raise Trouble("there is no cluster to serve: give --snapshot with a folder of what kubectl prints")
    policy = policy_of(settings)
    metrics = Metrics()
    cluster: SnapshotCluster[Inventory] = SnapshotCluster(settings.snapshot, Inventory, tell=tell_reading)

    memo: Memo[Ruling] = Memo()

    def mutating(body: bytes) -> Answer:
        return mutate(body, cluster.inventory, policy, memo)

    def validating(body: bytes) -> Answer:
        return validate(body, cluster.inventory, policy)

    metrics.gauge("nodes", "Nodes known.", lambda: float(len(cluster.inventory.nodes.nodes)))
    metrics.gauge("host_pools", "Host pools known.", lambda: float(len(cluster.inventory.pools)))
    metrics.gauge("skipped_objects", "Objects that could not be used.", lambda: float(_skipped(cluster.report)))
    service = Service(
        reviewers={"/mutate": mutating, "/validate": validating},
        ready=lambda: None if cluster.synced else "the snapshot is not read yet",
        background=(cluster.run,),
    )
    await run_server(service, settings, metrics=metrics, announce=announce)


def explaining(settings: Settings, documents: Iterable[Document]) -> World:
    """The snapshot as a world, with the host pools, jobs and nodes among ``documents`` taken as already applied.

    Raises :class:`SnapshotError` where the folder is no cluster, and ``ValueError`` for one of these documents that
    cannot be used.
    """
    cluster = Inventory()
    if settings.snapshot is not None:
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


def _skipped(report: Report | None) -> int:
    return report.skipped_count if report else 0


def tell_reading(outcome: Report | Exception) -> None:
    """Say how a reading went, and keep what it made out of the garbage collector's way."""
    if isinstance(outcome, Exception):
        _log.error("the snapshot was not read again, the last one stays: %s", outcome)
        return
    _log.info("snapshot: %s", outcome)
    for finding in (*outcome.skipped, *outcome.noted):
        _log.warning("snapshot: %s", finding)
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])
