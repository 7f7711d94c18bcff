"""Reads pods of processing elements from JSON, with only what their state machine looks at."""

import sys

from msgspec import Raw, Struct

from webhook.cluster.objects import items, wire
from webhook.cluster.objects.metadata import NAMESPACE
from webhook.controller.jobstore.records import controller_of
from webhook.placement.elements.element_pod import ElementPod
from webhook.placement.elements.names import launch_of
from webhook.placement.elements.pod_manifest import CONTAINER, CONTENT_ID
from webhook.placement.kube.timestamps import seconds_of
from webhook.placement.text.api_kinds import PROCESSING_ELEMENT

_WORDS = 1024
"""Characters that are kept of a message, of which an end of a container may have 4,096, and of a reason: as many as the
status of a ProcessingElement has room for."""


class _PodMetadata(Struct, frozen=True, gc=False, rename="camel"):
    name: str = ""
    namespace: str = NAMESPACE
    uid: str = ""
    resource_version: str = ""
    deletion_timestamp: str | None = None
    annotations: dict[str, str] | None = None
    owner_references: tuple[wire.Owner, ...] | None = None


class _NodeName(Struct, frozen=True, gc=False, rename="camel"):
    node_name: str | None = None


class _Terminated(Struct, frozen=True, gc=False, rename="camel"):
    exit_code: int = 0
    reason: str | None = None
    message: str | None = None
    finished_at: str | None = None


class _Pausing(Struct, frozen=True, gc=False):
    reason: str | None = None
    message: str | None = None


class _ContainerState(Struct, frozen=True, gc=False):
    waiting: _Pausing | None = None
    terminated: _Terminated | None = None


class _ContainerStatus(Struct, frozen=True, gc=False):
    name: str = ""
    state: _ContainerState | None = None


class _PodProgress(Struct, frozen=True, gc=False, rename="camel"):
    phase: str | None = None
    reason: str | None = None
    message: str | None = None
    start_time: str | None = None
    conditions: tuple[wire.Condition, ...] | None = None
    init_container_statuses: tuple[_ContainerStatus, ...] | None = None
    container_statuses: tuple[_ContainerStatus, ...] | None = None


class _PodDocument(Struct, frozen=True, gc=False):
    metadata: _PodMetadata = _PodMetadata()
    spec: _NodeName | None = None
    status: _PodProgress | None = None


def read_element_pod(item: Raw) -> ElementPod | None:
    """The pod; ``None`` if its controller is not a ProcessingElement. Raises one of :data:`decoding.ERRORS`."""
    document = items.decode(item, _PodDocument)
    metadata, status = document.metadata, document.status or _PodProgress()
    owner = controller_of(metadata.owner_references, PROCESSING_ELEMENT)
    if owner is None or not metadata.name:
        return None
    conditions = {condition.type: condition for condition in status.conditions or ()}
    disruption, ready, bound = (conditions.get(kind) for kind in ("DisruptionTarget", "Ready", "PodScheduled"))
    end = _end(status)
    version = metadata.resource_version
    return ElementPod(
        namespace=sys.intern(metadata.namespace),
        name=metadata.name,
        uid=metadata.uid or f"{metadata.namespace}/{metadata.name}",
        element=sys.intern(owner.name),
        owner=owner.uid,
        version=int(version) if version.isdecimal() else 0,
        launch=launch_of(owner.name, metadata.name),
        content_id=sys.intern((metadata.annotations or {}).get(CONTENT_ID, "")),
        phase=sys.intern(status.phase or "Pending"),
        node=sys.intern((document.spec and document.spec.node_name) or ""),
        deleting=metadata.deletion_timestamp is not None,
        disruption=_reason(disruption)[:_WORDS] if disruption and disruption.status == "True" else "",
        exit_code=end.exit_code if end else None,
        reason=(status.reason or (end and end.reason) or "")[:_WORDS],
        message=(status.message or (end and end.message) or "")[:_WORDS],
        trouble=_trouble(status),
        ready=ready is not None and ready.status == "True",
        unready=_unready(ready),
        unscheduled=(bound.message or "")[:_WORDS] if bound and bound.status == "False" else "",
        started=seconds_of(status.start_time) or 0.0,
        finished=(seconds_of(end.finished_at) or 0.0) if end else 0.0,
    )


def _reason(condition: wire.Condition) -> str:
    return condition.reason or condition.type


def _unready(ready: wire.Condition | None) -> str:
    return (ready.message or ready.reason or "")[:_WORDS] if ready and ready.status != "True" else ""


def _end(status: _PodProgress) -> _Terminated | None:
    """How the pod's worker ended: the container of the runtime, else the first one that failed, else the first one.

    Of a pod that has succeeded only sidecars can have failed: they are ended after its containers, and do not count.
    """
    others = () if status.phase == "Succeeded" else status.init_container_statuses or ()
    every = (*(status.container_statuses or ()), *others)
    ends = {each.name: each.state.terminated for each in every if each.state and each.state.terminated}
    failed = next((end for end in ends.values() if end.exit_code), None)
    own = ends.get(CONTAINER)
    return own if own and (own.exit_code or not failed) else failed or next(iter(ends.values()), None)


def _trouble(status: _PodProgress) -> str:
    """What the first container that waits, waits for: ``ImagePullBackOff: ...``."""
    for each in (*(status.init_container_statuses or ()), *(status.container_statuses or ())):
        if each.state and each.state.waiting:
            return ": ".join(filter(None, (each.state.waiting.reason, each.state.waiting.message)))[:_WORDS]
    return ""
