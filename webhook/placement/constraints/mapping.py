"""Worker mapping: the pod runs on a node whose labels meet each of its expressions (``docs/mapping.md``)."""

from collections.abc import Iterable

from webhook.placement.ask import Ask
from webhook.placement.constraint import Constraint
from webhook.placement.node_label import NodeLabel
from webhook.placement.problem import Problem
from webhook.placement.world import World

SOFT = "mapping"
"""What the annotation ``preferred`` calls it."""


def parse(ask: Ask, _world: World) -> Iterable[Constraint | Problem]:
    """One constraint an expression."""
    expressions = ask.mapping.expressions
    if not expressions:
        return ()
    return [NodeLabel(expression.clause, SOFT in ask.soft, expression.need) for expression in expressions]
