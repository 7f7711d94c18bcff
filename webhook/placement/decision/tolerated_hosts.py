"""Ways round an exclusive host: a node name, the toleration of its taint, or a toleration of everything.

The check needs no patch, so it is made wherever a pod is decided about: when it is created, when it is finished, and
when the workload is submitted that is going to have it (``docs/hostpool.md``, exclusive pools).
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from webhook.placement.constraints.constraint import Constraint
from webhook.placement.constraints.exclusive import NoForeignExclusiveHosts, foreign_tolerations
from webhook.placement.constraints.topology_spread import TopologySpread
from webhook.placement.decision.verdict import judge
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.owner import of_daemon_set
from webhook.placement.kube.pod import Toleration
from webhook.placement.kube.selector import matching_all, requirements_of
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.problem import Fault, Problem

TOLERATIONS: Final = "spec.tolerations["
"""How the fields of tolerations begin in problems."""


def refuse_tolerations(ask: Ask, constraints: Iterable[Constraint], world: World) -> Iterator[Problem]:
    """A problem for each way round an exclusive host that the pod takes; none for a pod of a DaemonSet.

    That the references are true is for the caller to know.
    """
    spec = ask.spec
    tolerations = spec.tolerations or ()
    if not (tolerations or spec.node_name) or of_daemon_set(ask.references):
        return
    yield from foreign_tolerations(tolerations, own_pools(ask))
    if spec.node_name and world.named(spec.node_name) & foreign_hosts(own_pools(ask), world):
        yield Problem("spec.nodeName", "the node is exclusive to another HostPool", fault=Fault.FORBIDDEN)
    message = "a toleration of everything would let the pod onto hosts that are exclusive to another HostPool"
    if opened(ask, constraints, world):
        yield from (Problem(f"{TOLERATIONS}{at}]", message, fault=Fault.FORBIDDEN) for at in opening(ask, world))


def opening(ask: Ask, world: World) -> list[int]:
    """Which of the pod's tolerations are of everything, so that exclusive hosts are among it."""
    return [at for at, toleration in enumerate(ask.spec.tolerations or ()) if covers(toleration, world)]


def covers(toleration: Toleration, world: World) -> bool:
    """Whether it is a toleration of everything, the taint of exclusive hosts with its effect included."""
    return toleration.of_everything and toleration.effect in {None, "", world.policy.exclusive_effect}


def opened(ask: Ask, constraints: Iterable[Constraint], world: World, *, ever: bool = False) -> Bits:
    """The hosts, exclusive to others, that a toleration of everything lets the pod onto; none without one.

    With ``ever`` those count that may be exclusive one day: all that pools may use.
    """
    if not opening(ask, world):
        return 0
    hosts = (
        matching_all(world.inventory.nodes, requirements_of(world.policy.poolable))
        if ever
        else foreign_hosts(own_pools(ask), world)
    )
    return hosts and reach(constraints, world) & hosts


def own_pools(ask: Ask) -> frozenset[Name]:
    """The exclusive pools that the pod names."""
    return frozenset((pool.namespace, pool.name) for _, pool in ask.pools if pool.exclusive)


def foreign_hosts(own: Collection[Name], world: World) -> Bits:
    """Nodes that are exclusive to other pools than these."""
    return world.everything & ~NoForeignExclusiveHosts(tuple(own)).filter(world)


def reach(constraints: Iterable[Constraint], world: World) -> Bits:
    """The nodes that the pod's own clauses leave, but for what holds only as long as other pods lie as they do now.

    Standing conditions, exclusivity among them, are left aside.
    """
    lasting = [found for found in constraints if found.clause and not isinstance(found, TopologySpread)]
    return judge(lasting, world).candidates
