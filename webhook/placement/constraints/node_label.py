"""``NodeLabel``: a condition on one label of the node, required or preferred; for the families mapping and hardware."""

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
"""Labels under this domain and its subdomains say what a node is: kubelets write them, not people."""


class NodeLabel(Struct, frozen=True, gc=False):
    """The condition that a label of the node meets ``need``; a preferred one (``soft``) has a ``weight`` up to 100."""

    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.FREE
    clause: str
    soft: bool
    need: Requirement
    weight: int = PREFERENCE
    node: str = ""

    def filter(self, world: World) -> Bits:
        """Nodes whose label meets the requirement."""
        return matching(world, self.need)

    def inject(self, _world: World) -> Iterable[Effect]:
        """One node term, required or preferred."""
        term = NodeTerm(match_expressions=(self.need,))
        yield PreferNodes(self.clause, term, self.weight) if self.soft else RequireNodes(self.clause, (term,))

    def explain(self, _world: World, out: Bits) -> Iterator[Reason]:
        """All other nodes, under one reason."""
        what = f"not match {self.clause}"
        yield Reason(f"does {what}", f"do {what}", out)

    def mend(self, _world: World, _out: Bits) -> str:
        """Label one more node if people write that label, else add a node."""
        label = given((self.need,))
        return f"label one more node {label}" if label else f"{ADD_NODE} that matches {self.clause}"


def given(needs: Iterable[Requirement]) -> str:
    """The labels, as text, that make a node meet ``needs``; empty if kubelets write one of these labels."""
    labels = labels_set(needs)
    if any(f".{key.rpartition('/')[0]}".endswith(f".{_KUBERNETES}") for key in labels):
        return ""
    return setting(needs)
