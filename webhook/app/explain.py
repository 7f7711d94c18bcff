"""``explain``: the ``World`` of a snapshot or live cluster, with all manifests but pods applied to it."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from webhook.app.cluster_source import PATIENCE, inventory_of, listener, live, seen, unused, watched_kinds
from webhook.app.references import kinds_with, read_references, referenced_kinds
from webhook.cluster.objects import kinds
from webhook.cluster.snapshot.snapshot import read_snapshot
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.request.world import World
from webhook.placementreview.references import in_namespaces
from webhook.placementreview.submission import Manifests, Step, applied, silent
from webhook.settings import Settings, policy_of


def explaining(
    settings: Settings,
    manifests: Manifests,
    tell: Callable[[str], object],
    patience: float = PATIENCE,
    step: Step = silent,
) -> World:
    """The cluster as a world in which all ``manifests`` but the pods are applied.

    An API server has ``patience`` seconds to answer. ``tell`` learns of every object of the cluster, and every part of
    one, that could not be used, and ``step`` of what is being read. Raises :class:`SnapshotError` where the folder is
    no cluster, :class:`FatalError` where there is none at all, and ``ValueError`` for one of the manifests that cannot
    be used.
    """
    if settings.snapshot is None:
        watched = live(settings, listener(tell), (*watched_kinds(settings), *kinds.STORAGE))
        cluster = asyncio.run(seen(watched, patience, lambda objects: step("reading the cluster", objects, 0)))
        cluster.references.update(asyncio.run(read_references(settings, [document for _, document in manifests])))
    else:
        cluster = read_folder(settings.snapshot, settings, tell, step)
    cluster.pod_defaults.closed = True
    for line in unused(applied(manifests, cluster, referenced_kinds())):
        tell(line)
    policy = replace(policy_of(settings), kinds=kinds_with(cluster.references), unhurried=True)
    return World(cluster, policy)


def read_folder(folder: Path, settings: Settings, tell: Callable[[str], object], step: Step = silent) -> Inventory:
    """The cluster of a snapshot; ``tell``, ``step`` and errors are those of :func:`explaining`."""
    cluster = inventory_of(settings)
    read = read_snapshot(
        folder,
        cluster,
        step=lambda objects: step("reading the snapshot", objects, 0),
        keep=referenced_kinds(),
    )
    cluster.references.update(in_namespaces(read.kept, referenced_kinds()))
    for line in unused(read):
        tell(f"snapshot: {line}")
    return cluster
