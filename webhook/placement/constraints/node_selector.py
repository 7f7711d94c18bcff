"""The pod's own ``nodeName``, ``nodeSelector`` and required node affinity, honoured exactly as Kubernetes does."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

from msgspec import Struct

from webhook.placement.annotations.placement_text import SHOWN
from webhook.placement.constraints.affinity_terms import (
    hopeless,
    never_matching,
    problems_of_preferred,
    problems_of_required,
)
from webhook.placement.constraints.constraint import ADD_NODE, Constraint, Reason, Spread
from webhook.placement.constraints.node_label import given
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.node_terms import TERM_LIMIT
from webhook.placement.kube.pod import NodeTerm, PreferredNodeTerm, Requirement, required_terms
from webhook.placement.kube.selector import matching_all, matching_any
from webhook.placement.provision.effects import Effect
from webhook.placement.request.ask import Ask
from webhook.placement.request.pod_text import AFFINITY as OWN_AFFINITY
from webhook.placement.request.pod_text import NODE_NAME, SELECTOR, label
from webhook.placement.request.world import World
from webhook.placement.text.problem import Problem

AFFINITY = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"

PREFERENCES = "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution"

LABELS = 16
"""Labels of a selector that count as a clause each: more than people write, and the search for a smallest conflict is
quadratic in clauses."""


class Own(Struct, frozen=True, gc=False):
    """What the pod says by itself: ``nodes`` meet it, the others, in words, do not."""

    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.FREE
    clause: str
    nodes: Bits
    one: str
    many: str
    node: str = ""
    soft: bool = False

    def filter(self, _world: World) -> Bits:
        """Nodes that meet it."""
        return self.nodes

    def inject(self, _world: World) -> Iterable[Effect]:
        """Nothing: the pod says it already."""
        return ()

    def explain(self, _world: World, out: Bits) -> Iterator[Reason]:
        """All other nodes, for the one reason there is."""
        yield Reason(self.one, self.many, out)

    def mend(self, _world: World, _out: Bits) -> str:
        """Nothing that one label could change."""
        return ""


class OwnLabel(Struct, frozen=True, gc=False):
    """A label of the pod's ``nodeSelector``; put into words only when somebody reads them."""

    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.FREE
    key: str
    value: str
    nodes: Bits
    node: str = ""
    soft: bool = False

    @property
    def clause(self) -> str:
        """The label as the pod says it."""
        return label(self.key, self.value)

    def filter(self, _world: World) -> Bits:
        """Nodes that have the label."""
        return self.nodes

    def inject(self, _world: World) -> Iterable[Effect]:
        """Nothing: the pod says it already."""
        return ()

    def explain(self, _world: World, out: Bits) -> Iterator[Reason]:
        """All other nodes, for the one reason there is."""
        what = f"not have the label {self.key}={self.value}"
        yield Reason(f"does {what}", f"do {what}", out)

    def mend(self, _world: World, _out: Bits) -> str:
        """The label that a node could be given."""
        label = given((Requirement(self.key, "In", (self.value,)),))
        return f"label one more node {label}" if label else f"{ADD_NODE} with the label {self.key}={self.value}"


def parse(ask: Ask, world: World) -> Iterable[Constraint | Problem | str]:
    """One constraint for the node name, one a selector label, one for the affinity."""
    spec = ask.spec
    affinity = spec.affinity.node_affinity if spec.affinity else None
    if not (spec.node_name or spec.node_selector or affinity):
        return ()
    required = required_terms(spec)
    return (
        *(_name(spec.node_name, world) if spec.node_name else ()),
        *(_selector(spec.node_selector, world) if spec.node_selector else ()),
        *(world.once(required, _required) if required is not None else ()),
        # The scheduler never sees a pod with a node name.
        *(_preferred(affinity.preferred) if affinity and affinity.preferred and not spec.node_name else ()),
    )


def _name(name: str, world: World) -> Iterator[Constraint]:
    text = f"{NODE_NAME}{name}"
    yield Own(text, world.named(name), f"is not the pod's own {text}", f"are not the pod's own {text}", name)


def _selector(labels: Mapping[str, str], world: World) -> Iterator[Constraint]:
    if len(labels) > LABELS:
        nodes = matching_all(world, (Requirement(key, "In", (value,)) for key, value in labels.items()))
        other = "match the pod's nodeSelector"
        yield Own(SELECTOR, nodes, f"does not {other}", f"do not {other}")
        return
    for key, value in labels.items():
        yield OwnLabel(key, value, world.with_label(key, (value,)))


def _required(terms: tuple[NodeTerm, ...], world: World) -> tuple[Constraint | Problem | str, ...]:
    return tuple(_judged(terms, world))


def _judged(terms: tuple[NodeTerm, ...], world: World) -> Iterator[Constraint | Problem | str]:
    if len(terms) > TERM_LIMIT:
        yield Problem(AFFINITY, f"has {len(terms)} terms, at most {TERM_LIMIT} are allowed")
        return
    wrong = tuple(itertools.islice(problems_of_required(terms, AFFINITY), SHOWN))
    if wrong:
        yield from wrong
        return
    never = {at: found for at, term in enumerate(terms) if (found := never_matching(term))}
    if all(term.empty or at in never for at, term in enumerate(terms)):
        yield Problem(AFFINITY, hopeless(terms))
        return
    for at, found in itertools.islice(never.items(), SHOWN):
        yield f"{AFFINITY}[{at}]: {found} compares with no whole number of 64 bits, so this term never matches"
    other = "match the pod's own node affinity"
    yield Own(OWN_AFFINITY, matching_any(world, terms), f"does not {other}", f"do not {other}")


def _preferred(terms: tuple[PreferredNodeTerm, ...]) -> Iterable[Problem]:
    return itertools.islice(problems_of_preferred(terms, PREFERENCES), SHOWN)
