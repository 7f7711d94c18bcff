"""Pods that wait for a node: whether such a pod may be bound to a node, and which waiting pods are sleepers.

A sleeper tolerates the taint of exclusive hosts, or every taint. Sleepers were admitted while no host was exclusive;
when a pool takes hosts for itself, a sleeper may be scheduled to one of these (``docs/hostpool.md``, sleepers). Pods of
DaemonSets are not sleepers, since each is tied to a node of its own, and pods of excluded namespaces are not counted.

A binding is checked against HostPools and against what the pod demands of its node (node selector, required node
affinity). Other pods, room and taints are left to the scheduler (``docs/admission.md``, bindings).
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from webhook.placement.constraints.constraint import Constraint
from webhook.placement.constraints.families import exclusive_to_none_but
from webhook.placement.decision.tolerated_hosts import TOLERATIONS, covers, foreign_hosts, own_pools, reach
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.pod import Pod, Toleration
from webhook.placement.kube.selection.selector import Nodes, matching_all, matching_any
from webhook.placement.kube.selection.tolerations import tolerates
from webhook.placement.objects.pod import NodeDemand, PodInfo
from webhook.placement.objects.pool import Pool
from webhook.placement.pools.allocation import is_user, pool_of
from webhook.placement.pools.pool_plan import taint_of
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.keys import EXCLUSIVE, exclusive
from webhook.placement.text.problem import Fault, Problem

LOOSE: Final = (
    "a toleration of everything would let the pod onto hosts that are exclusive to another HostPool: "
    "let it select other nodes before its last scheduling gate is removed, or create a new pod without the toleration"
)
"""Message for a sleeper that must keep its last scheduling gate."""

NARROWED: Final = (
    "with a toleration of everything the pod could run only on hosts that are exclusive to another HostPool: "
    "let it select other nodes"
)
"""Message for a sleeper with scheduling gates that must not select only these nodes."""


def sleeper_changed(new: Pod, old: Pod) -> bool:
    """Whether the update of a sleeper with scheduling gates removes a gate, or selects other nodes.

    The API server allows a pod to select other nodes only while it has gates.
    """
    was, now = old.spec, new.spec
    if was is None or now is None or not was.scheduling_gates or not opening(now.tolerations):
        return False
    before = was.scheduling_gates, was.node_selector, was.affinity
    return before != (now.scheduling_gates, now.node_selector, now.affinity)


def refuse_sleeper(ask: Ask, constraints: Iterable[Constraint], world: World) -> Iterator[Problem]:
    """A problem for each toleration of a sleeper that opens exclusive hosts after a change of its gates or its nodes.

    A sleeper without gates must reach no exclusive host of another pool. A sleeper with gates can still be given other
    nodes, so there is a problem only if it can reach nothing but such hosts.
    """
    gated, reached = bool(ask.spec.scheduling_gates), None
    own = own_pools(ask)
    for at, toleration in enumerate(ask.spec.tolerations or ()):
        opened = _opened(toleration, own, world) if _opens(toleration) else 0
        if not opened:
            continue
        reached = reach(constraints, world) if reached is None else reached
        if reached & opened and not (gated and reached & ~opened):
            yield Problem(f"{TOLERATIONS}{at}]", NARROWED if gated else LOOSE, fault=Fault.FORBIDDEN)


def opening(tolerations: Sequence[Toleration] | None) -> tuple[Toleration, ...]:
    """The tolerations that may match the taint of exclusive hosts."""
    return tuple(filter(_opens, tolerations)) if tolerations else ()


def sleepers(pool: Pool, hosts: Bits, inventory: Inventory, policy: Policy) -> int:
    """How many waiting pods of others tolerate the taint of the pool and select one of its ``hosts``."""
    taint = taint_of(pool, policy)
    if taint is None or not hosts:
        return 0
    count = 0
    for pod in inventory.sleepers.values():
        demand = pod.demand
        if demand is None or pod.terminating or pod.namespace in policy.excluded or is_user(pod, pool, inventory):
            continue
        tolerated = any(tolerates(toleration, taint) for toleration in demand.tolerates)
        count += bool(tolerated and hosts & demanded(demand, inventory.nodes))
    return count


def sleepers_text(count: int) -> str:
    """The number of sleepers as a sentence for the author of the pool."""
    which = "pending pod tolerates its taint and may" if count == 1 else "pending pods tolerate its taint and may"
    return f"{count} {which} be bound to its hosts"


def demanded(demand: NodeDemand, nodes: Nodes) -> Bits:
    """The nodes that meet the demand: its node selector and required node affinity."""
    nodes_demanded = matching_all(nodes, demand.selector)
    return nodes_demanded if demand.terms is None else nodes_demanded & matching_any(nodes, demand.terms)


def _opens(toleration: Toleration) -> bool:
    """Whether the toleration may cover the taint of exclusive hosts."""
    return toleration.of_everything or toleration.key == EXCLUSIVE


def _opened(toleration: Toleration, own: Collection[Name], world: World) -> Bits:
    """The exclusive hosts of pools not in ``own`` whose taint the toleration covers."""
    if toleration.of_everything:
        return foreign_hosts(own, world) if covers(toleration, world) else 0
    values = {exclusive(*name) for name in own}
    opened = 0
    for taint, nodes in world.inventory.nodes.taints.get(EXCLUSIVE, {}).items():
        if taint.value not in values and tolerates(toleration, taint):
            opened |= nodes
    return opened


def waiting_pod(uid: str, namespace: str, name: str, inventory: Inventory) -> PodInfo | None:
    """The waiting pod of that uid or, without a uid, of that name; ``None`` if it is neither of a job nor a sleeper."""
    if uid:
        return inventory.waiting.get(uid)
    pods = (pod for pod in inventory.waiting.values() if pod.namespace == namespace)
    return next((pod for pod in pods if pod.demand and pod.demand.name == name), None)


def is_exclusive(node: str, world: World) -> bool:
    """Whether the node is exclusive to some HostPool."""
    return bool(world.named(node) & world.inventory.pools.exclusive())


def obstacle(pod: PodInfo, node: str, world: World) -> str:
    """Why the pod must not be bound to the node; empty if it may, or if the node is not known."""
    there = world.named(node)
    if not there:
        return ""
    own = [pool for name in pod.pools for pool in pool_of(name, pod.namespace, pod.job, world.inventory)]
    exclusive = tuple((pool.namespace, pool.name) for pool in own if pool.exclusive)
    if not there & exclusive_to_none_but(exclusive).filter(world):
        return f"node {node} is exclusive to another HostPool"
    # The controller labels a host before the pool's status names it, and either may be seen first: one of both will do.
    demand = pod.demand if pod.job else None
    if demand and not there & (demanded(demand, world) | demanded(demand, world.inventory.nodes)):
        return f"node {node} does not meet the pod's node selector or required node affinity"
    return ""
