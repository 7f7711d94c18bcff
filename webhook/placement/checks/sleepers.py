"""Sleepers: pods that wait for a node and tolerate the taint of exclusive hosts, or every taint.

They were admitted while nothing was exclusive, and nothing was wrong with them then; when a pool takes hosts for itself
they may come to these all the same (``docs/hostpool.md``, sleepers). Pods of DaemonSets are none, as they go with their
node, and nobody counts those of namespaces that are left alone.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from webhook.placement.constraints.constraint import Constraint
from webhook.placement.constraints.taints import tolerates
from webhook.placement.decision.tolerated_hosts import TOLERATIONS, covers, foreign_hosts, own_pools, reach
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.objects import NodeDemand, Pool
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.pod import Pod, Toleration
from webhook.placement.kube.selector import Nodes, matching_all, matching_any
from webhook.placement.pools.allocation import is_user
from webhook.placement.pools.pool_plan import taint_of
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.keys import EXCLUSIVE, exclusive
from webhook.placement.text.problem import Fault, Problem

LOOSE: Final = (
    "a toleration of everything would let the pod onto hosts that are exclusive to another HostPool: "
    "let it select other nodes before its last gate goes, or make a new pod without the toleration"
)
"""Why a pod keeps its last scheduling gate."""

NARROWED: Final = (
    "with a toleration of everything the pod could go to nothing but hosts that are exclusive to another HostPool: "
    "let it select other nodes"
)
"""Why a pod that has gates must not select these nodes."""


def stirred(new: Pod, old: Pod) -> bool:
    """Whether a sleeper with scheduling gates loses one, or selects other nodes: only then can it do so."""
    was, now = old.spec, new.spec
    if was is None or now is None or not was.scheduling_gates or not opening(now.tolerations):
        return False
    before = was.scheduling_gates, was.node_selector, was.affinity
    return before != (now.scheduling_gates, now.node_selector, now.affinity)


def stir(ask: Ask, constraints: Iterable[Constraint], world: World) -> Iterator[Problem]:
    """What is wrong with a sleeper whose gates have changed, or its nodes.

    Without any gate it must reach no exclusive host of others. While it has one it may still be sent elsewhere, so it
    is only wrong to leave it no other node.
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
    """Those of the tolerations that a taint of exclusive hosts may be covered by."""
    return tuple(filter(_opens, tolerations)) if tolerations else ()


def sleepers(pool: Pool, hosts: Bits, inventory: Inventory, policy: Policy) -> int:
    """How many pods wait that tolerate the taint of the pool, are not its own, and may select one of the hosts."""
    taint = taint_of(pool, policy)
    if taint is None or not hosts:
        return 0
    found = 0
    for pod in inventory.sleepers.values():
        demand = pod.demand
        if demand is None or pod.terminating or pod.namespace in policy.excluded or is_user(pod, pool, inventory):
            continue
        tolerated = any(tolerates(toleration, taint) for toleration in demand.tolerates)
        found += bool(tolerated and hosts & demanded(demand, inventory.nodes))
    return found


def in_words(count: int) -> str:
    """So many sleepers, for the author of the pool."""
    which = "pod that waits tolerates its taint and may" if count == 1 else "pods that wait tolerate its taint and may"
    return f"{count} {which} come to its hosts"


def demanded(demand: NodeDemand, nodes: Nodes) -> Bits:
    """The nodes that the pod selects."""
    found = matching_all(nodes, demand.selector)
    return found if demand.terms is None else found & matching_any(nodes, demand.terms)


def _opens(toleration: Toleration) -> bool:
    return toleration.of_everything or toleration.key == EXCLUSIVE


def _opened(toleration: Toleration, own: Collection[Name], world: World) -> Bits:
    """The exclusive hosts of others that the toleration opens."""
    if toleration.of_everything:
        return foreign_hosts(own, world) if covers(toleration, world) else 0
    values = {exclusive(*name) for name in own}
    found = 0
    for taint, nodes in world.inventory.nodes.taints.get(EXCLUSIVE, {}).items():
        if taint.value not in values and tolerates(toleration, taint):
            found |= nodes
    return found
