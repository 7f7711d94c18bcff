"""``explain``: the world that manifests are judged against."""

import asyncio
from collections.abc import Iterable

from webhook.admission.document import Document
from webhook.app.clusters import live, seen
from webhook.app.policy import policy_of
from webhook.cluster.reading import Reading
from webhook.cluster.snapshot import read_snapshot
from webhook.placement.inventory import Inventory
from webhook.placement.world import World
from webhook.settings import Settings


def explaining(settings: Settings, documents: Iterable[Document]) -> World:
    """The cluster as a world, with the host pools, jobs and nodes among ``documents`` taken as already applied.

    Raises :class:`SnapshotError` where the folder is no cluster, :class:`Trouble` where there is none at all, and
    ``ValueError`` for one of these documents that cannot be used.
    """
    if settings.snapshot is None:
        cluster = asyncio.run(seen(live(settings, lambda _: None)))
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
