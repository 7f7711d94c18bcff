"""Bounds of a PlacementReview, and the rights that its what-ifs take: what is wrong with a spec in any cluster.

A what-if about a node that a user may not list would tell whether it exists, and what runs there; so it takes the right
to list nodes, and one about a pod that to list the pods of its namespace.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from webhook.admission.unstructured import Unstructured
from webhook.placement.elements.pod_template import nested_too_deeply
from webhook.placement.kube.quantity import parse_quantity
from webhook.placement.kube.size_limits import NESTING_LIMIT
from webhook.placement.text.problem import Fault, Problem, quote
from webhook.placementreview.review import AddedNodes, AddedShape, PodName, ReviewSpec, Visible, WhatIf

MANIFESTS: Final = 100
"""Objects that are reviewed at a time."""

DRAINED: Final = 100
"""Nodes that are drained at a time."""

CORDONED: Final = 1000
"""Nodes that are cordoned at a time."""

ADDED: Final = 1000
"""Nodes that are added, in all."""

ADDITIONS: Final = 100
"""Kinds of nodes that are added."""

REMOVED: Final = 1000
"""Pods that are removed."""

EVICTED: Final = 2000
"""Pods that leave drained nodes, in all: each of them is judged, one after another."""

NAME: Final = 253
"""Characters of a name of Kubernetes."""

ENTRIES: Final = 100
"""Labels, taints and amounts of an added node, of each so many."""

TEXT: Final = 317
"""Characters of a key, a value or an amount: a label key with its prefix has no more."""

_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def problems_of_spec(spec: ReviewSpec, namespace: str, visible: Visible) -> Iterator[Problem]:
    """What is wrong with the spec of a review in that namespace, by a user who may list what is ``visible``."""
    if len(spec.manifests) > MANIFESTS:
        yield _too_many("spec.manifests", len(spec.manifests), "objects", MANIFESTS)
        return
    for place, manifest in enumerate(spec.manifests):
        yield from _of_manifest(f"spec.manifests[{place}]", manifest, namespace)
    if spec.what_if is not None:
        yield from _of_what_if(spec.what_if, namespace, visible)


def _of_manifest(field: str, manifest: Unstructured, namespace: str) -> Iterator[Problem]:
    for name in ("apiVersion", "kind"):
        value = manifest.get(name)
        if not isinstance(value, str) or not 0 < len(value) <= NAME:
            yield Problem(f"{field}.{name}", f"must be a text of 1 to {NAME} characters")
    if isinstance(manifest.get("items"), list) and str(manifest.get("kind")).endswith("List"):
        yield Problem(field, "is a list of objects: state each of its items as a manifest")
        return
    if nested_too_deeply(manifest):
        yield Problem(field, f"is nested too deeply, at most {NESTING_LIMIT} levels are allowed")
        return
    metadata = manifest.get("metadata", {})
    if not isinstance(metadata, dict):
        yield Problem(f"{field}.metadata", "must be an object")
        return
    for name in ("name", "generateName", "namespace"):
        value = metadata.get(name)
        if value is not None and not (isinstance(value, str) and len(value) <= NAME):
            yield Problem(f"{field}.metadata.{name}", f"must be a text of at most {NAME} characters")
    stated = metadata.get("namespace")
    if isinstance(stated, str) and stated not in {"", namespace} and len(stated) <= NAME:
        message = f"{quote(stated)} is not the namespace of the review, {quote(namespace)}: review it there"
        yield Problem(f"{field}.metadata.namespace", message)


def _of_what_if(what_if: WhatIf, namespace: str, visible: Visible) -> Iterator[Problem]:
    """What is wrong with the changes of the cluster."""
    for field, entries, noun, most in (
        ("drain", what_if.drain, "nodes", DRAINED),
        ("cordon", what_if.cordon, "nodes", CORDONED),
        ("addNodes", what_if.add_nodes, "entries", ADDITIONS),
        ("removePods", what_if.remove_pods, "pods", REMOVED),
    ):
        if len(entries) > most:
            yield _too_many(f"spec.whatIf.{field}", len(entries), noun, most)
            return
    for field, names in (("drain", what_if.drain), ("cordon", what_if.cordon)):
        if names and not visible.nodes:
            yield _no_right(f"spec.whatIf.{field}", "nodes")
        yield from _of_names(f"spec.whatIf.{field}", names)
    count = sum(added.count for added in what_if.add_nodes)
    if count > ADDED:
        yield _too_many("spec.whatIf.addNodes", count, "nodes", ADDED)
    for place, added in enumerate(what_if.add_nodes):
        yield from _of_added(f"spec.whatIf.addNodes[{place}]", added, visible)
    for place, pod in enumerate(what_if.remove_pods):
        yield from _of_pod(f"spec.whatIf.removePods[{place}]", pod, namespace, visible)


def _of_names(field: str, names: Sequence[str]) -> Iterator[Problem]:
    for place, name in enumerate(names):
        if not 0 < len(name) <= NAME:
            yield Problem(f"{field}[{place}]", f"must be a name of 1 to {NAME} characters")


def _of_added(field: str, added: AddedNodes, visible: Visible) -> Iterator[Problem]:
    if added.count < 1:
        yield Problem(f"{field}.count", f"is {added.count}, it must be 1 or more")
    if bool(added.like) == (added.shape is not None):
        yield Problem(field, "must have either like, the name of a node, or shape")
    elif added.like:
        if not visible.nodes:
            yield _no_right(f"{field}.like", "nodes")
        if len(added.like) > NAME:
            yield Problem(f"{field}.like", f"must be a name of at most {NAME} characters")
    if added.shape is not None:
        yield from _of_shape(f"{field}.shape", added.shape)


def _of_shape(field: str, shape: AddedShape) -> Iterator[Problem]:
    for name, entries in (("allocatable", shape.allocatable), ("labels", shape.labels), ("taints", shape.taints)):
        if len(entries) > ENTRIES:
            yield _too_many(f"{field}.{name}", len(entries), "entries", ENTRIES)
            return
    texts = [*shape.labels.items(), *((taint.key, taint.value) for taint in shape.taints)]
    texts += [(resource, str(amount)) for resource, amount in shape.allocatable.items()]
    if any(len(text) > TEXT for pair in texts for text in pair):
        yield Problem(field, f"has a text of more than {TEXT} characters")
        return
    for resource, amount in shape.allocatable.items():
        nano = parse_quantity(amount)
        if nano is None or nano < 0:
            yield Problem(f"{field}.allocatable[{resource}]", f"{quote(str(amount))} is not an amount")
    for place, taint in enumerate(shape.taints):
        if not taint.key:
            yield Problem(f"{field}.taints[{place}].key", "must not be empty")
        if taint.effect not in _EFFECTS:
            message = f"{quote(taint.effect)} is not one of {', '.join(_EFFECTS)}"
            yield Problem(f"{field}.taints[{place}].effect", message)


def _of_pod(field: str, pod: PodName, namespace: str, visible: Visible) -> Iterator[Problem]:
    if not 0 < len(pod.name) <= NAME:
        yield Problem(f"{field}.name", f"must be a name of 1 to {NAME} characters")
    if len(pod.namespace) > NAME:
        yield Problem(f"{field}.namespace", f"must be a name of at most {NAME} characters")
    elif not visible.pods(pod.namespace or namespace):
        yield _no_right(field, f"pods of namespace {pod.namespace or namespace}")


def _too_many(field: str, count: int, noun: str, most: int) -> Problem:
    return Problem(field, f"has {count:,} {noun}, at most {most:,} are allowed")


def _no_right(field: str, what: str) -> Problem:
    return Problem(field, f"needs the right to list {what}", fault=Fault.FORBIDDEN)
