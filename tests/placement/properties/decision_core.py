"""The decision core, asked about a pod in a plain cluster."""

import functools
import operator
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from tests.placement.properties.clusters import TEAM, Cluster, Name, standing
from tests.placement.properties.oracle.node_check import Oracle
from webhook.placement.decision.decision import Decision, decide
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Pod
from webhook.placement.objects.pool import Phase
from webhook.placement.pools.allocation import allocate
from webhook.placement.request.world import World

POLICY = Policy()


def inventory(cluster: Cluster, spared: Collection[str] | None = None) -> Inventory:
    """The cluster as the core knows it, built in one go."""
    found = Inventory(spared)
    for node in cluster.nodes:
        found.set_node(node)
    for pool in cluster.pools:
        found.set_pool(pool)
    for job in cluster.jobs:
        found.set_job(job)
    for pod in cluster.pods:
        found.set_pod(pod)
    return found


def read(source: Mapping[str, Any]) -> Pod:
    """The pod as a review carries it."""
    return msgspec.json.decode(msgspec.json.encode(source), type=Pod)


def decided(source: Mapping[str, Any], cluster: Cluster) -> Decision:
    """How the core judges a pod of the team."""
    return decide(read(source), TEAM, World(inventory(cluster), POLICY))


def names(bits: int, found: Inventory) -> set[str]:
    """A set of nodes by name."""
    return {name for slot, name in found.nodes.names.items() if bits >> slot & 1}


def candidates(source: Mapping[str, Any], found: Inventory) -> set[str] | None:
    """The nodes that the verdict leaves; ``None`` for a pod that is refused before it is judged."""
    verdict = decide(read(source), TEAM, World(found, POLICY)).verdict
    return None if verdict is None else names(verdict.candidates, found)


def able(source: Mapping[str, Any], found: Inventory) -> set[str] | None:
    """The nodes that could run the pod without what it only wants; ``None`` for a pod that is refused before that."""
    verdict = decide(read(source), TEAM, World(found, POLICY)).verdict
    if verdict is None:
        return None
    return names(functools.reduce(operator.and_, (judged.nodes for judged in verdict.hard), verdict.everything), found)


def hosts_of_pools(cluster: Cluster) -> dict[Name, dict[int, str]]:
    """The hosts that every sized or literal pool has, or would get where some are missing.

    A pool that was never ready is given all of its hosts or none.
    """
    found: dict[Name, dict[int, str]] = {}
    whole: Inventory | None = None
    for pool in cluster.pools:
        if not pool.sized:
            continue
        kept = standing(pool, cluster.nodes)
        if pool.phase is not Phase.READY or len(kept) < len(pool.assigned):
            whole = whole or inventory(cluster)
            allocation = allocate(pool, whole, POLICY)
            some = pool.phase is Phase.READY or pool.elastic or not allocation.reason
            kept = {host.index: host.name for host in allocation.hosts} if some else {}
        found[pool.namespace, pool.name] = kept
    return found


def oracle(source: Mapping[str, Any], cluster: Cluster) -> Oracle:
    """The independent judge of the same pod."""
    return Oracle(source, TEAM, cluster, hosts_of_pools(cluster))
