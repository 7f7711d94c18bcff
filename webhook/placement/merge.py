"""Effects and a pod: what the pod must say more, so that it keeps its own word and gains ours.

The only place that knows how to AND node terms, what conflicts, and what is there already. Merging a pod that has
been merged before adds nothing (``docs/merging.md``).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec
from msgspec import Struct

from webhook.placement import keys
from webhook.placement.effects import (
    AddLabel,
    AwayFromPods,
    BindTo,
    Effect,
    NearPods,
    PreferNodes,
    RequireNodes,
    Tolerate,
)
from webhook.placement.nodeterms import TermEdit, conjoin
from webhook.placement.pod import (
    Affinity,
    NodeAffinity,
    NodeTerm,
    Pod,
    PodAffinity,
    PodSpec,
    PodTerm,
    PreferredNodeTerm,
    Toleration,
    WeightedPodTerm,
)
from webhook.placement.problem import Problem, quote

KINDS: dict[type[Effect], str] = {
    RequireNodes: "nodeAffinity",
    PreferNodes: "preferredNodeAffinity",
    BindTo: "nodeName",
    AddLabel: "labels",
    Tolerate: "tolerations",
    NearPods: "podAffinity",
    AwayFromPods: "podAntiAffinity",
}
"""What the annotation ``injected`` calls each kind of effect."""


class PodTerms(Struct, frozen=True, gc=False):
    """Pod terms to append."""

    required: tuple[PodTerm, ...] = ()
    preferred: tuple[WeightedPodTerm, ...] = ()


class Additions(Struct, frozen=True, gc=False):
    """What a pod lacks; everything empty when it lacks nothing.

    ``edits`` change the pod's own required node terms, ``terms`` are new ones to append (or, where the pod has none,
    all there are). ``injected`` is the annotation that says what was added and why.
    """

    labels: dict[str, str]
    node_name: str
    edits: tuple[TermEdit, ...]
    terms: tuple[NodeTerm, ...]
    preferred: tuple[PreferredNodeTerm, ...]
    near: PodTerms
    away: PodTerms
    tolerations: tuple[Toleration, ...]
    injected: str

    @property
    def missing(self) -> tuple[str, ...]:
        """The kinds of things that the pod lacks, the annotation aside."""
        lacking = {
            "labels": self.labels,
            "nodeName": self.node_name,
            "nodeAffinity": self.edits or self.terms,
            "podAffinity": self.near.required,
            "podAntiAffinity": self.away.required,
            "tolerations": self.tolerations,
        }
        return tuple(kind for kind, what in lacking.items() if what)


_Thing = TypeVar("_Thing")
_NO_AFFINITY, _NO_NODES, _NO_PODS, _NO_SPEC = Affinity(), NodeAffinity(), PodAffinity(), PodSpec()


def merge(pod: Pod, effects: Iterable[Effect]) -> tuple[Additions, tuple[Problem, ...]]:
    """What the pod must say more, and where it says something else."""
    asked = tuple(effects)
    spec = pod.spec or _NO_SPEC
    labels = (pod.metadata.labels if pod.metadata else None) or {}
    affinity = spec.affinity or _NO_AFFINITY
    nodes = affinity.node_affinity or _NO_NODES
    edits, terms, problems = conjoin(nodes, [effect.terms for effect in asked if isinstance(effect, RequireNodes)])
    added, conflicts = _labels(labels, asked)
    bound = next((effect.node for effect in asked if isinstance(effect, BindTo)), "")
    additions = Additions(
        labels=added,
        node_name="" if spec.node_name else bound,
        edits=edits,
        terms=terms,
        preferred=_absent(
            nodes.preferred,
            (PreferredNodeTerm(effect.weight, effect.term) for effect in asked if isinstance(effect, PreferNodes)),
        ),
        near=_pod_terms(affinity.pod_affinity, [effect for effect in asked if isinstance(effect, NearPods)]),
        away=_pod_terms(affinity.pod_anti_affinity, [effect for effect in asked if isinstance(effect, AwayFromPods)]),
        tolerations=_absent(spec.tolerations, (effect.toleration for effect in asked if isinstance(effect, Tolerate))),
        injected=_injected(asked),
    )
    return additions, (*problems, *conflicts)


def _injected(effects: Iterable[Effect]) -> str:
    """Each kind of thing and the clauses that asked for it, as JSON: never a node or a number, so replicas agree."""
    causes: dict[str, set[str]] = {}
    for effect in effects:
        causes.setdefault(KINDS[type(effect)], set()).add(effect.cause)
    return msgspec.json.encode({kind: sorted(causes[kind]) for kind in sorted(causes)}).decode()


def _labels(labels: dict[str, str], effects: Iterable[Effect]) -> tuple[dict[str, str], list[Problem]]:
    added: dict[str, str] = {}
    problems: list[Problem] = []
    for effect in effects:
        if not isinstance(effect, AddLabel):
            continue
        there = labels.get(effect.key)
        if there is None:
            added[effect.key] = effect.value
        elif there != effect.value:
            message = (
                f"is {quote(there)}, but {effect.cause} needs {quote(effect.value)}; leave this label to the webhook"
            )
            problems.append(Problem(f"metadata.labels[{effect.key}]", message))
    return added, problems


def foreign_labels(labels: Mapping[str, str], effects: Iterable[Effect]) -> list[Problem]:
    """Labels of ours that no clause asked for: written by hand, they would move the job's other pods.

    Isolation labels are spared: which ones a pod carries depends on the job's other pods, at the time it was made.
    """
    ours = {effect.key for effect in effects if isinstance(effect, AddLabel)}
    return [
        Problem(
            f"metadata.labels[{key}]", "only the webhook writes this label; name the token in the placement instead"
        )
        for key in labels
        if key.startswith((keys.COLOCATION, keys.EXLOCATION)) and key not in ours
    ]


def _pod_terms(own: PodAffinity | None, effects: Sequence[NearPods | AwayFromPods]) -> PodTerms:
    if not effects:
        return PodTerms()
    there = own or _NO_PODS
    return PodTerms(
        _absent(there.required, (effect.term for effect in effects if effect.weight is None)),
        _absent(
            there.preferred,
            (WeightedPodTerm(effect.weight, effect.term) for effect in effects if effect.weight is not None),
        ),
    )


def _absent(there: tuple[_Thing, ...] | None, wanted: Iterable[_Thing]) -> tuple[_Thing, ...]:
    """The things that are wanted and not there, each once."""
    found: list[_Thing] = []
    for thing in wanted:
        if thing not in (there or ()) and thing not in found:
            found.append(thing)
    return tuple(found)
