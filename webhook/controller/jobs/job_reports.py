"""Writes the status of a Job where it differs from the stored one, and records Events about its changes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Raw
from msgspec.structs import replace

from kubeapi.clock import Clock
from webhook.controller.events.event import EventText, Regarding
from webhook.controller.events.recorder import EventRecorder, record
from webhook.controller.jobs.stored_job_status import (
    CAPACITY_ASKED,
    CAPACITY_NOT_NEEDED,
    JobStatus,
    job_status_patch,
    status_of_job,
)
from webhook.controller.jobstore.records import StoredJob, job_path, read_job
from webhook.controller.jobstore.store import JobStore
from webhook.controller.object_editor import ObjectEditor
from webhook.placement.inventory.pool_index import Name
from webhook.placement.jobs.job_progress import STRANDED, UNSATISFIABLE, JobPhase
from webhook.placement.kube.timestamps import timestamp
from webhook.placement.objects.condition import UNKNOWN, ConditionState
from webhook.placement.text.api_kinds import STREAMS_JOB
from webhook.placement.text.problem import counted, enumerated

NAMED: Final = 3
"""Processing elements that a message names."""

PACE: Final = 0.005
"""Seconds for each element of a Job between two writes of its status that only count elements anew.

The API server handles the whole Job for each: some 0.1 ms an element.
"""

SLOWEST: Final = 10.0
"""Seconds between two such writes, however many elements there are."""

_QUIET: Final = frozenset({UNKNOWN.reason, CAPACITY_ASKED.reason, CAPACITY_NOT_NEEDED.reason})
"""Reasons of the condition CapacityFound that tell nothing new."""

_TROUBLE: Final = frozenset({UNSATISFIABLE, STRANDED})


class JobReports:
    """``now`` is the time in seconds since 1970."""

    def __init__(self, server: ObjectEditor, store: JobStore, events: EventRecorder, now: Clock) -> None:
        self._server = server
        self._store = store
        self._events = events
        self._now = now
        self._due: dict[Name, float] = {}
        """When a status that only counts elements anew may be written next."""

    def moment(self) -> str:
        """The time in RFC 3339."""
        return timestamp(self._now())

    async def say(self, job: StoredJob, status: JobStatus) -> StoredJob:
        """The Job with that status, written if it differs. Raises ApiError."""
        patch = job_status_patch(job, status, self.moment())
        if patch is None:
            return job
        before = status_of_job(job)
        with self._store.jobs.writing(job.key):
            written = read_job(Raw(await self._server.merge_patch(f"{job_path(*job.key)}/status", patch)))
            self._store.jobs.learn(written)
        for text in _news(before, status):
            record(self._events, _about(job), text)
        return written

    async def count(self, job: StoredJob, status: JobStatus) -> float | None:
        """Write the status, later if it only counts elements anew; returns the seconds until then. Raises ApiError."""
        pace = min(SLOWEST, PACE * status.tally.total)
        if _only_counts(status_of_job(job), status) and 0 < (wait := self._due.get(job.key, 0.0) - self._now()) <= pace:
            return wait
        written = await self.say(job, status)
        if written is not job:
            if len(self._due) > 2 * len(self._store.jobs.all):
                self._due = {name: due for name, due in self._due.items() if name in self._store.jobs.all}
            self._due[job.key] = self._now() + pace
        return None

    def scaled(self, job: StoredJob, widths: Mapping[str, int]) -> None:
        """Record the new widths of parallel regions, with which the Job is fused now."""
        said = [f"{name} {counted(width, 'channel')}" for name, width in widths.items()]
        self._events.normal(_about(job), "Scaled", f"fused again for these parallel regions: {enumerated(said, NAMED)}")

    def moved(self, job: StoredJob, elements: Sequence[str]) -> None:
        """Record that these elements are restarted on another node, since theirs cannot run all that share it."""
        verb = "is" if len(elements) == 1 else "are"
        note = f"{enumerated(elements, NAMED)} {verb} restarted: the node has no room for all elements that share it"
        self._events.normal(_about(job), "Moved", note)


def _only_counts(before: JobStatus, after: JobStatus) -> bool:
    """Whether no more has changed than what the elements do, and how many HostPools are ready."""
    ready = replace(after.ready, message=before.ready.message)
    return replace(after, tally=before.tally, ready_pools=before.ready_pools, ready=ready) == before


def _about(job: StoredJob) -> Regarding:
    return Regarding.of(STREAMS_JOB, job.key, job.uid)


def _news(before: JobStatus, after: JobStatus) -> Iterator[EventText]:
    """Events about the change of a status."""
    if after.submitted.holds and (not before.submitted.holds or before.generation != after.generation):
        yield EventText("Normal", "Submitted", after.submitted.message)
    turned = after.phase is not before.phase
    if after.phase is JobPhase.FAILED and not after.submitted.holds and (turned or before.submitted != after.submitted):
        yield EventText("Warning", after.submitted.reason, after.submitted.message)
    elif turned and after.phase not in {JobPhase.SUBMITTING, JobPhase.DELETING}:
        warns = after.phase in {JobPhase.FAILED, JobPhase.DEGRADED}
        yield EventText("Warning" if warns else "Normal", after.phase.value, after.ready.message)
    if after.phase not in {JobPhase.FAILED, JobPhase.DELETING}:
        yield from _of_satisfiable(before.satisfiable, after.satisfiable)
        yield from _of_capacity(before.capacity, after.capacity)


def _of_satisfiable(before: ConditionState, after: ConditionState) -> Iterator[EventText]:
    """An Event where a Job could not be started again as a whole any more, or can be again."""
    if after.reason in _TROUBLE and (before.reason, before.message) != (after.reason, after.message):
        yield EventText("Warning", after.reason, after.message)
    elif after.holds and before.reason in _TROUBLE:
        yield EventText("Normal", after.reason, after.message)


def _of_capacity(before: ConditionState, after: ConditionState) -> Iterator[EventText]:
    """An Event about the answer of the cluster autoscaler, or why there is none."""
    if after.reason not in _QUIET and (before.reason, before.message) != (after.reason, after.message):
        yield EventText("Normal", after.reason, after.message)
