"""``explain``: the world that manifests are judged against."""

import asyncio
from collections.abc import Iterable

from webhook.admission.document import Document
from webhook.app.clusters import live, seen
from webhook.app.policy import inventory_of, policy_of
from webhook.cluster.reading import Reading
from webhook.cluster.snapshot import read_snapshot
from webhook.placement.world import World
from webhook.settings import Settings


def explaining(settings: Settings, documents: Iterable[Document]) -> World:
    """The cluster as a world, with all that is no pod among ``documents`` taken as already applied.

    Raises :class:`SnapshotError` where the folder is no cluster, :class:`Trouble` where there is none at all, and
    ``ValueError`` for one of these documents that cannot be used.
    """
    if settings.snapshot is None:
        cluster = asyncio.run(seen(live(settings, lambda _: None)))
    else:
        cluster = inventory_of(settings)
        read_snapshot(settings.snapshot, cluster)
    reading = Reading(cluster)
    reading.begin("manifest")
    for document in documents:
        if document.get("kind") != "Pod":
            reading.document(document)
    report = reading.report()
    refused = (*report.skipped, *(found for found in report.noted if found.subject.startswith("HPAIntent ")))
    if refused:
        raise ValueError(str(refused[0]))
    return World(cluster, policy_of(settings))
