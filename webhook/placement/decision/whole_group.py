"""A constraint that keeps the first pod of a group to nodes with room for the whole group (``docs/colocation.md``).

The scheduler binds pods one by one. The first pod of a group that must share a node would go wherever it fits itself,
and the others must follow to that node; so the first one may go only to nodes where all of them fit.
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar, Final

from webhook.placement.constraints.constraint import Constraint, ConstraintDefaults, Reason, Spread, Tie
from webhook.placement.decision.replica_fit import ReplicaFit
from webhook.placement.decision.verdict import Judged, Verdict
from webhook.placement.kube.bits import Bits, slots
from webhook.placement.kube.pod import NodeTerm, Requirement
from webhook.placement.provision.effects import Effect, RequireNodes
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.clause import Clause
from webhook.placement.text.keys import HOSTNAME
from webhook.placement.text.problem import counted

LISTED: Final = 100
"""At most so many host names are in one expression of a pod: some five kilobytes, and enough nodes to choose from."""

MAKERS: Final = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "Job", "ReplicationController"})
"""Kinds of owner that create several pods of one template; Deployment for a template in a manifest."""


class WholeGroup(ConstraintDefaults, frozen=True, gc=False):
    """The condition that the node is one of ``nodes``, which have room for all ``count`` pods of a group.

    ``clause`` is the one that puts the group onto one node. ``hostnames`` are the host names of the candidates among
    ``nodes``, ``others`` those of all other nodes that can run the first pod.
    """

    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.FREE
    clause: Clause | None
    nodes: Bits
    count: int
    hostnames: tuple[str, ...]
    others: tuple[str, ...]
    soft: bool = False
    node: str = ""

    def filter(self, _world: World) -> Bits:
        """Nodes with room for the whole group."""
        return self.nodes

    def inject(self, _world: World) -> Iterable[Effect]:
        """A node term with the host names to choose from or, if there are too many, with those to keep off."""
        if len(self.hostnames) > LISTED >= len(self.others):
            need = Requirement(HOSTNAME, "NotIn", self.others)
        else:
            need = Requirement(HOSTNAME, "In", self.hostnames[:LISTED])
        yield RequireNodes(str(self.clause), (NodeTerm(match_expressions=(need,)),), firm=False)

    def explain(self, _world: World, out: Bits) -> Iterator[Reason]:
        """All other nodes hold fewer pods of the group."""
        what = f"not hold {counted(self.count, 'pod')} of {self.clause}"
        yield Reason(f"does {what}", f"do {what}", out)


def first_of_group(constraints: Iterable[Constraint]) -> Constraint | None:
    """The constraint by which the pod must share a node with pods none of which runs yet; ``None`` without one."""
    near = (constraint for constraint in constraints if constraint.spread is Spread.TOGETHER and not constraint.soft)
    return next((constraint for constraint in near if constraint.tie is Tie.NONE), None)


def made_in_numbers(ask: Ask) -> bool:
    """Whether the pod's controller is of a kind that creates several pods of one template."""
    return any(owner.controller and owner.kind in MAKERS for owner in ask.references or ())


def whole_group(ask: Ask, verdict: Verdict, world: World, count: int) -> Judged | None:
    """The constraint that keeps the first pod to nodes with room for all ``count``; ``None`` if all candidates have it.

    If no node has room for all, the largest number that one node holds is taken: the pods then run one after another.
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
    """The sorted host names of these nodes, all of which have one."""
    return tuple(sorted(world.inventory.nodes.nodes[slot].labels[HOSTNAME] for slot in slots(nodes)))
