"""Jobs, ProcessingElements and HostPools as the controller of Jobs keeps them.

Specs and statuses stay JSON text until they are used: ten thousand processing elements as text take a tenth of the
memory that their values would.
"""

from typing import Any, Final

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from kubeapi.client import decoding
from webhook.cluster.objects import items, wire
from webhook.cluster.objects.metadata import NAMESPACE, MalformedError
from webhook.placement.elements.element_status import REFUSED, ElementPhase
from webhook.placement.elements.plan import PlannedNodes
from webhook.placement.inventory.pool_index import Name
from webhook.placement.jobs.job_progress import UNDONE, JobPhase
from webhook.placement.jobs.operators.fused_job import as_fused
from webhook.placement.jobs.problems import pool_object_name
from webhook.placement.kube.timestamps import seconds_of
from webhook.placement.objects.jobs.job_fusion import JobFusion, fusion_of
from webhook.placement.objects.jobs.job_spec import ElementSpec, JobSpec, ProcessingElementSpec
from webhook.placement.objects.jobs.parallel_region import ParallelRegionSpec
from webhook.placement.objects.pool_spec import HostPoolSpec
from webhook.placement.text.api_kinds import HOST_POOL, PARALLEL_REGION, PROCESSING_ELEMENT, STREAMS_JOB, ApiKind
from webhook.placement.text.keys import API_GROUP

_EMPTY: Final = Raw(b"{}")


class _OwnedMetadata(Struct, frozen=True, gc=False, rename="camel"):
    name: str = ""
    namespace: str = NAMESPACE
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    owner_references: tuple[wire.Owner, ...] | None = None


class _OwnedDocument(Struct, frozen=True, gc=False):
    metadata: _OwnedMetadata = _OwnedMetadata()
    spec: Raw = _EMPTY
    status: Raw = _EMPTY


class _ElementHead(Struct, frozen=True, gc=False, rename="camel"):
    job: str = ""
    launch_count: int = 1
    content_id: str | None = None


class _StatusHead(Struct, frozen=True, gc=False, rename="camel"):
    phase: str | None = None
    ended: Any = None
    plan: Any = None
    submitted_at: str | None = None
    conditions: tuple[wire.Condition, ...] | None = None


class _Planned(Struct, frozen=True):
    plan: PlannedNodes | None = None


_NO_PLAN: Final = PlannedNodes()


class _Record(Struct, frozen=True, gc=False, kw_only=True):
    """What is kept of every object: ``version`` is its resourceVersion as a number, ``owner`` its controller."""

    namespace: str
    name: str
    uid: str
    version: int = 0
    generation: int = 0
    deleting: bool = False
    owner: wire.Owner | None = None
    spec: bytes = b"{}"
    status: bytes = b"{}"

    @property
    def key(self) -> Name:
        """Namespace and name."""
        return self.namespace, self.name

    @property
    def owner_uid(self) -> str:
        """The uid of its controller; empty if it has none."""
        return self.owner.uid if self.owner else ""

    def status_document(self) -> dict[str, Any]:
        """The status as JSON values; empty without a status."""
        status = msgspec.json.decode(self.status)
        return status if isinstance(status, dict) else {}


class StoredJob(_Record, frozen=True, gc=False, kw_only=True):
    """A Job. ``options`` are its spec without its processing elements, ``None`` if it cannot be read: see ``fault``.

    ``pools`` are the names of the HostPool objects that it has; ``elements`` is the JSON of its list of elements.
    """

    options: JobSpec | None = None
    fault: str = ""
    pools: tuple[str, ...] = ()
    elements: bytes = b"[]"
    phase: JobPhase = JobPhase.SUBMITTING
    undone: bool = False
    """Whether its submission has failed, by its status."""
    satisfiable: bool = True
    """Whether all of it could be started again, as far as its status says."""
    submitted: str = ""
    """When its submission began, in RFC 3339, by its status; without that when the API server created it."""
    judged: float = 0.0
    """When it was promised what its plan says, in seconds since 1970; 0 without a plan."""

    def planned(self) -> PlannedNodes:
        """Where its pods are to go, by its status."""
        try:
            return msgspec.json.decode(self.status, type=_Planned).plan or _NO_PLAN
        except decoding.ERRORS:
            return _NO_PLAN

    def model(self) -> JobSpec | None:
        """The whole spec, as it is stored; ``None`` if it cannot be read."""
        if self.options is None or self.options.operators is not None:
            return self.options
        elements = msgspec.json.decode(self.elements, type=tuple[ElementSpec, ...])
        return replace(self.options, processing_elements=elements)

    def fusion(self) -> JobFusion | None:
        """How its operators are fused, by its status; ``None`` if they are not."""
        return fusion_of(self.status)

    def stated(self) -> JobSpec | None:
        """The whole spec, with the processing elements that its operators are fused into; as :meth:`model` else."""
        spec = self.model()
        return spec if spec is None else as_fused(spec, self.fusion())


