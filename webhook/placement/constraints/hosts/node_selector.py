"""Family of the pod's own ``nodeName``, ``nodeSelector`` and required node affinity, judged as Kubernetes does."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

from webhook.placement.annotations.placement_text import SHOWN
from webhook.placement.constraints.constraint import Constraint, ConstraintDefaults, NodeSet, Reason, Spread
from webhook.placement.constraints.hosts.affinity_terms import (
    never_matching,
    problems_of_preferred,
    problems_of_required,
    why_none_matches,
)
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.pod import NodeTerm, PreferredNodeTerm, Requirement, required_terms
from webhook.placement.kube.selection.node_terms import TERM_LIMIT
from webhook.placement.kube.selection.selector import matching_all, matching_any
from webhook.placement.objects.pool_labels import settable
from webhook.placement.request.ask import Ask
from webhook.placement.request.pod_text import AFFINITY as OWN_AFFINITY
from webhook.placement.request.pod_text import SELECTOR, label, node_name, selected
from webhook.placement.request.world import World
from webhook.placement.text.clause import Clause
from webhook.placement.text.fix import AddNode, Fix, LabelNode
from webhook.placement.text.problem import Problem
from webhook.placement.text.rule import Rule

AFFINITY = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"

PREFERENCES = "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution"

LABELS = 16
"""Up to so many labels of a selector are a clause each; more are one clause together.

The search for a smallest conflict is quadratic in clauses, and people write fewer labels.
"""


class OwnNodes(NodeSet, frozen=True, gc=False):
    """The condition of the pod's own node name, of its required node affinity, or of a selector of many labels."""

    rule: ClassVar[str] = Rule.OWN_NODES
    needs: tuple[Requirement, ...] = ()

    @property
    def separable(self) -> bool:
        """The node name decides how the pod is bound."""
        return not self.node


class OwnLabel(ConstraintDefaults, frozen=True, gc=False):
    """The condition of one label of the pod's ``nodeSelector``; its texts are made only when they are read.

    ``runtime`` is the RuntimeClass that selects the label, empty if the pod itself does.
    """

    rule: ClassVar[str] = Rule.OWN_NODES
    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.FREE
    key: str
    value: str
    nodes: Bits
    node: str = ""
    soft: bool = False
    runtime: str = ""

    @property
    def separable(self) -> bool:
        """Without its RuntimeClass the pod loses more than the label."""
        return not self.runtime

    @property
    def clause(self) -> Clause:
        """The label as refusals name it."""
        return selected(self.runtime, self.key, self.value) if self.runtime else label(self.key, self.value)

    @property
    def needs(self) -> tuple[Requirement, ...]:
        """The label with its value."""
        return (Requirement(self.key, "In", (self.value,)),)

    def filter(self, _world: World) -> Bits:
        """Nodes that have the label."""
        return self.nodes

    def explain(self, _world: World, out: Bits) -> Iterator[Reason]:
        """All other nodes, under one reason."""
        what = f"not have the label {self.key}={self.value}"
        yield Reason(f"does {what}", f"do {what}", out)

    def fix(self, _world: World, _out: Bits) -> Fix | None:
        """Label one more node if people write that label, else add a node."""
        labels = settable(self.needs)
        return LabelNode(more=1, labels=labels) if labels else AddNode(having=f"the label {self.key}={self.value}")


def parse(ask: Ask, world: World) -> Iterable[Constraint | Problem | str]:
    """One constraint for the node name, one for each label of the selector, one for the required affinity."""
    spec = ask.spec
    affinity = spec.affinity.node_affinity if spec.affinity else None
    if not (spec.node_name or spec.node_selector or affinity):
        return ()
    required = required_terms(spec)
    return (
        *(_name(spec.node_name, world) if spec.node_name else ()),
        *(_selector(spec.node_selector, ask, world) if spec.node_selector else ()),
        *(world.once(required, _required) if required is not None else ()),
        # The scheduler never sees a pod with a node name.
        *(_preferred(affinity.preferred) if affinity and affinity.preferred and not spec.node_name else ()),
    )


def _name(name: str, world: World) -> Iterator[Constraint]:
    """The constraint of ``spec.nodeName``."""
    clause = node_name(name)
    yield OwnNodes(clause, world.named(name), f"is not the pod's own {clause}", f"are not the pod's own {clause}", name)


def _selector(labels: Mapping[str, str], ask: Ask, world: World) -> Iterator[Constraint]:
    """The constraints of ``spec.nodeSelector``."""
    if len(labels) > LABELS:
        needs = tuple(Requirement(key, "In", (value,)) for key, value in labels.items())
        other = "match the pod's nodeSelector"
        yield OwnNodes(SELECTOR, matching_all(world, needs), f"does not {other}", f"do not {other}", needs=needs)
        return
    runtime = ask.completed.plugins.runtime if ask.completed else None
    for key, value in labels.items():
        whose = runtime.name if runtime and key in runtime.node_selector else ""
        yield OwnLabel(key, value, world.with_label(key, (value,)), runtime=whose)


def _required(terms: tuple[NodeTerm, ...], world: World) -> tuple[Constraint | Problem | str, ...]:
    """What the required terms come to, as a value that can be kept."""
    return tuple(_judged(terms, world))


def _judged(terms: tuple[NodeTerm, ...], world: World) -> Iterator[Constraint | Problem | str]:
    """The constraint of the required terms, or their problems; a warning for each term that never matches."""
    if len(terms) > TERM_LIMIT:
        yield Problem(AFFINITY, f"has {len(terms)} terms, at most {TERM_LIMIT} are allowed")
        return
    wrong = tuple(itertools.islice(problems_of_required(terms, AFFINITY), SHOWN))
    if wrong:
        yield from wrong
        return
    never = {at: fault for at, term in enumerate(terms) if (fault := never_matching(term))}
    if all(term.empty or at in never for at, term in enumerate(terms)):
        yield Problem(AFFINITY, why_none_matches(terms))
        return
    for at, fault in itertools.islice(never.items(), SHOWN):
        yield f"{AFFINITY}[{at}]: {fault} needs a 64-bit integer, so this term never matches"
    other = "match the pod's own node affinity"
    yield OwnNodes(OWN_AFFINITY, matching_any(world, terms), f"does not {other}", f"do not {other}")


def _preferred(terms: tuple[PreferredNodeTerm, ...]) -> Iterable[Problem]:
    """Problems of preferred terms; such terms are not constraints: the scheduler weighs them."""
    return itertools.islice(problems_of_preferred(terms, PREFERENCES), SHOWN)
