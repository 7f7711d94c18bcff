"""The hosts that pools are given, against rules asked node by node."""

import msgspec
from hypothesis import given

from tests.placement.properties import decision_core
from tests.placement.properties.clusters import Cluster, digest, standing
from tests.placement.properties.inventory.test_order import shuffled
from tests.placement.properties.oracle.node_check import MEMBERSHIP, Oracle
from tests.placement.properties.oracle.selectors import selector_holds
from tests.placement.properties.random_choices import RandomChoices, drawn, examples
from tests.placement.properties.strategies import clusters
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Pool
from webhook.placement.pools.allocation import allocate

PREFIX = "streams.ibm.com/"
CONTROL_PLANE = "node-role.kubernetes.io/control-plane"


def eligible(pool: Pool, node: Node, cluster: Cluster) -> bool:
    """Whether the node could become a host of the pool."""
    others = [other for other in cluster.pools if other.exclusive and other is not pool]
    here = [pod for pod in cluster.pods if pod.node == node.name and pod.job]
    own = (f"{PREFIX}exclusive", f"{pool.namespace}.{pool.name}")
    return (
        CONTROL_PLANE not in node.labels
        and tagged(pool, node)
        and (pool.selector is None or selector_holds(msgspec.to_builtins(pool.selector), node.labels))
        and all(taint.effect == "PreferNoSchedule" or (taint.key, taint.value) == own for taint in node.taints)
        and not any(node.name in standing(other, cluster.nodes).values() for other in others)
        and (not pool.exclusive or all(is_of(pod, pool, cluster) for pod in here))
    )


def tagged(pool: Pool, node: Node) -> bool:
    """Whether the node carries the label of the only tag, or of each of several."""
    if len(pool.tags) == 1:
        return node.labels.get(f"{PREFIX}hostpool") == pool.tags[0]
    return all(f"hostpool.streams.ibm.com/{tag}" in node.labels for tag in pool.tags)


def is_of(pod: PodInfo, pool: Pool, cluster: Cluster) -> bool:
    """Whether the pod asks for this pool, by a name that means it and nothing else for a pod of that job."""
    named = [found for found in cluster.pools if (found.namespace, found.spl_name) == (pod.namespace, pool.spl_name)]
    meant = [found for found in named if found.job == pod.job] or [found for found in named if found.job is None]
    return pool.spl_name in pod.pools and meant == [pool]


def exclusive(node: Node, cluster: Cluster) -> bool:
    """Whether the node is closed for an exclusive pool, by its taint or by the pool's status."""
    tainted = any(taint.key == f"{PREFIX}exclusive" and taint.effect != "PreferNoSchedule" for taint in node.taints)
    pools = (pool for pool in cluster.pools if pool.exclusive)
    return tainted or any(node.name in standing(pool, cluster.nodes).values() for pool in pools)


def retained(pool: Pool, cluster: Cluster) -> dict[int, str]:
    """Those hosts of the pool's status that it may keep: with its mark, or poolable and no other pool's.

    The status of a pool may be forged.
    """
    mark = f"{MEMBERSHIP}{digest(f'{pool.namespace}/{pool.name}')}"
    own = f"{pool.namespace}.{pool.name}"
    others = [other for other in cluster.pools if other.exclusive and other is not pool]

    def stays(node: Node) -> bool:
        taints = [
            taint for taint in node.taints if taint.key == f"{PREFIX}exclusive" and taint.effect != "PreferNoSchedule"
        ]
        if mark in node.labels or any(taint.value == own for taint in taints):
            return True
        claimed = any(node.name in standing(other, cluster.nodes).values() for other in others)
        return not (CONTROL_PLANE in node.labels or claimed or taints)

    able = {node.name for node in cluster.nodes if stays(node)}
    return {index: name for index, name in standing(pool, cluster.nodes).items() if name in able}


def created(cluster: Cluster) -> list[Pool]:
    return [pool for pool in cluster.pools if pool.size is not None]


@given(clusters())
@examples(300)
def test_a_pool_is_completed_from_the_eligible_nodes(cluster: Cluster) -> None:
    """What it has stays at its index, what is missing is filled in, nothing is given twice."""
    inventory = decision_core.inventory(cluster)
    for pool in created(cluster):
        allocation = allocate(pool, inventory, decision_core.POLICY)
        found = {host.index: host.name for host in allocation.hosts}
        kept = {index: name for index, name in retained(pool, cluster).items() if index < (pool.size or 0)}
        could = {node.name for node in cluster.nodes if eligible(pool, node, cluster)}
        assert found.items() >= kept.items()
        assert len(set(found.values())) == len(allocation.hosts)
        assert {name for index, name in found.items() if index not in kept} <= could
        assert allocation.eligible == len(could | set(kept.values()))
        assert len(found) == min(pool.size or 0, allocation.eligible)
        assert bool(allocation.reason) == (len(found) < (pool.size or 0))
        assert list(found) == sorted(found)


@given(clusters())
@examples(150)
def test_every_host_is_written_down_with_the_identity_of_its_node(cluster: Cluster) -> None:
    inventory = decision_core.inventory(cluster)
    there = {(node.name, node.uid) for node in cluster.nodes}
    for pool in cluster.pools:
        if pool.sized:
            assert {(host.name, host.uid) for host in allocate(pool, inventory, decision_core.POLICY).hosts} <= there


@given(clusters())
@examples(150)
def test_a_literal_pool_has_its_hosts_in_its_own_order(cluster: Cluster) -> None:
    inventory, judge = decision_core.inventory(cluster), Oracle({}, "", cluster, {})
    for pool in cluster.pools:
        if pool.hosts is None:
            continue
        allocation = allocate(pool, inventory, decision_core.POLICY)
        stays = {
            index: name
            for index, name in retained(pool, cluster).items()
            if ":" in pool.hosts[index] or pool.hosts[index][:1].isdigit()
        }
        meant = [
            [stays[index]] if index in stays else [node.name for node in cluster.nodes if judge.is_host(node, text)]
            for index, text in enumerate(pool.hosts)
        ]
        has = retained(pool, cluster)
        closed = {node.name for node in cluster.nodes if CONTROL_PLANE in node.labels or exclusive(node, cluster)}
        single = [
            found[0]
            for index, found in enumerate(meant)
            if len(found) == 1 and (found[0] not in closed or found[0] == has.get(index))
        ]
        for host in allocation.hosts:
            assert meant[host.index] == [host.name]
        assert {host.name for host in allocation.hosts} == set(single)
        assert bool(allocation.reason) == (len(set(single)) < len(pool.hosts))


@given(clusters(), drawn(18, lambda choices: choices))
@examples(150)
def test_the_hosts_do_not_depend_on_the_order_of_things(cluster: Cluster, choices: RandomChoices) -> None:
    one, two = decision_core.inventory(cluster), decision_core.inventory(shuffled(choices, cluster))
    for pool in cluster.pools:
        if pool.sized:
            assert allocate(pool, one, decision_core.POLICY) == allocate(pool, two, decision_core.POLICY)


@given(clusters())
@examples(150)
def test_a_pool_that_has_its_hosts_keeps_them(cluster: Cluster) -> None:
    inventory = decision_core.inventory(cluster)
    for pool in created(cluster):
        hosts = allocate(pool, inventory, decision_core.POLICY).hosts
        settled = msgspec.structs.replace(pool, assigned=hosts)
        inventory.set_pool(settled)
        assert allocate(settled, inventory, decision_core.POLICY).hosts == hosts