class StoredElement(_Record, frozen=True, gc=False, kw_only=True):
    """A ProcessingElement. ``begun`` tells whether a pod of it has ever run or ended, ``why`` why it is not Ready."""

    job: str = ""
    launch: int = 1
    content_id: str = ""
    phase: ElementPhase = ElementPhase.PENDING
    begun: bool = False
    why: str = ""
    refused: bool = False
    """Whether the API server has refused its pod."""

    def stated(self) -> ProcessingElementSpec:
        """The spec; raises one of :data:`decoding.ERRORS`."""
        return msgspec.json.decode(self.spec, type=ProcessingElementSpec)


class StoredRegion(_Record, frozen=True, gc=False, kw_only=True):
    """A ParallelRegion; ``stated`` is its spec, ``None`` if it cannot be read."""

    stated: ParallelRegionSpec | None = None


class StoredHostPool(_Record, frozen=True, gc=False, kw_only=True):
    """A HostPool, as its Job looks at it."""

    phase: str = ""
    reason: str = ""
    """What its condition Ready says."""
    degraded: bool = False
    """Whether hosts of it are in trouble, as its condition Degraded says."""

    def stated(self) -> HostPoolSpec:
        """The spec; raises one of :data:`decoding.ERRORS`."""
        return msgspec.json.decode(self.spec, type=HostPoolSpec)


def read_job(item: Raw) -> StoredJob:
    """A Job from JSON; raises :class:`MalformedError` without a name, or one of :data:`decoding.ERRORS`."""
    document, common = _common(item)
    head = _status_head(document.status)
    submitted = next((condition for condition in head.conditions or () if condition.type == "Submitted"), None)
    undone = head.phase == JobPhase.FAILED and submitted is not None and submitted.reason in UNDONE
    # The elements are not kept with the rest: most decisions need the options only.
    common |= {"spec": b"{}", "undone": undone, "judged": _judged(head.plan)}
    common["submitted"] = head.submitted_at or document.metadata.creation_timestamp or ""
    satisfiable = next((condition for condition in head.conditions or () if condition.type == "Satisfiable"), None)
    common["satisfiable"] = satisfiable is None or satisfiable.status != "False"
    if head.phase in list(JobPhase):
        common["phase"] = JobPhase(head.phase)
    where = "spec: "
    try:
        parts = msgspec.json.decode(document.spec, type=dict[str, Raw])
        elements = bytes(parts.pop("processingElements", b"null"))
        elements = b"[]" if elements == b"null" else elements
        where = "spec.processingElements"
        msgspec.json.decode(elements, type=tuple[ElementSpec, ...])
        where = "spec: "
        options = msgspec.json.decode(msgspec.json.encode(parts), type=JobSpec)
        if options.operators is not None and elements != b"[]":
            return StoredJob(**common, fault="spec.operators: stated beside processingElements")
    except decoding.ERRORS as error:
        return StoredJob(**common, fault=f"{where}{decoding.reason(error)}")
    name = common["name"]
    pools = tuple(dict.fromkeys(pool_object_name(name, pool.name or "") for pool in options.host_pools or ()))
    return StoredJob(**common, options=options, pools=pools, elements=elements)


