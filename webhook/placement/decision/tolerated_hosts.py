"""Refusal of pods that could get onto another pool's exclusive host, by node name or by what they tolerate.

The ways are ``spec.nodeName``, a toleration of the exclusive taint, and a toleration of everything. They are refused
wherever a pod is judged: at ``/mutate``, at ``/validate``, and when the workload is submitted that is going to
create the pod (``docs/hostpool.md``, exclusive pools).
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from webhook.placement.constraints.constraint import Constraint
from webhook.placement.constraints.families import exclusive_to_none_but
from webhook.placement.decision.verdict import judge
from webhook.placement.inventory.exclusive_taint import foreign_tolerations
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.owner import of_daemon_set
from webhook.placement.kube.pod import Toleration
from webhook.placement.kube.selection.selector import matching_all, requirements_of
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault, Problem

TOLERATIONS: Final = "spec.tolerations["
"""Prefix of the field of a problem about a toleration; its index follows."""

RUNTIME_CLASS: Final = "spec.runtimeClassName"
"""The field of a problem about a toleration that the pod's RuntimeClass adds."""


def refuse_tolerations(
    ask: Ask, constraints: Iterable[Constraint], world: World, *, named: bool = True
) -> Iterator[Problem]:
    """A problem for each way onto another pool's exclusive host that the pod takes; none for a pod of a DaemonSet.

    Without ``named`` none for its node name. The caller must know that the pod's owner references are true.
    """
    spec = ask.spec
    tolerations = spec.tolerations or ()
    if not (spec.node_name or may_open(tolerations)) or of_daemon_set(ask.references):
        return
    yield from foreign_tolerations(tolerations, {*own_pools(ask), *ask.closed_pools})
    if named and spec.node_name and world.named(spec.node_name) & foreign_hosts(own_pools(ask), world):
        yield Problem("spec.nodeName", "the node is exclusive to another HostPool", fault=Fault.FORBIDDEN)
    if opened(ask, constraints, world):
        yield from of_everything(ask, world)


def of_everything(ask: Ask, world: World) -> Iterator[Problem]:
    """A problem for each of the pod's tolerations of everything."""
    message = "a toleration of everything would let the pod onto hosts that are exclusive to another HostPool"
    for at in opening(ask, world):
        yield Problem(toleration_field(ask, at), message, fault=Fault.FORBIDDEN)


def toleration_field(ask: Ask, at: int) -> str:
    """The field to which the pod owes the toleration: that of the RuntimeClass for one that the class adds."""
    runtime = ask.completed.plugins.runtime if ask.completed else None
    tolerations = ask.spec.tolerations or ()
    return RUNTIME_CLASS if runtime and tolerations[at] in runtime.tolerations else f"{TOLERATIONS}{at}]"


def may_open(tolerations: Iterable[Toleration]) -> bool:
    """Whether one of the tolerations is of any taint, or of that of exclusive hosts; few pods have such."""
    for toleration in tolerations:  # noqa: SIM110 -- a generator takes three times as long
        if not toleration.key or toleration.key == keys.EXCLUSIVE:
            return True
    return False


def opening(ask: Ask, world: World) -> list[int]:
    """Indexes of the pod's tolerations of everything that cover the taint of exclusive hosts."""
    return [at for at, toleration in enumerate(ask.spec.tolerations or ()) if covers(toleration, world)]


def covers(toleration: Toleration, world: World) -> bool:
    """Whether the toleration is of everything, and covers the effect of the taint of exclusive hosts."""
    return toleration.of_everything and toleration.effect in {None, "", world.policy.exclusive_effect}


def opened(ask: Ask, constraints: Iterable[Constraint], world: World, *, ever: bool = False) -> Bits:
    """Exclusive hosts of other pools that the pod can reach by a toleration of everything; empty without one.

    With ``ever`` all hosts count that pools may use, since these may be exclusive one day.
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
    """Nodes that are exclusive to a pool that is not in ``own``."""
    return world.everything & ~exclusive_to_none_but(tuple(own)).filter(world)


def reach(constraints: Iterable[Constraint], world: World) -> Bits:
    """The nodes that the pod's own clauses leave.

    Two kinds of constraints are left out: those without a clause, exclusivity among them, and topology spread, which
    depends on where other pods are now.
    """
    lasting = [constraint for constraint in constraints if constraint.clause and not constraint.topology]
    return judge(lasting, world).candidates
