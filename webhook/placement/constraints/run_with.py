"""``run-with`` and ``run-apart-from``: the pod shares its node with such pods of its namespace, or with none of them.

Which pods they are is for the scheduler to find: the labels of other people's pods are not kept (``docs/mapping.md``).
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from msgspec import Struct

from webhook.placement.annotations.pod_selection import PodSelection
from webhook.placement.constraints import pod_terms as neighbours
from webhook.placement.constraints.constraint import Constraint, Reason, Spread
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.pod import LabelSelector, PodTerm
from webhook.placement.provision.effects import AwayFromPods, Effect, NearPods
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.keys import HOSTNAME
from webhook.placement.text.problem import Problem


class SelectedPods(Struct, frozen=True, gc=False):
    """Pods to be near, or away from; ``own`` tells whether the pod is one of them itself."""

    verb: ClassVar[str] = "drop"
    selection: PodSelection
    own: bool
    soft: bool = False
    node: str = ""

    @property
    def clause(self) -> str:
        """What the user wrote."""
        return self.selection.clause

    @property
    def spread(self) -> Spread:
        """Pods that keep away from pods like themselves are each on a node of its own."""
        return Spread.APART if self.own and not self.selection.near else Spread.FREE

    def filter(self, world: World) -> Bits:
        """Nodes with a host name of their own; the scheduler sees no company on the others."""
        return world.inventory.nodes.own_hostname

    def inject(self, _world: World) -> Iterable[Effect]:
        """One term, for pods of the namespace, whatever job they belong to."""
        term = PodTerm(LabelSelector(match_expressions=self.selection.needs), HOSTNAME)
        yield NearPods(self.clause, term) if self.selection.near else AwayFromPods(self.clause, term)
        yield neighbours.hostnamed(self.clause)

    def explain(self, _world: World, out: Bits) -> Iterator[Reason]:
        """Without a host name of its own."""
        yield neighbours.nameless(out)

    def mend(self, _world: World, _out: Bits) -> str:
        """Nothing that one label could change."""
        return ""


def parse(ask: Ask, world: World) -> Iterable[Constraint | Problem | str]:
    """One constraint a selector."""
    for selection in ask.mapping.pod_selections:
        yield SelectedPods(selection, selection.matches(ask.labels))
        if selection.near:
            yield from neighbours.shared_hostnames(world)
