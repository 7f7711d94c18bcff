"""AdmissionChecks and Workloads of Kueue as the controller keeps them: what says whether an answer is due.

The pod sets are not kept. They are read when a Workload is judged, because a cluster may have tens of thousands of
Workloads, of which few wait for an answer (Kueue, ``apis/kueue/v1beta2/workload_types.go``).
"""

from collections.abc import Collection
from typing import Any, Final
from urllib.parse import quote

from msgspec import Raw, Struct

from webhook.cluster.objects import items, wire
from webhook.cluster.objects.metadata import NAMESPACE, MalformedError
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.timestamps import seconds_of
from webhook.placement.text.api_kinds import ADMISSION_CHECK, KUEUE_WORKLOAD
from webhook.placement.text.keys import PREFIX

CONTROLLER: Final = f"placement.{PREFIX}admission-check"
"""``spec.controllerName`` of the AdmissionChecks that this controller answers."""

PENDING: Final = "Pending"
READY: Final = "Ready"

_HELD: Final = "QuotaReserved"
_EVICTED: Final = "Evicted"
_OVER: Final = ("Finished", "DeactivationTarget")

REPLACED: Final = "WorkloadSliceReplaced"
"""The reason of the condition Finished of a Workload whose pods run on as those of a larger one."""


class CheckState(Struct, frozen=True, gc=False, rename="camel"):
    """An entry of ``status.admissionChecks`` of a Workload."""

    name: str = ""
    state: str = ""
    last_transition_time: str | None = None
    retry_count: int | None = None
    requeue_after_seconds: int | None = None


class RequeueState(Struct, frozen=True, gc=False, rename="camel"):
    """When Kueue puts an evicted Workload back into its queue."""

    requeue_at: str | None = None
    count: int | None = None


class _DatedCondition(wire.Condition, frozen=True, gc=False, rename="camel"):
    last_transition_time: str | None = None


class _QueuedStatus(Struct, frozen=True, gc=False, rename="camel"):
    admission_checks: tuple[CheckState, ...] | None = None
    conditions: tuple[_DatedCondition, ...] | None = None
    requeue_state: RequeueState | None = None


class _QueuedSpec(Struct, frozen=True, gc=False):
    active: bool | None = None


class _CheckedMetadata(Struct, frozen=True, gc=False, rename="camel"):
    name: str = ""
    namespace: str = NAMESPACE
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    deletion_timestamp: str | None = None


class _WorkloadHead(Struct, frozen=True, gc=False, rename="camel"):
    api_version: str = ""
    metadata: _CheckedMetadata = _CheckedMetadata()
    spec: _QueuedSpec | None = None
    status: _QueuedStatus | None = None


class CheckedWorkload(Struct, frozen=True, gc=False):
    """A Workload with admission checks.

    ``reserved`` tells that it has its quota, ``admitted`` that all of its checks have passed, ``evicted`` that it has
    to give both back, and ``over`` that it has finished, is being deleted or must not run. ``requeue`` says when Kueue
    queues it again, ``since`` when it was admitted. It is ``replaced`` if its pods run on as those of a larger one.
    """

    namespace: str
    name: str
    uid: str
    version: str
    api_version: str
    checks: tuple[CheckState, ...]
    reserved: bool
    admitted: bool
    evicted: bool
    over: bool
    requeue: RequeueState
    since: str | None = None
    replaced: bool = False

    @property
    def key(self) -> Name:
        """Namespace and name."""
        return self.namespace, self.name

    @property
    def path(self) -> str:
        """Its API path, in the version in which it was read."""
        return f"{self.home}/{self.name}"

    @property
    def home(self) -> str:
        """The API path of all Workloads of its namespace, in that version."""
        return f"/apis/{self.api_version}/namespaces/{quote(self.namespace)}/{KUEUE_WORKLOAD.resource}"

    @property
    def placed(self) -> bool:
        """Whether it has its quota and keeps it, so that its pods run or are to be made."""
        return self.reserved and not self.evicted and not self.over

    def delayed(self, own: Collection[str]) -> bool:
        """Whether Kueue waits before it queues the Workload again, and only because one of these checks said so.

        Kueue v0.19 takes the quota of such a Workload back once the time has passed.
        """
        said = {check.name for check in self.checks if check.requeue_after_seconds is not None}
        waits = self.requeue.requeue_at is not None and not self.over and not self.admitted
        return waits and self.requeue.count is None and said.issubset(own)

    def awaiting(self, own: Collection[str]) -> list[int]:
        """The places of the checks among ``own`` that wait for an answer."""
        if not self.placed:
            return []
        return [at for at, check in enumerate(self.checks) if check.state == PENDING and check.name in own]

    def names(self, own: Collection[str]) -> bool:
        """Whether it has one of these checks."""
        return any(check.name in own for check in self.checks)

    def passed(self, own: Collection[str]) -> bool:
        """Whether all of these checks have passed; not if it has none of them."""
        mine = [check for check in self.checks if check.name in own]
        return bool(mine) and all(check.state == READY for check in mine)

    def age(self, now: float) -> float:
        """The seconds since it was admitted, by the time in seconds since 1970; 0 for one that is not."""
        since = seconds_of(self.since) if self.admitted else now
        return now - (since or 0.0)


