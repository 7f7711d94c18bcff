"""Ways round an exclusive host: a node name, the toleration of its taint, or a toleration of everything.

The check needs no patch, so it is made wherever a pod is decided about: when it is created, when it is finished, and
when the workload is submitted that is going to have it (``docs/hostpool.md``, exclusive pools).
"""

from collections.abc import Iterable, Iterator
from typing import Final

from webhook.placement.ask import Ask
from webhook.placement.bits import Bits
from webhook.placement.constraint import Constraint
from webhook.placement.constraints.exclusive import NobodyElses, foreign_tolerations
from webhook.placement.constraints.topology_spread import Evenly
from webhook.placement.problem import Fault, Problem
from webhook.placement.verdict import judge
from webhook.placement.world import World

TOLERATIONS: Final = "spec.tolerations["
"""How the fields of tolerations begin in problems."""

_EXEMPT: Final = "DaemonSet"
"""Kind of the controller whose pods run on every node, on exclusive hosts too: no node is of use without them."""


def trespass(ask: Ask, constraints: Iterable[Constraint], world: World) -> Iterator[Problem]:
    """A problem for each way round an exclusive host that the pod takes; none for a pod of a DaemonSet."""
    spec = ask.spec
    tolerations = spec.tolerations or ()
    if not (tolerations or spec.node_name) or _exempt(ask):
        return
    own = {(pool.namespace, pool.name) for _, pool in ask.pools if pool.exclusive}
    yield from foreign_tolerations(tolerations, own)
    effects = {None, "", world.policy.exclusive_effect}
    open_to_all = [at for at, found in enumerate(tolerations) if found.of_everything and found.effect in effects]
    if not (open_to_all or spec.node_name):
        return
    foreign = world.everything & ~NobodyElses(tuple(own)).filter(world)
    if spec.node_name and world.named(spec.node_name) & foreign:
        yield Problem("spec.nodeName", "the node is exclusive to another HostPool", fault=Fault.FORBIDDEN)
    if open_to_all and foreign and reach(constraints, world) & foreign:
        message = "a toleration of everything would let the pod onto hosts that are exclusive to another HostPool"
        yield from (Problem(f"spec.tolerations[{at}]", message, fault=Fault.FORBIDDEN) for at in open_to_all)


def _exempt(ask: Ask) -> bool:
    return any(owner.controller and owner.kind == _EXEMPT for owner in ask.references or ())


def reach(constraints: Iterable[Constraint], world: World) -> Bits:
    """The nodes that the pod's own clauses leave, but for what holds only as long as other pods lie as they do now.

    Standing conditions, exclusivity among them, are left aside.
    """
    lasting = [found for found in constraints if found.clause and not isinstance(found, Evenly)]
    return judge(lasting, world).candidates
