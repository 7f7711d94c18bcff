"""JSON Patch operations (RFC 6902), built directly: the only place that knows paths and their escaping.

A parent that is absent is added together with its content; a list is appended to, never replaced.
"""

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from webhook.admission.seal import Operation, seal
from webhook.placement.decision.merge import Additions, ContainerAmounts, PodTerms
from webhook.placement.kube.containers import at
from webhook.placement.kube.pod import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeTerm,
    Pod,
    PodAffinity,
    PodSpec,
    Resources,
)
from webhook.placement.text import keys

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

_ENCODE = msgspec.json.Encoder().encode


_NO_SPEC = PodSpec()


def operations(pod: Pod, additions: Additions) -> list[Operation]:
    """The patch that adds to the pod what it lacks, and seals it; empty when the pod lacks nothing and has a seal."""
    metadata = pod.metadata
    labels, there = (metadata.labels, metadata.annotations) if metadata else (None, None)
    steps: list[Operation] = []
    above = _spec(pod, additions)
    _entries(steps, "/metadata/annotations", there, {keys.INJECTED: additions.injected})
    sealed = keys.SEAL in (labels or ())
    steps += _waits(there, additions, own=sealed and not (steps or above or additions.labels))
    if above or additions.labels or not sealed:
        wanted = {**additions.labels, keys.SEAL: seal(pod, additions.labels, above)}
        _entries(steps, "/metadata/labels", labels, wanted)
    return steps + above


def _spec(pod: Pod, additions: Additions) -> list[Operation]:
    """The steps below ``/spec``, which is added where the pod has none."""
    spec = pod.spec or _NO_SPEC
    steps: list[Operation] = []
    if additions.node_name:
        steps.append(Operation("add", "/spec/nodeName", additions.node_name))
    _affinity(steps, spec.affinity, additions)
    if additions.tolerations:
        _append(steps, "/spec/tolerations", spec.tolerations, additions.tolerations)
    if additions.claims:
        _append(steps, "/spec/resourceClaims", spec.resource_claims, additions.claims)
    for wanted in additions.resources:
        _resources(steps, wanted, at(spec, wanted.place).resources)
    if pod.spec is None and steps:
        steps.insert(0, Operation("add", "/spec", {}))
    return steps


def encode(steps: Sequence[Operation]) -> bytes:
    """The patch as JSON."""
    return _ENCODE(steps)


@functools.lru_cache(maxsize=256)
def pointer(name: str) -> str:
    """A name as part of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


_WAITS: Final = f"/metadata/annotations/{pointer(keys.WAITS)}"


def _waits(there: Mapping[str, str] | None, additions: Additions, *, own: bool) -> Iterable[Operation]:
    """The step for the annotation that says what the pod waits for.

    What a user wrote there is replaced or removed. ``own`` tells that everything else in the pod is as the webhook
    leaves it. Then a text about the same kind of wait stays: it says the same about the pod without its patch.
    """
    known = (there or {}).get(keys.WAITS)
    if not additions.waits:
        return () if known is None else (Operation("remove", _WAITS),)
    if known is None:
        return (Operation("add", _WAITS, additions.waits),)
    if known == additions.waits or (own and known.startswith(additions.waits.partition(":")[0])):
        return ()
    return (Operation("replace", _WAITS, additions.waits),)


def _entries(steps: list[Operation], path: str, there: Mapping[str, object] | None, wanted: dict[str, str]) -> None:
    if there is None:
        steps.append(Operation("add", path, wanted))
        return
    for key, value in wanted.items():
        known = there.get(key)
        if known != value:
            steps.append(Operation("add" if known is None else "replace", f"{path}/{pointer(key)}", value))


def _append(steps: list[Operation], path: str, there: tuple[Any, ...] | None, wanted: tuple[Any, ...]) -> None:
    if there is None:
        steps.append(Operation("add", path, wanted))
    else:
        steps += [Operation("add", f"{path}/-", value) for value in wanted]


def _resources(steps: list[Operation], wanted: ContainerAmounts, there: Resources | None) -> None:
    """Requests, limits and claims of a container."""
    path = f"{wanted.place.pointer}/resources"
    if there is None:
        steps.append(Operation("add", path, {}))
    parts = there.requests if there else None, there.limits if there else None
    for part, own, amounts in zip(("requests", "limits"), parts, (wanted.requests, wanted.limits), strict=True):
        if amounts:
            _entries(steps, f"{path}/{part}", own, amounts)
    if wanted.claims:
        _append(steps, f"{path}/claims", there.claims if there else None, wanted.claims)


def _affinity(steps: list[Operation], there: Affinity | None, additions: Additions) -> None:
    """Everything below ``/spec/affinity``, which is added where the pod has none."""
    nodes = additions.edits or additions.terms or additions.preferred
    near, away = additions.near, additions.away
    if not (nodes or near.any or away.any):
        return
    root = "/spec/affinity"
    if there is None:
        steps.append(Operation("add", root, {}))
    if nodes:
        _nodes(steps, f"{root}/nodeAffinity", there.node_affinity if there else None, additions)
    if near.any:
        _pods(steps, f"{root}/podAffinity", there.pod_affinity if there else None, near)
    if away.any:
        _pods(steps, f"{root}/podAntiAffinity", there.pod_anti_affinity if there else None, away)


def _nodes(steps: list[Operation], path: str, there: NodeAffinity | None, additions: Additions) -> None:
    if there is None:
        steps.append(Operation("add", path, {}))
    own = there.required if there else None
    terms = own.node_selector_terms if own else None
    if terms:
        _terms(steps, f"{path}/{REQUIRED}/nodeSelectorTerms", terms, additions)
    elif additions.terms:
        steps.append(Operation("add", f"{path}/{REQUIRED}", NodeSelector(additions.terms)))
    if additions.preferred:
        _append(steps, f"{path}/{PREFERRED}", there.preferred if there else None, additions.preferred)


def _terms(steps: list[Operation], path: str, there: tuple[NodeTerm, ...], additions: Additions) -> None:
    """Extend the pod's own terms, append new ones, and remove empty ones, from the last so that no index moves."""
    for edit in additions.edits:
        own = there[edit.at]
        if edit.expressions:
            _append(steps, f"{path}/{edit.at}/matchExpressions", own.match_expressions, edit.expressions)
        if edit.fields:
            _append(steps, f"{path}/{edit.at}/matchFields", own.match_fields, edit.fields)
    steps += [Operation("add", f"{path}/-", term) for term in additions.terms]
    steps += [Operation("remove", f"{path}/{edit.at}") for edit in reversed(additions.edits) if edit.empty]


def _pods(steps: list[Operation], path: str, there: PodAffinity | None, wanted: PodTerms) -> None:
    if there is None:
        steps.append(Operation("add", path, {}))
    if wanted.required:
        _append(steps, f"{path}/{REQUIRED}", there.required if there else None, wanted.required)
    if wanted.preferred:
        _append(steps, f"{path}/{PREFERRED}", there.preferred if there else None, wanted.preferred)
