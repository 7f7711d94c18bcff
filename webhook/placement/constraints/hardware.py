"""Family ``hardware``: node labels that a pod's hardware requirements ask for or prefer (``docs/hardware.md``).

Amounts that requirements give to containers are room on the node: the family ``resources`` has these.
"""

from collections.abc import Iterable

from webhook.placement.constraints.constraint import Constraint
from webhook.placement.constraints.node_label import NodeLabel
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.problem import Problem

_WEIGHT = 10
"""Factor from the weight of a requirement (at most 10) to the weight of a preferred node term (at most 100)."""


def parse(ask: Ask, _world: World) -> Iterable[Constraint | Problem]:
    """One constraint for each label that a requirement asks for."""
    labels = ask.provision.labels
    if not labels:
        return ()
    return [NodeLabel(found.clause, not found.mandatory, found.need, _WEIGHT * found.weight) for found in labels]
