"""What has changed since an object was created: its nodes, the HostPools that it names, and what admission would add.

Times are those that the objects state themselves: conditions, taints, and the last change of a spec.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

from webhook.admission.unstructured import Unstructured, mapping, sequence
from webhook.cli.why.report import JudgedObject, SinceCreation
from webhook.cluster.queries.object_facts import ObjectRef
from webhook.placement.kube.timestamps import time_of, timestamp
from webhook.placement.text import keys
from webhook.placement.text.api_kinds import HOST_POOL, NODE
from webhook.placementreview.explanations.explanation import PodExplanation

NODES: Final = 20
"""Nodes whose history is looked at, at most: each is a request."""

_NOTED: Final = frozenset({keys.INJECTED, keys.WAITS, keys.SEAL})
"""What the webhook writes about a pod; it changes with the words, too."""


def concerned(judged: JudgedObject | None, pod: Unstructured | None) -> list[ObjectRef]:
    """The nodes and HostPools whose history explains the verdict: those that no clause of the user rules out.

    ``pod`` is the pod as it is, if the object is one; its own node comes first.
    """
    if judged is None:
        return []
    own = [str(mapping(pod, "spec").get("nodeName") or "")] if pod else []
    others = [node for removed in judged.explanation.removed if not removed.clause for node in removed.nodes]
    nodes = [name for name in dict.fromkeys([*own, *others]) if name][:NODES]
    pools = {(pool.namespace, pool.name) for _, pool in judged.ask.pools} if judged.ask else set()
    return [
        *(ObjectRef(HOST_POOL, namespace, name) for namespace, name in sorted(pools)),
        *(ObjectRef(NODE, "", name) for name in nodes),
    ]


def changes_since(
    created: object, judged: JudgedObject | None, pod: Unstructured | None, seen: Iterable[Unstructured]
) -> list[SinceCreation]:
    """What has changed since ``created`` (RFC 3339), the earliest first; what has no time comes last.

    ``seen`` are the objects of :func:`concerned`, and the object itself if it is a HostPool.
    """
    start = time_of(created)
    dated = [
        (at, text) for one in seen for at, text in _history(one) if start is not None and at is not None and at > start
    ]
    changes = [SinceCreation(timestamp(at), text) for at, text in sorted(dated)]
    return [*changes, *(SinceCreation("", text) for text in _differences(judged, pod))]


def _history(document: Unstructured) -> Iterator[tuple[datetime | None, str]]:
    """What a node or HostPool says about its past."""
    metadata, name = mapping(document, "metadata"), mapping(document, "metadata").get("name")
    if document.get("kind") == NODE.name:
        yield time_of(metadata.get("creationTimestamp")), f"node {name} was added"
        for one in sequence(mapping(document, "status"), "conditions"):
            if one.get("type") == "Ready":
                ready = "is ready" if one.get("status") == "True" else "is not ready"
                yield time_of(one.get("lastTransitionTime")), f"node {name} {ready}"
        for taint in sequence(mapping(document, "spec"), "taints"):
            shown = f"{taint.get('key')}:{taint.get('effect')}"
            yield time_of(taint.get("timeAdded")), f"node {name} got the taint {shown}"
        return
    for one in sequence(mapping(document, "status"), "conditions"):
        why = f": {one['message']}" if one.get("message") else ""
        state = f"condition {one.get('type')} became {one.get('status')}{why}"
        yield time_of(one.get("lastTransitionTime")), f"HostPool {name}: {state}"
    yield _spec_changed(metadata), f"HostPool {name}: its spec was changed"


def _spec_changed(metadata: Unstructured) -> datetime | None:
    """When the spec was last written; ``None`` if it was not since the object was created."""
    if metadata.get("generation", 1) == 1:
        return None
    times = [
        time_of(entry.get("time"))
        for entry in sequence(metadata, "managedFields")
        if "f:spec" in mapping(entry, "fieldsV1") and not entry.get("subresource")
    ]
    return max(filter(None, times), default=None)


def _differences(judged: JudgedObject | None, pod: Unstructured | None) -> Iterator[str]:
    """How what admission would add to the pod today differs from what it has; nothing for one that it would refuse."""
    if pod is None:
        return
    annotations = mapping(pod, "metadata", "annotations")
    if waited := annotations.get(keys.WAITS):
        yield f"when it was created, it had to wait: {str(waited).partition(chr(10))[0]}"
    explanation = judged.explanation if judged else None
    if not isinstance(explanation, PodExplanation) or not explanation.asks:
        return
    if keys.INJECTED not in annotations:
        yield (
            "admission added nothing to it: when it was created, the webhook was not called (is its namespace "
            "excluded?) or was in audit mode; change that, and recreate it"
        )
    elif written := _written(explanation.patch):
        yield f"admission would write {', '.join(written)} differently today: recreate it to get that"


def _written(patch: Sequence[Unstructured]) -> list[str]:
    """The parts of the pod that the patch changes, such as ``spec.affinity``, but for what is only noted about it."""
    paths = [str(step.get("path")).removeprefix("/").split("/") for step in patch]
    return sorted({".".join(path[:2]) for path in paths if path[-1].replace("~1", "/") not in _NOTED})
