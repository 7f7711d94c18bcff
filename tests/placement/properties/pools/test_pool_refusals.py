"""The refusal of a HostPool: each change that it names, made in every way that a reader could, helps as it says."""

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence

from hypothesis import assume, event, given
from msgspec.structs import replace

from tests.placement.properties import decision_core
from tests.placement.properties.clusters import Cluster, standing
from tests.placement.properties.pools.test_pool_hosts import CONTROL_PLANE, created, eligible, is_of, retained
from tests.placement.properties.random_choices import examples
from tests.placement.properties.strategies import clusters
from webhook.placement.checks.completion import Completion, complete
from webhook.placement.kube.selection.tolerations import CORDONED
from webhook.placement.objects.node import Node
from webhook.placement.objects.pool import Pool
from webhook.placement.request.world import World
from webhook.placement.text.fix import (
    AddNode,
    AllowNode,
    Fix,
    FreeNode,
    LabelNode,
    Lower,
    NodeFix,
    Partly,
    Uncordon,
    Untaint,
)
from webhook.placement.text.keys import EXCLUSIVE

Change = Callable[[Cluster, Pool, Node], Cluster]
"""The cluster once one node is changed for the pool."""


@given(clusters())
@examples(400)
def test_what_the_refusal_of_a_pool_proposes_completes_it(cluster: Cluster) -> None:
    """Either all of its hosts are there then, or as many nodes are eligible as the text says."""
    refusals = [(pool, found.refusal) for pool in created(cluster) if (found := completion(pool, cluster)).refusal]
    assume(refusals)
    for pool, refusal in refusals:
        assert refusal
        assert hosts(pool, cluster) < (pool.size or 0)
        for fix in refusal.fixes:
            event(type(fix.fix if isinstance(fix, Partly) else fix).__name__)
            check_fix(fix, pool, cluster)


def check_fix(fix: Fix, pool: Pool, cluster: Cluster) -> None:
    """The same of one fix of a pool."""
    most = max(hosts(*case) - (case[0].size or 0) for case in followed(fix, pool, cluster))
    short = int(fix.note.split()[0]) - (pool.size or 0) if isinstance(fix, Partly) else 0
    assert most == short, str(fix)


@given(clusters())
@examples(200)
def test_each_node_is_out_for_one_reason(cluster: Cluster) -> None:
    for pool in created(cluster):
        found = completion(pool, cluster)
        out = len(cluster.nodes) - len(able(pool, cluster))
        assert sum(reason.nodes.bit_count() for reason in found.reasons) == out
        assert bool(found.refusal) <= (hosts(pool, cluster) < (pool.size or 0))


def completion(pool: Pool, cluster: Cluster) -> Completion:
    """What is said of the pool."""
    return complete(pool, World(decision_core.inventory(cluster), decision_core.POLICY))


def able(pool: Pool, cluster: Cluster) -> set[str]:
    """Nodes that the pool could have, and hosts that it may keep."""
    kept = {name for index, name in retained(pool, cluster).items() if index < (pool.size or 0)}
    return kept | {node.name for node in cluster.nodes if eligible(pool, node, cluster)}


def hosts(pool: Pool, cluster: Cluster) -> int:
    """How many hosts the pool could have, no more than it asks for."""
    return min(len(able(pool, cluster)), pool.size or 0)


def followed(fix: Fix, pool: Pool, cluster: Cluster) -> Iterator[tuple[Pool, Cluster]]:
    """Pool and cluster after the change, for all nodes that it could be made to."""
    if isinstance(fix, Partly):
        yield from followed(fix.fix, pool, cluster)
    elif isinstance(fix, Lower):
        assert fix.what == "size"
        yield with_pool(cluster, replace(pool, size=fix.to))
    elif isinstance(fix, AddNode):
        labels = {key: "any" if value is None else value for key, value in fix.labels.items()}
        new = tuple(Node(f"zz-new-{at}", f"uid-{at}", labels, (), (), {}) for at in range(fix.count))
        yield pool, dataclasses.replace(cluster, nodes=(*cluster.nodes, *new))
    else:
        assert isinstance(fix, NodeFix), fix
        for chosen in itertools.combinations(cluster.nodes, fix.more):
            yield pool, changed(fix, pool, cluster, chosen)


def changed(fix: NodeFix, pool: Pool, cluster: Cluster, chosen: Sequence[Node]) -> Cluster:
    """The cluster once these nodes are changed as the fix says."""
    for node in chosen:
        cluster = change_of(fix)(cluster, pool, node)
    return cluster


def change_of(fix: NodeFix) -> Change:
    """What the fix does to one node."""
    if isinstance(fix, LabelNode):
        labels = {key: "any" if value is None else value for key, value in fix.labels.items()}
        return lambda cluster, _, node: with_node(cluster, replace(node, labels={**node.labels, **labels}))
    if isinstance(fix, Uncordon):
        return lambda cluster, _, node: without_taint(cluster, node, lambda taint: taint.key == CORDONED)
    if isinstance(fix, Untaint):
        return lambda cluster, _, node: without_taint(cluster, node, lambda taint: str(taint) == fix.taint)
    if isinstance(fix, AllowNode):
        return lambda cluster, _, node: with_node(
            cluster, replace(node, labels={key: to for key, to in node.labels.items() if key != CONTROL_PLANE})
        )
    assert isinstance(fix, FreeNode)
    return released if fix.how == "release" else emptied


def released(cluster: Cluster, pool: Pool, node: Node) -> Cluster:
    """No other exclusive pool has the node."""
    own = f"{pool.namespace}.{pool.name}"
    left = tuple(
        replace(other, assigned=tuple(host for host in other.assigned if host.name != node.name))
        if other.exclusive and other is not pool and node.name in standing(other, cluster.nodes).values()
        else other
        for other in cluster.pools
    )
    free = without_taint(cluster, node, lambda taint: taint.key == EXCLUSIVE and taint.value != own)
    return dataclasses.replace(free, pools=left)


def emptied(cluster: Cluster, pool: Pool, node: Node) -> Cluster:
    """No stranger to the pool runs on the node."""
    left = tuple(pod for pod in cluster.pods if pod.node != node.name or is_of(pod, pool, cluster))
    return dataclasses.replace(cluster, pods=left)


def without_taint(cluster: Cluster, node: Node, gone: Callable[..., bool]) -> Cluster:
    """The node has no such taints."""
    return with_node(cluster, replace(node, taints=tuple(taint for taint in node.taints if not gone(taint))))


def with_node(cluster: Cluster, node: Node) -> Cluster:
    """The cluster with this node in the place of the one of its name."""
    nodes = tuple(node if other.name == node.name else other for other in cluster.nodes)
    return dataclasses.replace(cluster, nodes=nodes)


def with_pool(cluster: Cluster, pool: Pool) -> tuple[Pool, Cluster]:
    """The cluster with this pool in the place of the one of its name, and that pool."""
    named = (pool.namespace, pool.name)
    pools = tuple(pool if (other.namespace, other.name) == named else other for other in cluster.pools)
    return pool, dataclasses.replace(cluster, pools=pools)
