"""The text about an app that too few clusters can take: why, by the number of clusters, and the nearest fix.

The form is that of other refusals (``docs/refusals.md``): what cannot be, counts by reason, the nearest fix.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from webhook.placement.clusters.application import ClusterApp
from webhook.placement.clusters.examination import ExaminedCluster, Opener
from webhook.placement.clusters.sharing import Clash
from webhook.placement.decision.refusal.refusal import written
from webhook.placement.kube.amounts import ordered
from webhook.placement.text.fix import Advice, Drop, Fix, Lower
from webhook.placement.text.problem import counted, enumerated

UNREAD: Final = "not read"
"""The reason of clusters of which nothing is known; the trouble of each is reported once for all apps."""


def shortage_text(at: int, app: ClusterApp, clusters: Sequence[ExaminedCluster]) -> str:
    """Why the app at that position has no list, although it would have the clusters for itself."""
    able = sum(cluster.takes(at) for cluster in clusters)
    first = f"App {app.name}: {able} of {counted(len(clusters), 'cluster')} can take it, {app.replication} "
    first += f"{'is' if app.replication == 1 else 'are'} needed."
    reasons = Counter(
        UNREAD if cluster.trouble else cluster.fits[at].reason for cluster in clusters if not cluster.takes(at)
    )
    lines = [
        f"{counted(count, 'cluster')}: {reason}"
        for reason, count in sorted(reasons.items(), key=lambda counted_reason: (-counted_reason[1], counted_reason[0]))
    ]
    return written(first, lines, [*_fixes(at, app, clusters, able)])


def _fixes(at: int, app: ClusterApp, clusters: Sequence[ExaminedCluster], able: int) -> Iterator[Fix]:
    """What would help: the change of the app that opens most clusters, fewer clusters, or a change of one cluster."""
    missing = max(1, app.replication) - able
    closed = [cluster for cluster in clusters if not cluster.takes(at) and cluster.fits]
    if any(cluster.fits[at].wrong for cluster in closed):
        yield Advice("correct this; no cluster can take the app as it is written")
        return
    fixable = next((one for one in closed if one.fits[at].fix), None) if missing == 1 else None
    if fixable:
        yield Advice(f"in cluster {fixable.name}, {fixable.fits[at].fix}")
    opened: dict[Drop, list[Opener]] = {}
    for opener in (opener for cluster in closed for opener in cluster.fits[at].openers):
        opened.setdefault(opener.drop, []).append(opener)
    for _, openers in sorted(opened.items(), key=lambda opening: (-len(opening[1]), str(opening[0])))[:1]:
        yield _opening(openers, able, missing)
    if able:
        yield Lower("its replication count", able)
    if fixable or opened or able:
        return
    unread = sum(bool(cluster.trouble) for cluster in clusters)
    helps = f"make sure that {counted(unread, 'cluster')} can be read"
    yield Advice(helps if unread else f"add {counted(missing, 'cluster')} that can take it")


def _opening(openers: Sequence[Opener], able: int, missing: int) -> Drop:
    """The change of the app that opens as many clusters as are ``missing``, with the largest amounts that may stay."""
    names = ordered(openers[0].amounts)
    most = sorted(openers, key=lambda opener: [-opener.amounts[name] for name in names])[:missing]
    amounts = {name: min(opener.amounts[name] for opener in most) for name in names}
    count = sum(all(opener.amounts[name] >= amounts[name] for name in names) for opener in openers)
    return openers[0].leaving(amounts, f"{counted(able + count, 'cluster')} could take it")


def clash_text(clash: Clash, apps: Sequence[ClusterApp], able: Mapping[int, int], *, decided: bool) -> str:
    """Why apps have no lists of which each could have enough clusters by itself, and what is enough for all of them.

    ``able`` is how many clusters can take each app alone.
    """
    names = enumerated([apps[at].name for at in clash.apps], 10)
    sure = (
        "cannot all have enough clusters"
        if decided
        else "may not all have enough clusters, which was not decided in time"
    )
    first = f"Apps {names} {sure}: where they contend, a cluster takes only some of them."
    lines = [
        f"{apps[at].name}: {counted(able[at], 'cluster')} can take it alone, {apps[at].replication} "
        f"{'is' if apps[at].replication == 1 else 'are'} needed"
        for at in clash.apps
    ]
    return written(first, lines, [*_fixes_of_clash(clash, apps)])


def _fixes_of_clash(clash: Clash, apps: Sequence[ClusterApp]) -> Iterator[Fix]:
    """More clusters for some of the apps, or fewer copies of these."""
    if not clash.missing:
        yield Advice("add clusters that can take them, or lower their replication counts")
        return
    missing = [(apps[at], count) for at, count in clash.missing.items()]
    more = (f"{_clusters(count)} that can take app {app.name}" for app, count in missing)
    yield Advice(f"add {' and '.join(more)}")
    if all(app.replication > count for app, count in missing):
        fewer = (Lower(f"the replication count of app {app.name}", app.replication - count) for app, count in missing)
        yield Advice(" and ".join(map(str, fewer)))


def _clusters(count: int) -> str:
    return "a cluster" if count == 1 else counted(count, "cluster")
