"""The families ``mapping`` and ``hardware``: conditions on one label of the node each, required or preferred.

``mapping``: the labels of the node meet each expression of the pod's worker mapping (``docs/mapping.md``).
``hardware``: node labels that a pod's hardware requirements ask for or prefer (``docs/hardware.md``); amounts that they
give to containers are room on the node, which the family ``resources`` judges.
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from webhook.placement.annotations.worker_mapping import PREFERRED
from webhook.placement.constraints.constraint import Constraint, ConstraintDefaults, Reason, Spread
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.pod import NodeTerm, Requirement
from webhook.placement.kube.selection.selector import matching
from webhook.placement.objects.pool_labels import settable
from webhook.placement.provision.effects import PREFERENCE, Effect, PreferNodes, RequireNodes
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.clause import Clause
from webhook.placement.text.fix import AddNode, Fix, LabelNode
from webhook.placement.text.problem import Problem
from webhook.placement.text.rule import Rule

_WEIGHT = 10
"""Factor from the weight of a requirement (at most 10) to the weight of a preferred node term (at most 100)."""


def parse_mapping(ask: Ask, _world: World) -> Iterable[Constraint | Problem]:
    """One constraint for each expression of the worker mapping."""
    expressions = ask.mapping.expressions
    if not expressions:
        return ()
    return [
        NodeLabel(expression.clause, PREFERRED in ask.soft, expression.need, Rule.MAPPING) for expression in expressions
    ]


def parse_hardware(ask: Ask, _world: World) -> Iterable[Constraint | Problem]:
    """One constraint for each label that a hardware requirement asks for."""
    labels = ask.provision.labels
    if not labels:
        return ()
    return [
        NodeLabel(label.clause, not label.mandatory, label.need, Rule.HARDWARE, _WEIGHT * label.weight)
        for label in labels
    ]


class NodeLabel(ConstraintDefaults, frozen=True, gc=False):
    """The condition that a label of the node meets ``need``; a preferred one (``soft``) has a ``weight`` up to 100."""

    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.FREE
    clause: Clause
    soft: bool
    need: Requirement
    rule: str
    weight: int = PREFERENCE
    node: str = ""

    @property
    def separable(self) -> bool:
        """Hardware requirements for labels also decide whether resources of the whole pod are completed."""
        return self.rule == Rule.MAPPING

    @property
    def needs(self) -> tuple[Requirement, ...]:
        """The one requirement."""
        return (self.need,)

    def filter(self, world: World) -> Bits:
        """Nodes whose label meets the requirement."""
        return matching(world, self.need)

    def inject(self, _world: World) -> Iterable[Effect]:
        """One node term, required or preferred."""
        term = NodeTerm(match_expressions=(self.need,))
        yield PreferNodes(self.clause.text, term, self.weight) if self.soft else RequireNodes(self.clause.text, (term,))

    def explain(self, _world: World, out: Bits) -> Iterator[Reason]:
        """All other nodes, under one reason."""
        what = f"not match {self.clause}"
        yield Reason(f"does {what}", f"do {what}", out)

    def fix(self, _world: World, _out: Bits) -> Fix | None:
        """Label one more node if people write that label, else add a node."""
        labels = settable((self.need,))
        return LabelNode(more=1, labels=labels) if labels else AddNode(f"that matches {self.clause}")
