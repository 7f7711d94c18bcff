"""Worker mapping: the pod runs on a node whose labels meet each of its expressions (``docs/mapping.md``)."""

from collections.abc import Iterable

from webhook.placement.constraints.constraint import Constraint
from webhook.placement.constraints.node_label import NodeLabel
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.problem import Problem

SOFT = "mapping"
"""What the annotation ``preferred`` calls it."""


def parse(ask: Ask, _world: World) -> Iterable[Constraint | Problem]:
    """One constraint an expression."""
    expressions = ask.mapping.expressions
    if not expressions:
        return ()
    return [NodeLabel(expression.clause, SOFT in ask.soft, expression.need) for expression in expressions]
