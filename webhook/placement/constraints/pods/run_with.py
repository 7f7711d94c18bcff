"""Family ``run-with`` and ``run-apart-from``: the pod shares its node with selected pods, or with none of these.

The pods are of the pod's namespace. Where they run is left to the scheduler, since the labels of pods of others are not
kept (``docs/mapping.md``).
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from webhook.placement.annotations.pod_selection import PodSelection, unchecked
from webhook.placement.constraints.constraint import Constraint, ConstraintDefaults, Reason, Spread
from webhook.placement.constraints.pods import pod_terms
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.pod import LabelSelector, PodTerm
from webhook.placement.provision.effects import AwayFromPods, Effect, NearPods
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.clause import Clause
from webhook.placement.text.keys import HOSTNAME
from webhook.placement.text.problem import Problem
from webhook.placement.text.rule import Rule


class SelectedPods(ConstraintDefaults, frozen=True, gc=False):
    """The selected pods to be near, or away from; ``own`` tells that the selection matches the pod itself."""

    separable: ClassVar[bool] = True
    rule: ClassVar[str] = Rule.MAPPING
    verb: ClassVar[str] = "drop"
    selection: PodSelection
    own: bool
    soft: bool = False
    node: str = ""

    @property
    def clause(self) -> Clause:
        """The selection as the user wrote it."""
        return self.selection.clause

    @property
    def spread(self) -> Spread:
        """Replicas that keep away from a selection which matches themselves are each on a node of its own."""
        return Spread.APART if self.own and not self.selection.near else Spread.FREE

    def filter(self, world: World) -> Bits:
        """Nodes with a host name of their own; on others the scheduler cannot tell which pods are there."""
        return world.inventory.nodes.own_hostname

    def inject(self, world: World) -> Iterable[Effect]:
        """One term for the selected pods of the namespace, of any job."""
        term = PodTerm(LabelSelector(match_expressions=self.selection.needs), HOSTNAME)
        yield NearPods(self.clause.text, term) if self.selection.near else AwayFromPods(self.clause.text, term)
        yield from pod_terms.hostnamed(self.clause.text, world)

    def explain(self, _world: World, out: Bits) -> Iterator[Reason]:
        """Nodes without a host name of their own."""
        yield pod_terms.nameless(out)


def parse(ask: Ask, world: World) -> Iterable[Constraint | Problem | str]:
    """One constraint for each selector, and a warning that a pod which is admitted may have to wait."""
    return _selected(ask, world) if ask.mapping.pod_selections else ()


def _selected(ask: Ask, world: World) -> Iterator[Constraint | str]:
    for selection in ask.mapping.pod_selections:
        yield unchecked(selection)
        yield SelectedPods(selection, selection.matches(ask.labels))
        if selection.near:
            yield from pod_terms.shared_hostnames(world)
