"""JSON Patch operations (RFC 6902), built directly: the only place that knows paths and their escaping.

A parent that is absent is added with what belongs into it; a list is appended to, never replaced.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from webhook.placement import keys
from webhook.placement.merge import Additions, PodTerms
from webhook.placement.nodeterms import TermEdit
from webhook.placement.pod import Affinity, NodeAffinity, NodeSelector, NodeTerm, Pod, PodAffinity, PodSpec

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class Operation(Struct, frozen=True, gc=False, omit_defaults=True):
    """One step of a patch."""

    op: Literal["add", "replace", "remove"]
    path: str
    value: Any = msgspec.UNSET


_NO_SPEC, _NO_AFFINITY = PodSpec(), Affinity()


def operations(pod: Pod, additions: Additions) -> list[Operation]:
    """The patch that makes the pod say what it lacks; empty when it lacks nothing."""
    labels = pod.metadata.labels if pod.metadata else None
    annotations = pod.metadata.annotations if pod.metadata else None
    spec = pod.spec or _NO_SPEC
    affinity = spec.affinity
    return [
        *_entries("/metadata/annotations", annotations, {keys.INJECTED: additions.injected}),
        *_entries("/metadata/labels", labels, additions.labels),
        *([Operation("add", "/spec/nodeName", additions.node_name)] if additions.node_name else ()),
        *_affinity(affinity, additions),
        *_append("/spec/tolerations", spec.tolerations, additions.tolerations),
    ]


def encode(steps: Sequence[Operation]) -> bytes:
    """The patch as JSON."""
    return msgspec.json.encode(steps)


def pointer(name: str) -> str:
    """A name as part of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


def _entries(path: str, there: dict[str, str] | None, wanted: dict[str, str]) -> Iterator[Operation]:
    lacking = {key: value for key, value in wanted.items() if (there or {}).get(key) != value}
    if not lacking:
        return
    if there is None:
        yield Operation("add", path, lacking)
        return
    for key, value in lacking.items():
        yield Operation("replace" if key in there else "add", f"{path}/{pointer(key)}", value)


def _append(path: str, there: tuple[Any, ...] | None, wanted: tuple[Any, ...]) -> Iterator[Operation]:
    if not wanted:
        return
    if there is None:
        yield Operation("add", path, wanted)
        return
    for value in wanted:
        yield Operation("add", f"{path}/-", value)


def _affinity(there: Affinity | None, additions: Additions) -> Iterator[Operation]:
    """Whatever is wanted below ``/spec/affinity``, which is made where the pod has none."""
    root = "/spec/affinity"
    own = there or _NO_AFFINITY
    below = [
        *_nodes(f"{root}/nodeAffinity", own.node_affinity, additions),
        *_pods(f"{root}/podAffinity", own.pod_affinity, additions.near),
        *_pods(f"{root}/podAntiAffinity", own.pod_anti_affinity, additions.away),
    ]
    if below and there is None:
        yield Operation("add", root, {})
    yield from below


def _nodes(path: str, there: NodeAffinity | None, additions: Additions) -> Iterator[Operation]:
    if not (additions.edits or additions.terms or additions.preferred):
        return
    if there is None:
        yield Operation("add", path, {})
    own = there.required if there else None
    terms = own.node_selector_terms if own else None
    if additions.terms and not terms:
        yield Operation("add", f"{path}/{REQUIRED}", NodeSelector(additions.terms))
    elif terms:
        yield from _terms(f"{path}/{REQUIRED}/nodeSelectorTerms", terms, additions)
    yield from _append(f"{path}/{PREFERRED}", there.preferred if there else None, additions.preferred)


def _terms(path: str, there: tuple[NodeTerm, ...], additions: Additions) -> Iterator[Operation]:
    """Fill the pod's own terms, append new ones, and take out the empty ones, from the last so that none moves."""
    for edit in additions.edits:
        yield from _filled(f"{path}/{edit.at}", there[edit.at], edit)
    for term in additions.terms:
        yield Operation("add", f"{path}/-", term)
    for edit in reversed(additions.edits):
        if edit.empty:
            yield Operation("remove", f"{path}/{edit.at}")


def _filled(path: str, there: NodeTerm, edit: TermEdit) -> Iterator[Operation]:
    yield from _append(f"{path}/matchExpressions", there.match_expressions, edit.expressions)
    yield from _append(f"{path}/matchFields", there.match_fields, edit.fields)


def _pods(path: str, there: PodAffinity | None, wanted: PodTerms) -> Iterator[Operation]:
    below = [
        *_append(f"{path}/{REQUIRED}", there.required if there else None, wanted.required),
        *_append(f"{path}/{PREFERRED}", there.preferred if there else None, wanted.preferred),
    ]
    if below and there is None:
        yield Operation("add", path, {})
    yield from below
