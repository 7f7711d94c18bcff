"""Family ``mapping``: the labels of the node meet each expression of the pod's worker mapping (``docs/mapping.md``)."""

from collections.abc import Iterable

from webhook.placement.constraints.constraint import Constraint
from webhook.placement.constraints.node_label import NodeLabel
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.problem import Problem

SOFT = "mapping"
"""Name of the family in the annotation ``preferred``."""


def parse(ask: Ask, _world: World) -> Iterable[Constraint | Problem]:
    """One constraint for each expression."""
    expressions = ask.mapping.expressions
    if not expressions:
        return ()
    return [NodeLabel(expression.clause, SOFT in ask.soft, expression.need) for expression in expressions]