def read_element(item: Raw) -> StoredElement:
    """A ProcessingElement from JSON; raises as :func:`read_job` does."""
    document, common = _common(item)
    head = msgspec.json.decode(document.spec, type=_ElementHead)
    status = _status_head(document.status)
    ready = next((condition for condition in status.conditions or () if condition.type == "Ready"), None)
    phase = ElementPhase(status.phase) if status.phase in list(ElementPhase) else ElementPhase.PENDING
    return StoredElement(
        **common,
        job=head.job,
        launch=head.launch_count,
        content_id=head.content_id or "",
        phase=phase,
        why=(ready.message or ready.reason or "") if ready and ready.status != "True" else "",
        begun=phase is not ElementPhase.PENDING or bool(status.ended),
        refused=any(
            condition.type == "PodCreated" and condition.reason == REFUSED for condition in status.conditions or ()
        ),
    )


def read_host_pool(item: Raw) -> StoredHostPool:
    """A HostPool from JSON; raises as :func:`read_job` does."""
    document, common = _common(item)
    head = _status_head(document.status)
    ready = next((condition for condition in head.conditions or () if condition.type == "Ready"), None)
    common["status"] = b"{}"
    degraded = any(condition.type == "Degraded" and condition.status == "True" for condition in head.conditions or ())
    return StoredHostPool(**common, phase=head.phase or "", reason=(ready and ready.message) or "", degraded=degraded)


def read_region(item: Raw) -> StoredRegion:
    """A ParallelRegion from JSON; raises as :func:`read_job` does."""
    document, common = _common(item)
    try:
        stated = msgspec.json.decode(document.spec, type=ParallelRegionSpec)
    except decoding.ERRORS:
        stated = None
    return StoredRegion(**common, stated=stated)


def controller_of(owners: tuple[wire.Owner, ...] | None, kind: ApiKind | None = None) -> wire.Owner | None:
    """The owner that is the object's controller; with a ``kind`` of ours only one of that kind."""
    controller = next((owner for owner in owners or () if owner.controller), None)
    if controller is None or kind is None:
        return controller
    return controller if controller.kind == kind.name and controller.api_version.startswith(f"{API_GROUP}/") else None


def of_a_job(record: StoredElement | StoredHostPool | StoredRegion) -> str:
    """The name of the Job that controls the object, whether or not the Job still exists; empty without one."""
    owner = record.owner
    return owner.name if owner and controller_of((owner,), STREAMS_JOB) else ""


def job_path(namespace: str, name: str) -> str:
    """The API path of that Job."""
    return f"{STREAMS_JOB.path_in(namespace)}/{name}"


def element_path(namespace: str, name: str) -> str:
    """The API path of that ProcessingElement."""
    return f"{PROCESSING_ELEMENT.path_in(namespace)}/{name}"


def host_pool_path(namespace: str, name: str) -> str:
    """The API path of that HostPool."""
    return f"{HOST_POOL.path_in(namespace)}/{name}"


def region_path(namespace: str, name: str) -> str:
    """The API path of that ParallelRegion."""
    return f"{PARALLEL_REGION.path_in(namespace)}/{name}"


def _common(item: Raw) -> tuple[_OwnedDocument, dict[str, Any]]:
    document = items.decode(item, _OwnedDocument)
    metadata = document.metadata
    if not metadata.name:
        raise MalformedError("metadata.name: missing")
    version = metadata.resource_version
    return document, {
        "namespace": metadata.namespace,
        "name": metadata.name,
        "uid": metadata.uid,
        "version": int(version) if version.isdecimal() else 0,
        "generation": metadata.generation,
        "deleting": metadata.deletion_timestamp is not None,
        "owner": controller_of(metadata.owner_references),
        "spec": bytes(document.spec),
        "status": bytes(document.status),
    }


def _judged(plan: object) -> float:
    """The time of a plan; 0 if it states none."""
    return (seconds_of(plan.get("judgedAt")) if isinstance(plan, dict) else None) or 0.0


def _status_head(status: Raw) -> _StatusHead:
    """Phase and conditions of a status; empty if it breaks rules: the controller overwrites it."""
    try:
        return msgspec.json.decode(status, type=_StatusHead)
    except decoding.ERRORS:
        return _StatusHead()
