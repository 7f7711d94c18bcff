"""Hardware of nodes: the labels that a pod's hardware requirements ask for, or would like (``docs/hardware.md``).

What requirements give to containers is room on the node (``resources.py``).
"""

from collections.abc import Iterable

from webhook.placement.constraints.constraint import Constraint
from webhook.placement.constraints.node_label import NodeLabel
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.problem import Problem

_WEIGHT = 10
"""Weight of a preferred term for each point of a requirement's: those go up to 10, those of terms to 100."""


def parse(ask: Ask, _world: World) -> Iterable[Constraint | Problem]:
    """One constraint a label."""
    labels = ask.provision.labels
    if not labels:
        return ()
    return [NodeLabel(found.clause, not found.mandatory, found.need, _WEIGHT * found.weight) for found in labels]
