"""A condition on one label of the node: required, or worth some weight."""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from msgspec import Struct

from webhook.placement.constraints.constraint import ADD_NODE, Reason, Spread
from webhook.placement.inventory.pool_labels import labels_set, setting
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.pod import NodeTerm, Requirement
from webhook.placement.kube.selector import matching
from webhook.placement.provision.effects import PREFERENCE, Effect, PreferNodes, RequireNodes
from webhook.placement.request.world import World

_KUBERNETES = "kubernetes.io"
"""Labels under this domain, and those below it, say what a node is; kubelets write them, not people."""


class NodeLabel(Struct, frozen=True, gc=False):
    """One expression over a label of nodes; ``weight`` counts where it is only preferred."""

    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.FREE
    clause: str
    soft: bool
    need: Requirement
    weight: int = PREFERENCE
    node: str = ""

    def filter(self, world: World) -> Bits:
        """Nodes whose labels meet it."""
        return matching(world, self.need)

    def inject(self, _world: World) -> Iterable[Effect]:
        """One node term."""
        term = NodeTerm(match_expressions=(self.need,))
        yield PreferNodes(self.clause, term, self.weight) if self.soft else RequireNodes(self.clause, (term,))

    def explain(self, _world: World, out: Bits) -> Iterator[Reason]:
        """All other nodes, for the one reason there is."""
        what = f"not match {self.clause}"
        yield Reason(f"does {what}", f"do {what}", out)

    def mend(self, _world: World, _out: Bits) -> str:
        """The label that a node could be given, if it is one that people give."""
        label = given((self.need,))
        return f"label one more node {label}" if label else f"{ADD_NODE} that matches {self.clause}"


def given(needs: Iterable[Requirement]) -> str:
    """The labels that somebody could give to a node so that these hold, if all are labels that people give."""
    labels = labels_set(needs)
    if any(f".{key.rpartition('/')[0]}".endswith(f".{_KUBERNETES}") for key in labels):
        return ""
    return setting(needs)
