"""``merge``: effects into ``Additions``, which must be added to a pod so that both its own spec and the effects hold.

The JSON Patch of admission adds them. This is the only place that knows how effects combine with what the pod has
already, and what conflicts. Merging the effects of a pod that was merged before adds nothing (``docs/merging.md``).
"""

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec
from msgspec import Struct

from webhook.placement.kube.containers import Place, resources_at
from webhook.placement.kube.pod import (
    Amount,
    ContainerClaim,
    NodeAffinity,
    NodeTerm,
    Pod,
    PodAffinity,
    PodClaim,
    PodSpec,
    PodTerm,
    PreferredNodeTerm,
    Toleration,
    WeightedPodTerm,
    required_terms,
)
from webhook.placement.kube.quantity import format_quantity, parse_quantity
from webhook.placement.kube.selection.node_terms import TermEdit, conjoin
from webhook.placement.provision.effects import (
    AddLabel,
    AwayFromPods,
    BindTo,
    Effect,
    NearPods,
    PreferNodes,
    RequireNodes,
    SetResources,
    Tolerate,
    UseClaim,
)
from webhook.placement.text import keys
from webhook.placement.text.problem import Problem, quote


class PodTerms(Struct, frozen=True, gc=False):
    """Terms to append to the pod's pod affinity or pod anti-affinity."""

    required: tuple[PodTerm, ...] = ()
    preferred: tuple[WeightedPodTerm, ...] = ()

    @property
    def any(self) -> bool:
        """Whether there are any terms."""
        return bool(self.required or self.preferred)


class ContainerAmounts(Struct, frozen=True, gc=False):
    """Requests and limits to set in one container, Kubernetes quantities by resource name, and claims to be added."""

    place: Place
    requests: dict[str, str]
    limits: dict[str, str]
    claims: tuple[ContainerClaim, ...] = ()


class Additions(Struct, frozen=True, gc=False):
    """What must be added to a pod; every field is empty if nothing is missing.

    ``edits`` change the pod's own required node terms, ``terms`` are required node terms to append, ``preferred``
    preferred ones. ``near`` and ``away`` are terms of pod affinity and anti-affinity. ``resources`` has at most one
    entry for each container. ``injected`` is the value of the annotation that says what was added and why, ``waits`` of
    the one that says what the pod waits for. ``claims`` are ResourceClaims of the pod.
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
    resources: tuple[ContainerAmounts, ...] = ()
    waits: str = ""
    claims: tuple[PodClaim, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """The kinds of required things that the pod lacks; preferences and annotations are left out."""
        lacking = {
            "labels": self.labels,
            "nodeName": self.node_name,
            "nodeAffinity": self.edits or self.terms,
            "podAffinity": self.near.required,
            "podAntiAffinity": self.away.required,
            "tolerations": self.tolerations,
            "resources": self.resources,
            "resourceClaims": self.claims,
        }
        return tuple(kind for kind, what in lacking.items() if what)


NOTHING = Additions({}, "", (), (), (), PodTerms(), PodTerms(), (), "")
"""Additions of a pod that lacks nothing."""


KINDS: dict[type[Effect], str] = {
    RequireNodes: "nodeAffinity",
    PreferNodes: "preferredNodeAffinity",
    BindTo: "nodeName",
    AddLabel: "labels",
    Tolerate: "tolerations",
    NearPods: "podAffinity",
    AwayFromPods: "podAntiAffinity",
    SetResources: "resources",
    UseClaim: "resourceClaims",
}
"""What the annotation ``injected`` calls each kind of effect."""


_NAMED = "name the token in the placement"
_INSTEAD = {keys.WORKER: f"map the workers by the annotation {keys.UNIFORM}"}
"""What the user should write instead of a label that only the webhook writes, by label key."""

_Thing = TypeVar("_Thing")
_NO_NODES, _NO_SPEC, _NO_PODS = NodeAffinity(), PodSpec(), PodTerms()
_KEPT = 1024
"""Maximum number of cached texts of ``injected``: more than a cluster has templates at work at a time."""


class _Sorted:
    """Effects, sorted by the part of the pod that they change."""

    __slots__ = ("away", "bound", "labels", "near", "preferred", "required", "resources", "tolerations", "used")

    def __init__(self, effects: Iterable[Effect]) -> None:
        self.required: list[tuple[NodeTerm, ...]] = []
        self.preferred: list[PreferredNodeTerm] = []
        self.labels: list[AddLabel] = []
        self.near: list[NearPods] = []
        self.away: list[AwayFromPods] = []
        self.tolerations: list[Toleration] = []
        self.resources: list[SetResources] = []
        self.used: list[UseClaim] = []
        self.bound = ""
        for effect in effects:
            match effect:
                case AddLabel():
                    self.labels.append(effect)
                case RequireNodes():
                    self.required.append(effect.terms)
                case BindTo():
                    self.bound = self.bound or effect.node
                case AwayFromPods():
                    self.away.append(effect)
                case NearPods():
                    self.near.append(effect)
                case Tolerate():
                    self.tolerations.append(effect.toleration)
                case SetResources():
                    self.resources.append(effect)
                case UseClaim():
                    self.used.append(effect)
                case _:
                    self.preferred.append(PreferredNodeTerm(effect.weight, effect.term))


def merge(pod: Pod, effects: Iterable[Effect]) -> tuple[Additions, tuple[Problem, ...]]:
    """What must be added to the pod, and a problem for everything in the pod that contradicts an effect."""
    wanted = tuple(effects)
    asked = _Sorted(wanted)
    spec = pod.spec or _NO_SPEC
    affinity = spec.affinity
    nodes = (affinity.node_affinity if affinity else None) or _NO_NODES
    edits, terms, problems = conjoin(required_terms(spec) or (), asked.required) if asked.required else ((), (), ())
    labels = (pod.metadata.labels if pod.metadata else None) or {}
    added, contradicted = _labels(labels, asked.labels) if asked.labels else ({}, ())
    additions = Additions(
        labels=added,
        node_name="" if spec.node_name else asked.bound,
        edits=edits,
        terms=terms,
        preferred=_absent(nodes.preferred, asked.preferred) if asked.preferred else (),
        near=_pod_terms(affinity.pod_affinity if affinity else None, asked.near) if asked.near else _NO_PODS,
        away=_pod_terms(affinity.pod_anti_affinity if affinity else None, asked.away) if asked.away else _NO_PODS,
        tolerations=_absent(spec.tolerations, asked.tolerations) if asked.tolerations else (),
        injected=_injected(tuple([(KINDS[type(effect)], effect.cause) for effect in wanted])),
        resources=amounts(spec, asked.resources, asked.used) if asked.resources or asked.used else (),
        claims=_absent(spec.resource_claims, [effect.claim for effect in asked.used]) if asked.used else (),
    )
    return additions, (*problems, *contradicted)


def conflicts(pod: Pod, effects: Iterable[Effect]) -> tuple[Problem, ...]:
    """The problems that :func:`merge` returns: what in the pod contradicts the effects."""
    asked = _Sorted(effects)
    problems = conjoin(required_terms(pod.spec or _NO_SPEC) or (), asked.required)[2] if asked.required else ()
    labels = (pod.metadata.labels if pod.metadata else None) or {}
    return (*problems, *(_labels(labels, asked.labels)[1] if asked.labels else ()))


@functools.lru_cache(_KEPT)
def _injected(causes: tuple[tuple[str, str], ...]) -> str:
    """The annotation ``injected``: the clauses that asked for each kind of effect, as JSON.

    It names no node and no number, so that all replicas of the webhook write the same.
    """
    by_kind: dict[str, set[str]] = {}
    for kind, cause in causes:
        by_kind.setdefault(kind, set()).add(cause)
    return msgspec.json.encode({kind: sorted(by_kind[kind]) for kind in sorted(by_kind)}).decode()


def _labels(labels: Mapping[str, str], effects: Iterable[AddLabel]) -> tuple[dict[str, str], list[Problem]]:
    """Labels that are missing, and a problem for each label with another value."""
    added: dict[str, str] = {}
    problems: list[Problem] = []
    for effect in effects:
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
    """A problem for each label of a pod that only the webhook writes, and that none of the effects adds.

    Such labels, written by hand, would change where the job's other pods can run. Isolation labels are left out: which
    of these a pod has depends on the job's other pods at the time it was created.
    """
    written = [key for key in labels if key == keys.WORKER or key.startswith((keys.COLOCATION, keys.EXLOCATION))]
    if not written:
        return []
    ours = {effect.key for effect in effects if isinstance(effect, AddLabel)}
    return [
        Problem(f"metadata.labels[{key}]", f"only the webhook writes this label; {_INSTEAD.get(key, _NAMED)} instead")
        for key in written
        if key not in ours
    ]


def _pod_terms(own: PodAffinity | None, effects: Sequence[NearPods | AwayFromPods]) -> PodTerms:
    """The terms of the effects that the pod's own affinity does not have."""
    required = [effect.term for effect in effects if effect.weight is None]
    preferred = [WeightedPodTerm(effect.weight, effect.term) for effect in effects if effect.weight is not None]
    return PodTerms(
        _absent(own.required if own else None, required), _absent(own.preferred if own else None, preferred)
    )


