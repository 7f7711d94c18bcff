"""The answer about all apps: for each a compact list of clusters that are allowed or denied, or why it has no list.

The form is that of the HPA design of EMCO: app, replication count, allow or deny list, whichever is shorter
(``docs/clusters.md``).
"""

from collections.abc import Sequence

from msgspec import Struct, field

from webhook.placement.clusters.application import ClusterApp
from webhook.placement.clusters.compatible_sets import rivals_of
from webhook.placement.clusters.examination import ExaminedCluster
from webhook.placement.clusters.sharing import Sharing, share
from webhook.placement.clusters.shortage import clash_text, shortage_text
from webhook.placement.planning.search.solver import Solving


class AppList(Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """The clusters of one app: those in ``allow``, or all that were asked about but those in ``deny``.

    Just one of the two is there. A cluster that was not read is never allowed: it is in ``deny``, or not in ``allow``.
    ``best`` are as many clusters as the app is to run on, those with the largest weights; ``weights`` are those of
    allowed clusters, where the app has optional requirements.
    """

    replication_count: int = field()
    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] | None = None
    best: tuple[str, ...] = ()
    weights: dict[str, int] = {}

    def allowed(self, clusters: Sequence[str]) -> tuple[str, ...]:
        """The clusters, of all that were asked about, that can take the app."""
        if self.allow is not None:
            return self.allow
        return tuple(name for name in clusters if name not in (self.deny or ()))


class Contention(Struct, frozen=True):
    """``apps`` that cannot all run on any one of these ``clusters``, so that each is in the lists of some only."""

    apps: tuple[str, ...]
    clusters: tuple[str, ...]


class ClustersAnswer(Struct, frozen=True, omit_defaults=True):
    """The lists of all ``apps`` by name, and what there is to say of the others and of the clusters.

    ``refused`` are the texts about apps without a list, ``unread`` says of clusters why they were not read,
    ``clusters`` are the names of all, ``contention`` says which apps had to share.
    """

    apps: dict[str, AppList] = field()
    clusters: tuple[str, ...] = field()
    refused: dict[str, str] = {}
    unread: dict[str, str] = {}
    contention: tuple[Contention, ...] = ()


async def answer(apps: Sequence[ClusterApp], clusters: Sequence[ExaminedCluster], solving: Solving) -> ClustersAnswer:
    """The lists of all apps; the names of clusters are different."""
    clusters = sorted(clusters, key=lambda cluster: cluster.name)
    able = {at: sum(cluster.takes(at) for cluster in clusters) for at in range(len(apps))}
    refused = {
        at: shortage_text(at, app, clusters) for at, app in enumerate(apps) if able[at] < max(1, app.replication)
    }
    wanted = {at: app.replication for at, app in enumerate(apps) if at not in refused}
    shared = await share(wanted, clusters, solving)
    for clash in shared.clashing:
        refused |= dict.fromkeys(clash.apps, clash_text(clash, apps, able, decided=shared.decided))
    lists = {app.name: _list(at, app, clusters, shared) for at, app in enumerate(apps) if at not in refused}
    return ClustersAnswer(
        apps=lists,
        clusters=tuple(cluster.name for cluster in clusters),
        refused={apps[at].name: text for at, text in sorted(refused.items())},
        unread={cluster.name: cluster.trouble for cluster in clusters if cluster.trouble},
        contention=tuple(_contention(apps, wanted, clusters)),
    )


def _list(at: int, app: ClusterApp, clusters: Sequence[ExaminedCluster], shared: Sharing) -> AppList:
    """The list of the app at that position: the shorter one, if they are equally long the allow list."""
    kept = [cluster for cluster, apps in zip(clusters, shared.kept, strict=True) if at in apps]
    allow = tuple(cluster.name for cluster in kept)
    deny = tuple(cluster.name for cluster in clusters if cluster.name not in allow)
    ranked = sorted(kept, key=lambda cluster: (-cluster.fits[at].weight, cluster.name))
    shorter = {"allow": allow} if len(allow) <= len(deny) else {"deny": deny}
    return AppList(
        replication_count=app.replication,
        best=tuple(cluster.name for cluster in ranked[: app.replication]),
        weights={cluster.name: cluster.fits[at].weight for cluster in ranked if cluster.fits[at].weight},
        **shorter,
    )


def _contention(
    apps: Sequence[ClusterApp], wanted: dict[int, int], clusters: Sequence[ExaminedCluster]
) -> list[Contention]:
    """For each set of apps that had to share, the clusters that they could not all run on."""
    contending: dict[tuple[int, ...], list[str]] = {}
    for cluster in clusters:
        if rivals := tuple(sorted(rivals_of(cluster.sets.maximal) & wanted.keys())):
            contending.setdefault(rivals, []).append(cluster.name)
    return [
        Contention(tuple(apps[at].name for at in rivals), tuple(names)) for rivals, names in sorted(contending.items())
    ]
