"""The status of a Job as a value, read from the stored object, and as the merge patch that writes it."""

from typing import Any, Final

import msgspec
from msgspec import Struct

from kubeapi.client import decoding
from webhook.cluster.objects import wire
from webhook.controller.conditions import condition_in, merged_conditions, shortened
from webhook.controller.jobstore.records import StoredJob
from webhook.placement.jobs.job_progress import UNDONE, JobPhase, Tallied
from webhook.placement.kube.timestamps import seconds_of
from webhook.placement.objects.condition import UNKNOWN, ConditionState

Document = dict[str, Any]

SUBMITTING: Final = "Submitting"
"""Reason of the condition Submitted while objects of the Job are still to be made."""

INVALID: Final = "Invalid"
"""Reason of a Job that breaks rules: nothing is made, and nothing undone."""


CAPACITY_FOUND: Final = "CapacityFound"
"""The condition of a Job about which the cluster autoscaler is asked, and the reason where it has room."""

ASKED: Final = "Asked"
"""Reason of the condition CapacityFound while the cluster autoscaler has not answered yet."""

CAPACITY_ASKED: Final = ConditionState(
    holds=False, reason=ASKED, message="the cluster autoscaler is asked whether it has room for its pods"
)

NOT_ASKED: Final = "NotAsked"
"""Reason of the condition CapacityFound of a Job about which the autoscaler is not, or cannot be, asked."""

CAPACITY_OFF: Final = ConditionState(
    holds=False, reason=NOT_ASKED, message="the cluster autoscaler is not asked: settings.provisioningRequests is off"
)

CAPACITY_NOT_NEEDED: Final = ConditionState(
    holds=False, reason="NotNeeded", message="the cluster autoscaler is not asked: no pod waits for a new node"
)


class JobStatus(Struct, frozen=True, kw_only=True):
    """The status of a Job. ``generation`` is that of the spec which the condition Submitted is about, 0 without one."""

    phase: JobPhase = JobPhase.SUBMITTING
    tally: Tallied = Tallied()
    pools: int = 0
    ready_pools: int = 0
    submitted_at: str = ""
    generation: int = 0
    submitted: ConditionState = UNKNOWN
    ready: ConditionState = UNKNOWN
    satisfiable: ConditionState = UNKNOWN
    capacity: ConditionState = UNKNOWN
    """What the cluster autoscaler says, if it is asked."""
    fusion: Document | None = None
    """What is to be written as ``fusion``; ``None`` leaves that of before."""
    plan: Document | None = None
    """What is to be written as ``plan``, empty to write none; ``None`` leaves that of before."""

    @property
    def undone(self) -> bool:
        """Whether the submission has failed, so that its objects are deleted."""
        return self.phase is JobPhase.FAILED and self.submitted.reason in UNDONE

    @property
    def since(self) -> float | None:
        """When the submission began, in seconds since 1970; ``None`` if that is not known."""
        return seconds_of(self.submitted_at)


class _JobFigures(Struct, frozen=True, rename="camel"):
    phase: JobPhase = JobPhase.SUBMITTING
    processing_elements: int = 0
    running: int = 0
    waiting: int = 0
    failed: int = 0
    completed: int = 0
    pools: int = 0
    ready_pools: int = 0
    submitted_at: str | None = None
    conditions: tuple["_Dated", ...] | None = None


class _Dated(wire.Condition, frozen=True, gc=False, rename="camel"):
    observed_generation: int = 0


def status_of_job(job: StoredJob) -> JobStatus:
    """The stored status; if it breaks rules it counts as absent."""
    try:
        figures = msgspec.json.decode(job.status, type=_JobFigures)
    except decoding.ERRORS:
        figures = _JobFigures()
    there = job.status_document().get("conditions")
    dated = next((condition for condition in figures.conditions or () if condition.type == "Submitted"), None)
    return JobStatus(
        phase=figures.phase,
        tally=Tallied(
            total=figures.processing_elements,
            running=figures.running,
            waiting=figures.waiting,
            failed=figures.failed,
            completed=figures.completed,
        ),
        pools=figures.pools,
        ready_pools=figures.ready_pools,
        submitted_at=figures.submitted_at or "",
        generation=dated.observed_generation if dated else 0,
        submitted=condition_in(there, "Submitted", UNKNOWN),
        ready=condition_in(there, "Ready", UNKNOWN),
        satisfiable=condition_in(there, "Satisfiable", UNKNOWN),
        capacity=condition_in(there, CAPACITY_FOUND, UNKNOWN),
    )


def job_status_patch(job: StoredJob, status: JobStatus, now: str) -> Document | None:
    """The merge patch of the status; ``None`` if the stored status equals it."""
    stored = job.status_document()
    # If the Job has changed meanwhile, the status must not claim that the change was judged.
    judged = status.generation or job.generation
    said = {"Submitted": status.submitted, "Ready": status.ready}
    if status.satisfiable != UNKNOWN:
        said["Satisfiable"] = status.satisfiable
    if status.capacity != UNKNOWN:
        said[CAPACITY_FOUND] = status.capacity
    wanted: Document = {
        "phase": status.phase.value,
        "processingElements": status.tally.total,
        "running": status.tally.running,
        "waiting": status.tally.waiting + status.tally.missing,
        "failed": status.tally.failed,
        "completed": status.tally.completed,
        "pools": status.pools,
        "readyPools": status.ready_pools,
        "submittedAt": status.submitted_at or None,
        "conditions": merged_conditions(stored.get("conditions"), said, judged, now),
        "observedGeneration": judged,
    }
    if status.plan is not None:
        wanted["plan"] = status.plan or None
    if status.fusion is not None:
        wanted["fusion"] = status.fusion
    if all(stored.get(field) == value for field, value in wanted.items()):
        return None
    return {"metadata": {"resourceVersion": str(job.version)}, "status": wanted}


def failed(reason: str, message: str, status: JobStatus, generation: int) -> JobStatus:
    """The status of a Job whose submission of that generation has failed."""
    said = ConditionState(holds=False, reason=reason, message=shortened(message))
    return msgspec.structs.replace(
        status, phase=JobPhase.FAILED, submitted=said, ready=said, generation=generation
    )  # fmt: skip