class PlacementCheck(Struct, frozen=True, gc=False):
    """An AdmissionCheck of this controller; ``parameters`` tells that it states some, of which there are none."""

    name: str
    version: str
    api_version: str
    generation: int
    parameters: bool
    deleting: bool
    conditions: Any = None

    @property
    def active(self) -> bool:
        """Whether it is answered."""
        return not self.parameters and not self.deleting

    @property
    def path(self) -> str:
        """Its API path, in the version in which it was read."""
        return f"/apis/{self.api_version}/{ADMISSION_CHECK.resource}/{self.name}"


class _CheckSpec(Struct, frozen=True, gc=False, rename="camel"):
    controller_name: str = ""
    parameters: Any = None


class _CheckStatus(Struct, frozen=True, gc=False):
    conditions: Any = None


class _CheckDocument(Struct, frozen=True, gc=False, rename="camel"):
    api_version: str = ""
    metadata: _CheckedMetadata = _CheckedMetadata()
    spec: _CheckSpec = _CheckSpec()
    status: _CheckStatus | None = None


def read_workload(item: Raw) -> CheckedWorkload | None:
    """A Workload from JSON, ``None`` if it has no admission checks.

    Raises :class:`MalformedError` without a name, or one of :data:`decoding.ERRORS`.
    """
    head = items.decode(item, _WorkloadHead)
    metadata, status = _named(head.metadata), head.status or _QueuedStatus()
    if not status.admission_checks:
        return None
    true = {condition.type: condition for condition in status.conditions or () if condition.status == "True"}
    admitted = true.get("Admitted")
    inactive = head.spec is not None and head.spec.active is False
    return CheckedWorkload(
        metadata.namespace,
        metadata.name,
        metadata.uid,
        metadata.resource_version,
        head.api_version,
        status.admission_checks,
        reserved=_HELD in true,
        admitted=admitted is not None,
        evicted=_EVICTED in true,
        over=inactive or metadata.deletion_timestamp is not None or not true.keys().isdisjoint(_OVER),
        requeue=status.requeue_state or RequeueState(),
        since=admitted.last_transition_time if admitted else None,
        replaced="Finished" in true and true["Finished"].reason == REPLACED,
    )


def read_check(item: Raw) -> PlacementCheck | None:
    """An AdmissionCheck from JSON, ``None`` if it is another controller's; raises as :func:`read_workload` does."""
    document = items.decode(item, _CheckDocument)
    metadata = _named(document.metadata)
    if document.spec.controller_name != CONTROLLER:
        return None
    return PlacementCheck(
        metadata.name,
        metadata.resource_version,
        document.api_version,
        metadata.generation,
        parameters=document.spec.parameters is not None,
        deleting=metadata.deletion_timestamp is not None,
        conditions=document.status and document.status.conditions,
    )


def _named(metadata: _CheckedMetadata) -> _CheckedMetadata:
    if not metadata.name:
        raise MalformedError("metadata.name: missing")
    return metadata
