"""Room for all pods that must share a node: the first of them decides for the others (``docs/colocation.md``).

The scheduler binds pods one by one. The first of a group goes wherever it fits, and the others must follow it; so it
may only go where all of them fit.
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar, Final

from msgspec import Struct

from webhook.placement.constraints.colocation import Colocated
from webhook.placement.constraints.constraint import Constraint, Reason, Spread
from webhook.placement.constraints.uniform import SameNode
from webhook.placement.decision.replica_fit import ReplicaFit
from webhook.placement.decision.verdict import Judged, Verdict
from webhook.placement.kube.bits import Bits, slots
from webhook.placement.kube.pod import NodeTerm, Requirement
from webhook.placement.provision.effects import Effect, RequireNodes
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.keys import HOSTNAME
from webhook.placement.text.problem import counted

LISTED: Final = 100
"""Host names in one expression of a pod: five kilobytes or so, and more nodes than a group needs to choose among."""

MAKERS: Final = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "Job", "ReplicationController"})
"""Kinds that want several pods of one template, one of which is the first; of a Deployment in a manifest."""


class WholeGroup(Struct, frozen=True, gc=False):
    """Only nodes that hold ``count`` of the pods, which ``clause`` puts on one node: ``nodes``.

    ``hostnames`` are the host names of those that can run the pod, ``others`` those of nodes that could run this one
    and not all.
    """

    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.FREE
    clause: str
    nodes: Bits
    count: int
    hostnames: tuple[str, ...]
    others: tuple[str, ...]
    soft: bool = False
    node: str = ""

    def filter(self, _world: World) -> Bits:
        """Nodes that hold all of them."""
        return self.nodes

    def inject(self, _world: World) -> Iterable[Effect]:
        """The host names to choose from or, where these are many, those to keep off."""
        if len(self.hostnames) > LISTED >= len(self.others):
            need = Requirement(HOSTNAME, "NotIn", self.others)
        else:
            need = Requirement(HOSTNAME, "In", self.hostnames[:LISTED])
        yield RequireNodes(self.clause, (NodeTerm(match_expressions=(need,)),), firm=False)

    def explain(self, _world: World, out: Bits) -> Iterator[Reason]:
        """The others hold fewer."""
        what = f"not hold {counted(self.count, 'pod')} of {self.clause}"
        yield Reason(f"does {what}", f"do {what}", out)

    def mend(self, _world: World, _out: Bits) -> str:
        """Nothing: some nodes do."""
        return ""


def first_of_group(constraints: Iterable[Constraint]) -> Constraint | None:
    """The constraint by which the pod must share a node with others, none of which runs yet."""
    near = (found for found in constraints if isinstance(found, Colocated | SameNode) and not found.soft)
    return next((found for found in near if not found.held), None)


def made_in_numbers(ask: Ask) -> bool:
    """Whether a controller makes several pods of this kind."""
    return any(owner.controller and owner.kind in MAKERS for owner in ask.references or ())


def whole_group(ask: Ask, verdict: Verdict, world: World, count: int) -> Judged | None:
    """The constraint that keeps the first pod to nodes that hold all ``count``; ``None`` if it makes no difference.

    Where no node holds all of them, as many as one holds count: then they are pods that run one after another.
    """
    first = first_of_group(judged.constraint for judged in verdict.hard)
    if first is None:
        return None
    fit = ReplicaFit(ask, verdict.hard, world)
    fitting = fit.holding(max(1, fit.room(count)))
    able, unable = verdict.candidates & fitting, verdict.candidates & ~fitting
    if not unable:
        return None
    group = WholeGroup(first.clause, fitting, count, _hostnames(able, world), _hostnames(unable, world))
    return Judged(group, fitting)


def _hostnames(nodes: Bits, world: World) -> tuple[str, ...]:
    """Host names of these nodes, which all have one, sorted."""
    return tuple(sorted(world.inventory.nodes.nodes[slot].labels[HOSTNAME] for slot in slots(nodes)))
