"""The state of a Job of Streams: the Job, its HostPools and processing elements, and their pods, each listed once.

``cli/status`` shows it. The objects are written by the controllers (``docs/jobs.md``); nothing is decided here.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from kubeapi.client import decoding
from kubeapi.client.errors import ApiError, Cause
from webhook.cluster.objects import items
from webhook.cluster.watch.lists import PAGE, ListReader, listed
from webhook.placement.jobs.job_progress import STRANDED
from webhook.placement.objects.jobs.job_fusion import JobFusion, RegionWidth
from webhook.placement.text import keys
from webhook.placement.text.api_kinds import HOST_POOL, POD, PROCESSING_ELEMENT, STREAMS_JOB, ApiKind

UNKNOWN: Final = "Unknown"
"""The phase of an object whose status has not been written yet."""

ABSENT: Final = "Absent"
"""The phase of a processing element that the Job lists and whose object does not exist."""

_POOLS: Final = 5
"""HostPools of one page: one with 5,000 hosts may have more than a megabyte."""


class PoolView(Struct, frozen=True, rename="camel"):
    """A HostPool of the Job: ``name`` is that of the object, ``pool`` the one that ``host(...)`` says."""

    name: str
    pool: str
    phase: str
    hosts: tuple[str, ...] = ()
    message: str = ""


class ElementView(Struct, frozen=True, rename="camel"):
    """A processing element: ``pod`` and ``node`` are empty while it has none; ``message`` says why it does not run."""

    name: str
    phase: str
    pod: str = ""
    node: str = ""
    launch_count: int = 0
    restarts: int = 0
    message: str = ""


class JobView(Struct, frozen=True, rename="camel"):
    """A Job with its HostPools and processing elements; ``message`` says what it waits for, or why it has failed.

    ``unsatisfiable`` says why a Job that runs could not be started again as a whole, ``stranded`` why some of it finds
    no node beside what runs. ``parallel_regions`` are those of a Job of operators, with their widths, ``fusion`` is how
    its operators are fused.
    """

    namespace: str
    name: str
    phase: str
    submitted_at: str = ""
    message: str = ""
    unsatisfiable: str = ""
    stranded: str = ""
    host_pools: tuple[PoolView, ...] = ()
    parallel_regions: tuple[RegionWidth, ...] = ()
    processing_elements: tuple[ElementView, ...] = ()
    fusion: JobFusion | None = None


class UnknownJobError(Exception):
    """The namespace has no Job of that name; ``names`` are those that it has."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__("no such Job")
        self.names = sorted(names)


class _Metadata(Struct, frozen=True, rename="camel"):
    name: str = ""
    deletion_timestamp: str | None = None


class _Condition(Struct, frozen=True):
    type: str = ""
    status: str = ""
    reason: str | None = None
    message: str | None = None


class _Waiting(Struct, frozen=True):
    reason: str | None = None
    message: str | None = None


class _StateOfContainer(Struct, frozen=True):
    waiting: _Waiting | None = None


class _Container(Struct, frozen=True):
    state: _StateOfContainer | None = None


class _NameOnly(Struct, frozen=True):
    name: str | None = None


class _SpecShown(Struct, frozen=True, rename="camel"):
    """``name`` is that of a pool, ``job`` that of the Job of a pool or processing element."""

    name: str | None = None
    job: str | None = None
    processing_elements: tuple[_NameOnly, ...] | None = None
    node_name: str | None = None


class _StatusShown(Struct, frozen=True, rename="camel"):
    phase: str | None = None
    fusion: JobFusion | None = None
    conditions: tuple[_Condition, ...] | None = None
    submitted_at: str | None = None
    hosts: tuple[_NameOnly, ...] | None = None
    launch_count: int | None = None
    restarts: int | None = None
    pod: str | None = None
    node: str | None = None
    container_statuses: tuple[_Container, ...] | None = None

    def reason(self, type_: str) -> str:
        """Why the condition of that type is not True; empty if it is, or is not there."""
        condition = next((one for one in self.conditions or () if one.type == type_ and one.status != "True"), None)
        return (condition.message or condition.reason or "") if condition else ""


class StoredObject(Struct, frozen=True):
    """What is read of a Job, HostPool, ProcessingElement or pod: the fields that the view shows."""

    metadata: _Metadata = _Metadata()
    spec: _SpecShown = _SpecShown()
    status: _StatusShown = _StatusShown()

    @property
    def name(self) -> str:
        """``metadata.name``."""
        return self.metadata.name