def _absent(there: tuple[_Thing, ...] | None, wanted: Iterable[_Thing]) -> tuple[_Thing, ...]:
    """What of ``wanted`` is not in ``there``, each once."""
    missing: list[_Thing] = []
    for thing in wanted:
        if thing not in (there or ()) and thing not in missing:
            missing.append(thing)
    return tuple(missing)


_Parts = tuple[dict[str, str], dict[str, str]]
"""Requests and limits, quantities by resource name."""


def amounts(
    spec: PodSpec, effects: Iterable[SetResources], used: Iterable[UseClaim] = ()
) -> tuple[ContainerAmounts, ...]:
    """The amounts to set, and the claims to add, container by container.

    An equal amount in the container stays, however it is written.
    """
    wanted: dict[Place, _Parts] = {}
    claims: dict[Place, list[ContainerClaim]] = {}
    for use in used:
        wanted.setdefault(use.place, ({}, {}))
        if all(use.claim.name != claim.name for claim in resources_at(spec, use.place).claims or ()):
            claims.setdefault(use.place, []).append(ContainerClaim(use.claim.name))
    for effect in effects:
        requests, limits = wanted.setdefault(effect.place, ({}, {}))
        own = resources_at(spec, effect.place)
        _write(requests, effect, effect.requests, own.requests)
        if effect.limits is not None:
            _write(limits, effect, effect.limits, own.limits)
    return tuple(
        [
            ContainerAmounts(place, requests, limits, _absent((), claims.get(place, ())))
            for place, (requests, limits) in wanted.items()
            if requests or limits or place in claims
        ]
    )


def _write(part: dict[str, str], effect: SetResources, amount: int, own: Mapping[str, Amount] | None) -> None:
    """Put the amount into ``part``, unless the container's ``own`` amounts have an equal one."""
    there = (own or {}).get(effect.resource)
    if there is None or parse_quantity(there) != amount:
        part[effect.resource] = format_quantity(amount)
