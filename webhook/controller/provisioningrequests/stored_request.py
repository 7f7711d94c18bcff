"""A ProvisioningRequest as the controller keeps it, with the answer that its conditions give.

The types of conditions are those of the cluster autoscaler (kubernetes/autoscaler,
``cluster-autoscaler/apis/provisioningrequest/autoscaling.x-k8s.io/v1/types.go``).
"""

from typing import Final

from msgspec import Raw, Struct

from kubeapi.client import decoding
from webhook.cluster.objects import items, wire
from webhook.cluster.objects.metadata import NAMESPACE, MalformedError
from webhook.controller.jobs.stored_job_status import CAPACITY_FOUND
from webhook.controller.jobstore.records import controller_of
from webhook.placement.inventory.pool_index import Name
from webhook.placement.objects.condition import ConditionState
from webhook.placement.text.api_kinds import STREAMS_JOB
from webhook.placement.text.problem import counted

CLASS: Final = "check-capacity.autoscaling.x-k8s.io"
"""The class that looks for room on the nodes there are, and on those that are being made, and makes none itself."""

NOT_FOUND: Final = "CapacityNotFound"
"""Reason of the condition CapacityFound of a Job if there is no room now."""

REVOKED: Final = "CapacityRevoked"
"""Reason of the condition CapacityFound of a Job if there was room and is none any more."""

NOT_ANSWERED: Final = "NotAnswered"
"""Reason of the condition CapacityFound of a Job about which the autoscaler says nothing."""

_UNREAD: Final = "FailedToCreatePods"
"""Reason of the condition Failed of a request whose templates the autoscaler did not find: they are made after it."""

_NOT_STATED: Final = wire.Condition()

_WIDTH: Final = 256
"""Characters of the autoscaler's message that are repeated."""


class _RequestedPods(Struct, frozen=True, gc=False):
    count: int = 0


class _RequestSpec(Struct, frozen=True, gc=False, rename="camel"):
    provisioning_class_name: str = ""
    pod_sets: tuple[_RequestedPods, ...] = ()


class _RequestStatus(Struct, frozen=True, gc=False):
    conditions: tuple[wire.Condition, ...] | None = None


class _RequestMetadata(Struct, frozen=True, gc=False, rename="camel"):
    name: str = ""
    namespace: str = NAMESPACE
    uid: str = ""
    deletion_timestamp: str | None = None
    owner_references: tuple[wire.Owner, ...] | None = None


class _RequestDocument(Struct, frozen=True, gc=False, rename="camel"):
    api_version: str = ""
    metadata: _RequestMetadata = _RequestMetadata()
    spec: _RequestSpec = _RequestSpec()
    status: Raw = Raw(b"{}")


class StoredRequest(Struct, frozen=True, gc=False, kw_only=True):
    """A ProvisioningRequest for ``count`` pods. ``job`` and ``owner`` are name and uid of the Job that controls it.

    Both are empty if no Job does, or if the request is of another class. ``answer`` is what the condition CapacityFound
    of the Job is to say, ``None`` without one; ``accepted`` is whether the autoscaler has seen the request, ``unread``
    whether it gave up because it could not read the pods.
    """

    namespace: str
    name: str
    uid: str
    api_version: str = ""
    job: str = ""
    owner: str = ""
    count: int = 0
    accepted: bool = False
    unread: bool = False
    answer: ConditionState | None = None

    @property
    def key(self) -> Name:
        """Namespace and name."""
        return self.namespace, self.name


def read_request(item: Raw) -> StoredRequest:
    """A request from JSON; raises :class:`MalformedError` without a name, or one of :data:`decoding.ERRORS`."""
    document = items.decode(item, _RequestDocument)
    metadata, spec = document.metadata, document.spec
    if not metadata.name:
        raise MalformedError("metadata.name: missing")
    owner = controller_of(metadata.owner_references, STREAMS_JOB)
    ours = owner is not None and spec.provisioning_class_name == CLASS
    count = sum(pods.count for pods in spec.pod_sets)
    said = _conditions(document.status)
    failed = said.get("Failed", _NOT_STATED)
    unread = _holds(failed) and failed.reason == _UNREAD
    return StoredRequest(
        namespace=metadata.namespace,
        name=metadata.name,
        uid=metadata.uid,
        api_version=document.api_version,
        job=owner.name if owner and ours else "",
        owner=owner.uid if owner and ours else "",
        count=count,
        accepted=_holds(said.get("Accepted")),
        unread=unread,
        answer=_unread(metadata.name, failed) if unread else _answer(said, count),
    )


def owner_uid(item: Raw) -> str:
    """The uid of the object's controller, of whatever kind; empty without one."""
    owner = controller_of(items.decode(item, _RequestDocument).metadata.owner_references)
    return owner.uid if owner else ""


def _conditions(status: Raw) -> dict[str, wire.Condition]:
    """The conditions by type; none if they break rules."""
    try:
        listed = items.decode(status, _RequestStatus).conditions
    except decoding.ERRORS:
        listed = None
    return {condition.type: condition for condition in listed or ()}


def _answer(said: dict[str, wire.Condition], count: int) -> ConditionState | None:
    """What the autoscaler says about so many pods; ``None`` if it has not decided."""
    pods, provisioned = counted(count, "pod"), said.get("Provisioned")
    if _holds(failed := said.get("Failed")):
        return _no(failed)
    if _holds(revoked := said.get("CapacityRevoked")):
        return ConditionState(
            holds=False,
            reason=REVOKED,
            message=f"the cluster autoscaler has no room for {pods} any more{_words(revoked)}",
        )
    if provisioned is None:
        return None
    if not _holds(provisioned):
        return _no(provisioned)
    room = f"the cluster autoscaler has room for {pods}, on existing nodes or on nodes that are being added"
    if _holds(said.get("BookingExpired")):
        room += "; it no longer reserves this room"
    return ConditionState(holds=True, reason=CAPACITY_FOUND, message=room)


def _no(condition: wire.Condition | None) -> ConditionState:
    return ConditionState(
        holds=False, reason=NOT_FOUND, message=f"the cluster autoscaler has no room now{_words(condition)}"
    )


def _unread(name: str, condition: wire.Condition) -> ConditionState:
    message = f"the cluster autoscaler could not read the pods of ProvisioningRequest {name}{_words(condition)}"
    return ConditionState(holds=False, reason=NOT_ANSWERED, message=message)


def _words(condition: wire.Condition | None) -> str:
    """What the autoscaler writes of it, after a colon."""
    text = " ".join(((condition and (condition.message or condition.reason)) or "").split())
    return f": {text[:_WIDTH]}" if text else ""


def _holds(condition: wire.Condition | None) -> bool:
    return condition is not None and condition.status == "True"