async def read_job_view(reader: ListReader, namespace: str, name: str) -> JobView:
    """Read the Job and all that belongs to it.

    Raises :class:`UnknownJobError`, and ApiError if something cannot be read. The kinds are listed one after the other,
    so the view may show them at different moments.
    """
    jobs = {one.name: one for one in await _all(reader, STREAMS_JOB, namespace)}
    if name not in jobs:
        raise UnknownJobError(jobs)
    pools = await _all(reader, HOST_POOL, namespace, page=_POOLS)
    elements = await _all(reader, PROCESSING_ELEMENT, namespace)
    pods = await _all(reader, POD, namespace, labels=f"{keys.JOB}={name}")
    return view_of(namespace, jobs[name], pools=pools, elements=elements, pods=pods)


async def _all(
    reader: ListReader, kind: ApiKind, namespace: str, *, page: int = PAGE, labels: str = ""
) -> list[StoredObject]:
    """All objects of a kind in the namespace; none if the kind is not defined in the cluster."""
    selectors = {"labelSelector": labels} if labels else {}
    try:
        return [
            items.decode(item, StoredObject)
            async for item in listed(reader, kind.path_in(namespace), selectors, page=page)
        ]
    except decoding.ERRORS as error:
        raise ApiError(Cause.UNREADABLE, f"a {kind.name} cannot be read: {decoding.reason(error)}") from None
    except ApiError as failure:
        if failure.cause is Cause.MISSING:
            return []
        raise


def view_of(
    namespace: str,
    job: StoredObject,
    *,
    pools: Iterable[StoredObject],
    elements: Iterable[StoredObject],
    pods: Iterable[StoredObject],
) -> JobView:
    """The view of the Job: of ``pools`` and ``elements`` those that say they are the Job's."""
    running = {pod.name: pod for pod in pods}
    stored = {one.name: _element(one, running) for one in elements if one.spec.job == job.name}
    fused = job.status.fusion.processing_elements if job.status.fusion else ()
    listed = job.spec.processing_elements or tuple(_NameOnly(one.name) for one in fused)
    stated = [one.name or f"{job.name}-{place}" for place, one in enumerate(listed)]
    absent = {name: ElementView(name, ABSENT, message="the object does not exist") for name in stated}
    named = [stored.pop(name, absent[name]) for name in stated]
    surplus = [replace(one, message=one.message or "is not in the list of the Job") for one in stored.values()]
    unsatisfiable, stranded = _unsatisfied(job.status)
    return JobView(
        namespace=namespace,
        name=job.name,
        phase=job.status.phase or UNKNOWN,
        submitted_at=job.status.submitted_at or "",
        message=_message(job, job.status.reason("Ready")),
        unsatisfiable=unsatisfiable,
        stranded=stranded,
        host_pools=tuple(_pool(one) for one in pools if one.spec.job == job.name),
        parallel_regions=job.status.fusion.regions if job.status.fusion else (),
        processing_elements=(*named, *surplus),
        fusion=job.status.fusion,
    )


def _unsatisfied(status: _StatusShown) -> tuple[str, str]:
    """Why the Job could not be started again as a whole, or why some of it finds no node; both empty if it failed."""
    why = "" if status.phase == "Failed" else status.reason("Satisfiable")
    stranded = any(one.type == "Satisfiable" and one.reason == STRANDED for one in status.conditions or ())
    return ("", why) if stranded else (why, "")


def _pool(pool: StoredObject) -> PoolView:
    return PoolView(
        name=pool.name,
        pool=pool.spec.name or pool.name,
        phase=pool.status.phase or UNKNOWN,
        hosts=tuple(host.name or "" for host in pool.status.hosts or ()),
        message=_message(pool, pool.status.reason("Ready")),
    )


def _element(element: StoredObject, pods: Mapping[str, StoredObject]) -> ElementView:
    status = element.status
    pod = pods.get(status.pod or "", StoredObject())
    why = (status.reason("PodCreated"), _why_not(pod), status.reason("Scheduled"), status.reason("Ready"))
    return ElementView(
        name=element.name,
        phase=status.phase or UNKNOWN,
        pod=status.pod or "",
        node=pod.spec.node_name or status.node or "",
        launch_count=status.launch_count or 0,
        restarts=status.restarts or 0,
        message=_message(element, next(filter(None, why), "")),
    )


def _why_not(pod: StoredObject) -> str:
    """Why a pod does not run: the scheduler's words, or those of the kubelet about its first container that waits."""
    states = [one.state.waiting for one in pod.status.container_statuses or () if one.state]
    waiting = next(filter(None, states), _Waiting())
    words = [word for word in (waiting.reason, waiting.message) if word]
    return pod.status.reason("PodScheduled") or ": ".join(words)


def _message(of: StoredObject, why: str) -> str:
    return "is being deleted" if of.metadata.deletion_timestamp else why
