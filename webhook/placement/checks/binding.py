"""May a pod that waits be bound to a node? As far as its pools, and what it demands of the node, can tell.

Neighbours, room and taints are the scheduler's business (``docs/admission.md``, bindings).
"""

from webhook.placement.checks.sleepers import demanded
from webhook.placement.constraints.exclusive import NoForeignExclusiveHosts
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.objects import PodInfo
from webhook.placement.pools.allocation import pool_of
from webhook.placement.request.world import World


def waiting(uid: str, namespace: str, name: str, inventory: Inventory) -> PodInfo | None:
    """The pod that waits, if it is of a job or a sleeper, by its uid or, where none is given, by its name."""
    if uid:
        return inventory.waiting.get(uid)
    pods = (pod for pod in inventory.waiting.values() if pod.namespace == namespace)
    return next((pod for pod in pods if pod.demand and pod.demand.name == name), None)


def closed(node: str, world: World) -> bool:
    """Whether the node is exclusive to some HostPool."""
    return bool(world.named(node) & world.inventory.pools.exclusive())


def obstacle(pod: PodInfo, node: str, world: World) -> str:
    """Why the pod must not be bound to the node, or nothing; an unknown node is the API server's to refuse."""
    there = world.named(node)
    if not there:
        return ""
    own = [pool for name in pod.pools for pool in pool_of(name, pod.namespace, pod.job, world.inventory)]
    exclusive = tuple((pool.namespace, pool.name) for pool in own if pool.exclusive)
    if not there & NoForeignExclusiveHosts(exclusive).filter(world):
        return f"node {node} is exclusive to another HostPool"
    # Labels are written before a pool says who its hosts are, and seen after: what either tells will do.
    demand = pod.demand if pod.job else None
    if demand and not there & (demanded(demand, world) | demanded(demand, world.inventory.nodes)):
        return f"node {node} does not meet the pod's node selector or required node affinity"
    return ""
