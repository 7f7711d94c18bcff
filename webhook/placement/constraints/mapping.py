"""Worker mapping: the pod runs on a node whose labels meet each of its expressions (``docs/mapping.md``)."""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from msgspec import Struct

from webhook.placement.ask import Ask
from webhook.placement.bits import Bits
from webhook.placement.constraint import Constraint, Reason, Spread
from webhook.placement.effects import Effect, PreferNodes, RequireNodes
from webhook.placement.pod import NodeTerm, Requirement
from webhook.placement.pool_labels import setting
from webhook.placement.problem import Problem
from webhook.placement.selector import matching
from webhook.placement.world import World

SOFT = "mapping"
"""What the annotation ``preferred`` calls it."""

_KUBERNETES = "kubernetes.io"
"""Labels under this domain, and those below it, say what a node is; kubelets write them, not people."""


class Mapped(Struct, frozen=True, gc=False):
    """One node expression."""

    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.FREE
    clause: str
    soft: bool
    need: Requirement
    node: str = ""

    def filter(self, world: World) -> Bits:
        """Nodes whose labels meet it."""
        return matching(world, self.need)

    def inject(self, _world: World) -> Iterable[Effect]:
        """One node term."""
        term = NodeTerm(match_expressions=(self.need,))
        yield PreferNodes(self.clause, term) if self.soft else RequireNodes(self.clause, (term,))

    def explain(self, _world: World, out: Bits) -> Iterator[Reason]:
        """All other nodes, for the one reason there is."""
        what = f"not match {self.clause}"
        yield Reason(f"does {what}", f"do {what}", out)

    def mend(self, _world: World, _out: Bits) -> str:
        """The label that a node could be given, if it is one that people give."""
        domain, label = f".{self.need.key.rpartition('/')[0]}", setting((self.need,))
        if label and not domain.endswith(f".{_KUBERNETES}"):
            return f"label one more node {label}"
        return f"add a node that matches {self.clause}"


def parse(ask: Ask, _world: World) -> Iterable[Constraint | Problem]:
    """One constraint an expression."""
    expressions = ask.mapping.expressions
    if not expressions:
        return ()
    return [Mapped(expression.clause, SOFT in ask.soft, expression.need) for expression in expressions]
