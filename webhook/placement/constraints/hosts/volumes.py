"""Family of the pod's volumes that only some nodes can use (``docs/volumes.md``).

A claim that is bound ties the pod to the nodes of its volume, one that is not to the nodes on which its StorageClass
makes volumes. Source: the scheduler's plugin ``VolumeBinding``.
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from webhook.placement.constraints.constraint import Constraint, ConstraintDefaults, Reason, Spread, Tie
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.pod import NodeTerm, Requirement
from webhook.placement.kube.selection.selector import matching_any
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.clause import Clause
from webhook.placement.text.fix import AddNode, Fix
from webhook.placement.text.keys import HOSTNAME
from webhook.placement.text.problem import Problem
from webhook.placement.text.rule import Rule


class UsableVolume(ConstraintDefaults, frozen=True, gc=False):
    """The condition that the node matches one of the terms of a volume."""

    separable: ClassVar[bool] = True
    rule: ClassVar[str] = Rule.VOLUMES
    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.FREE
    clause: Clause
    terms: tuple[NodeTerm, ...]
    soft: bool = False
    node: str = ""

    @property
    def needs(self) -> tuple[Requirement, ...]:
        """The labels that a node must have, if one list of requirements on labels says it."""
        if len(self.terms) != 1 or self.terms[0].match_fields:
            return ()
        return self.terms[0].match_expressions or ()

    @property
    def tie(self) -> Tie:
        """A node that is added cannot have a volume of another one, nor is it known to match one of several terms."""
        local = not self.needs or any(need.key == HOSTNAME for need in self.needs)
        return Tie.HOSTS if local else Tie.NONE

    def filter(self, world: World) -> Bits:
        """Nodes that match one of the terms."""
        return matching_any(world, self.terms)

    def explain(self, _world: World, out: Bits) -> Iterator[Reason]:
        """All other nodes, under one reason."""
        yield Reason(f"cannot use {self.clause}", f"cannot use {self.clause}", out)

    def fix(self, _world: World, _out: Bits) -> Fix | None:
        """A node in the place of the volume, if it is not on one node for good."""
        if self.tie is not Tie.NONE or any(need.operator != "In" or not need.values for need in self.needs):
            return None
        return AddNode(having=f"{', '.join(f'{need.key}={(need.values or ())[0]}' for need in self.needs)}")


def parse(ask: Ask, _world: World) -> Iterable[Constraint | Problem | str]:
    """One constraint for each volume that not every node can use."""
    return [UsableVolume(volume.clause, volume.terms) for volume in ask.volumes if volume.terms is not None]
