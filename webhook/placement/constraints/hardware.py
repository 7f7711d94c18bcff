"""Hardware of nodes: the labels that a pod's hardware requirements ask for, or would like (``docs/hardware.md``).

What requirements give to containers is room on the node (``resources.py``).
"""

from collections.abc import Iterable

from webhook.placement.ask import Ask
from webhook.placement.constraint import Constraint
from webhook.placement.node_label import NodeLabel
from webhook.placement.problem import Problem
from webhook.placement.world import World

_WEIGHT = 10
"""Weight of a preferred term for each point of a requirement's: those go up to 10, those of terms to 100."""


def parse(ask: Ask, _world: World) -> Iterable[Constraint | Problem]:
    """One constraint a label."""
    labels = ask.provision.labels
    if not labels:
        return ()
    return [NodeLabel(found.clause, not found.mandatory, found.need, _WEIGHT * found.weight) for found in labels]
