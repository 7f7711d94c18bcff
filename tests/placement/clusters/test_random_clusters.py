"""Lists over random small clusters are those that trying every way finds."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from tests.placement.clusters.cluster_worlds import GPU, answered, app, workload, world
from tests.suite.example_count import examples
from webhook.placement.clusters.answer import ClustersAnswer

Amounts = Mapping[str, int]
Chosen = tuple[frozenset[int], ...]

WISH = (
    f"[{{name: {GPU}, limits: 1, mandatory: false, weight: 4}}, "
    "{name: disk, value: ssd, mandatory: false, weight: 3}]"
)


class RandomApp(NamedTuple):
    """An app: what each of its pods requests, on how many clusters it is to run, whether it has optional wishes."""

    pods: tuple[tuple[int, int], ...]
    replication: int
    wishes: bool


class RandomCluster(NamedTuple):
    """A cluster: cores, GPUs, and whether the disk is an SSD, of each node; ``None`` if it cannot be read."""

    nodes: tuple[tuple[int, int, bool], ...] | None


APPS = st.lists(
    st.builds(
        RandomApp,
        st.lists(st.tuples(st.integers(1, 3), st.integers(0, 1)), min_size=1, max_size=3).map(tuple),
        st.integers(1, 3),
        st.booleans(),
    ),
    min_size=1,
    max_size=4,
)
CLUSTERS = st.lists(
    st.builds(
        RandomCluster,
        st.none()
        | st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.booleans()), min_size=1, max_size=3).map(tuple),
    ),
    min_size=1,
    max_size=4,
)


def fits(pods: Sequence[tuple[int, int]], nodes: Sequence[tuple[int, int]]) -> bool:
    """Whether all pods have room, found by trying every node for each."""
    if not pods:
        return True
    cpu, gpu = pods[0]
    return any(
        free[0] >= cpu
        and free[1] >= gpu
        and fits(pods[1:], [*nodes[:at], (free[0] - cpu, free[1] - gpu), *nodes[at + 1 :]])
        for at, free in enumerate(nodes)
    )


def together(apps: Sequence[RandomApp], chosen: frozenset[int], one: RandomCluster) -> bool:
    """Whether these apps fit into the cluster at the same time."""
    pods = [pod for at in sorted(chosen) for pod in apps[at].pods]
    return one.nodes is not None and fits(sorted(pods, reverse=True), [(cpu, gpu) for cpu, gpu, _ in one.nodes])


def maximal(apps: Sequence[RandomApp], among: Sequence[int], one: RandomCluster) -> list[frozenset[int]]:
    """The maximal sets among these apps that fit into the cluster together."""
    sets = [frozenset(some) for size in range(len(among) + 1) for some in combinations(among, size)]
    fitting = [some for some in sets if not some or together(apps, some, one)]
    return [some for some in fitting if not any(some < other for other in fitting)]


def ways(apps: Sequence[RandomApp], among: Sequence[int], clusters: Sequence[RandomCluster]) -> Iterator[Chosen]:
    """Every way to share the clusters with which each of these apps has as many as it is to run on."""
    for chosen in product(*(maximal(apps, among, one) for one in clusters)):
        if all(sum(at in some for some in chosen) >= apps[at].replication for at in among):
            yield chosen


def answer_about(apps: Sequence[RandomApp], clusters: Sequence[RandomCluster]) -> ClustersAnswer:
    """The answer of the product."""
    found = []
    for at, one in enumerate(apps):
        workloads = [
            workload(f"w{place}", cpu=cpu, gpu=gpu, hardware=WISH if one.wishes and not gpu else "")
            for place, (cpu, gpu) in enumerate(one.pods)
        ]
        found.append(app(f"app-{at}", *workloads, replication=one.replication))
    worlds = {
        f"c{at}": "is down"
        if one.nodes is None
        else world(
            *({"cpu": cpu, "gpu": gpu} for cpu, gpu, _ in one.nodes),
            labels=[{"disk": "ssd" if ssd else "hdd"} for _, _, ssd in one.nodes],
        )
        for at, one in enumerate(clusters)
    }
    return answered(found, worlds)


@examples(150)
@given(APPS, CLUSTERS)
def test_lists_are_those_of_every_way(apps: list[RandomApp], clusters: list[RandomCluster]) -> None:
    found = answer_about(apps, clusters)
    names = [f"c{at}" for at in range(len(clusters))]
    alone = {at: sum(together(apps, frozenset((at,)), one) for one in clusters) for at in range(len(apps))}
    able = [at for at in alone if alone[at] >= apps[at].replication]
    listed = {int(name.removeprefix("app-")): set(one.allowed(names)) for name, one in found.apps.items()}
    assert set(listed) <= set(able)
    # An app is refused if it has too few clusters by itself, or if there is no way for all that have not.
    assert (set(listed) == set(able)) == any(True for _ in ways(apps, able, clusters))
    # Whatever is chosen from the lists can run together, and nothing could be added to a list.
    kept = tuple(frozenset(at for at, mine in listed.items() if name in mine) for name in names)
    for some, one in zip(kept, clusters, strict=True):
        assert some in maximal(apps, sorted(listed), one)
    for at, mine in listed.items():
        assert len(mine) >= apps[at].replication
    # The shorter list is given, and one that is equally long allows.
    for name, one in found.apps.items():
        count = len(listed[int(name.removeprefix("app-"))])
        assert (one.allow is None) == (len(clusters) - count < count)
        assert one.replication_count == apps[int(name.removeprefix("app-"))].replication
    assert found.unread == {name: "is down" for name, one in zip(names, clusters, strict=True) if one.nodes is None}


def weight_of(at: int, apps: Sequence[RandomApp], one: RandomCluster) -> int:
    """The weights that a cluster adds to an app: of each pod with wishes, those that one node with room meets."""
    found = 0
    for cpu, gpu in apps[at].pods if apps[at].wishes else ():
        roomy = [node for node in one.nodes or () if node[0] >= cpu] if not gpu else []
        if roomy:
            with_gpu = [node for node in roomy if node[1]]
            left = with_gpu or roomy
            found += 4 * bool(with_gpu) + 3 * any(ssd for _, _, ssd in left)
    return found


def worth(
    chosen: Chosen, apps: Sequence[RandomApp], clusters: Sequence[RandomCluster], among: Sequence[int]
) -> tuple[int, int]:
    """What is largest for the best way: weights of the best clusters of each app, then how even the lists are."""
    total, even = 0, 0
    for at in among:
        mine = [place for place, some in enumerate(chosen) if at in some]
        weights = sorted((weight_of(at, apps, clusters[place]) for place in mine), reverse=True)
        total += sum(weights[: apps[at].replication])
        most = len(clusters) - apps[at].replication
        even += sum(most + 1 - level for level in range(len(mine) - apps[at].replication))
    return total, even


@examples(150)
@given(APPS, CLUSTERS)
def test_no_way_to_share_is_worth_more(apps: list[RandomApp], clusters: list[RandomCluster]) -> None:
    found = answer_about(apps, clusters)
    names = [f"c{at}" for at in range(len(clusters))]
    listed = {int(name.removeprefix("app-")): one for name, one in found.apps.items()}
    among = sorted(listed)
    chosen = tuple(frozenset(at for at in among if name in listed[at].allowed(names)) for name in names)
    best = max(worth(other, apps, clusters, among) for other in ways(apps, among, clusters))
    assert worth(chosen, apps, clusters, among) == best
    for at, one in listed.items():
        mine = {
            name: weight
            for name, other in zip(names, clusters, strict=True)
            if name in one.allowed(names) and (weight := weight_of(at, apps, other))
        }
        assert one.weights == mine
        ranked = sorted(one.allowed(names), key=lambda name: (-mine.get(name, 0), name))
        assert one.best == tuple(ranked[: apps[at].replication])
