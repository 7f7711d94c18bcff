"""May a pod that waits be bound to a node? As far as its pools, and what it demands of the node, can tell.

Neighbours, room and taints are the scheduler's business; of a pod that is not known nothing is said
(``docs/admission.md``, bindings).
"""

from webhook.placement.allocation import pool_of
from webhook.placement.bits import Bits
from webhook.placement.cluster import BoundPod, Claim
from webhook.placement.constraints.exclusive import NobodyElses
from webhook.placement.inventory import Inventory
from webhook.placement.selector import Nodes, matching_all, matching_any
from webhook.placement.world import World


def waiting(uid: str, namespace: str, name: str, cluster: Inventory) -> BoundPod | None:
    """The pod of a job that waits, by its uid or, where none is given, by its name."""
    if uid:
        return cluster.waiting.get(uid)
    pods = (pod for pod in cluster.waiting.values() if pod.namespace == namespace)
    return next((pod for pod in pods if pod.claim and pod.claim.name == name), None)


def obstacle(pod: BoundPod, node: str, world: World) -> str:
    """Why the pod must not be bound to the node, or nothing; an unknown node is the API server's to refuse."""
    there = world.named(node)
    if not there:
        return ""
    own = [pool for name in pod.pools for pool in pool_of(name, pod.namespace, pod.job, world.cluster)]
    exclusive = tuple((pool.namespace, pool.name) for pool in own if pool.exclusive)
    if not there & NobodyElses(exclusive).filter(world):
        return f"node {node} is exclusive to another HostPool"
    # Labels are written before a pool says who its hosts are, and seen after: what either tells will do.
    if pod.claim and not there & (_demanded(pod.claim, world) | _demanded(pod.claim, world.cluster.nodes)):
        return f"node {node} does not meet the pod's node selector or required node affinity"
    return ""


def _demanded(claim: Claim, nodes: Nodes) -> Bits:
    found = matching_all(nodes, claim.selector)
    return found if claim.terms is None else found & matching_any(nodes, claim.terms)
