"""The reconciler of Jobs: makes their HostPools and then their ProcessingElements, and counts what runs.

Each pass compares the Job with what there is, so the controller can be killed after any request. Objects are made,
changed and deleted only after the Job was read from the API server.
"""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Raw
from msgspec.structs import replace

from kubeapi.client.errors import ApiError, Cause
from kubeapi.clock import Clock
from webhook.controller.jobs.job_plan import JobPlan, owned_elements, owned_pools, plan_of
from webhook.controller.jobs.job_reports import JobReports
from webhook.controller.jobs.owned_objects import OwnedObjects
from webhook.controller.jobs.stored_job_status import INVALID, SUBMITTING, JobStatus, failed, status_of_job
from webhook.controller.jobstore.condition_list import said_in, shortened
from webhook.controller.jobstore.editor import ObjectEditor
from webhook.controller.jobstore.records import StoredElement, StoredHostPool, StoredJob, job_path, read_job
from webhook.controller.jobstore.store import JobStore
from webhook.placement.inventory.job_spec import SUBMISSION_SECONDS, JobSpec
from webhook.placement.inventory.objects import Phase
from webhook.placement.inventory.pool_index import Name
from webhook.placement.jobs.element_status import FINAL, UNKNOWN, ElementPhase, Said
from webhook.placement.jobs.job_progress import JobPhase, Tallied, tallied
from webhook.placement.text.problem import Problem, counted, enumerated

SOON: Final = 0.1
"""Seconds until the next pass after a conflict, and while the watch is behind."""

NAMED: Final = 3
"""Processing elements that a message says the reason of, and pools that it names."""

ProblemsOfJob = Callable[[str, JobSpec], Iterator[Problem]]
"""What is wrong with the spec of the Job of that name."""


class Jobs:
    """The reconciler, called by any number of workers."""

    def __init__(
        self, server: ObjectEditor, store: JobStore, reports: JobReports, problems: ProblemsOfJob, now: Clock
    ) -> None:
        self._server = server
        self._store = store
        self._reports = reports
        self._problems = problems
        self._objects = OwnedObjects(server)
        self._now = now

    async def reconcile(self, name: Name) -> float | None:
        """Reconcile the Job; returns the seconds until the next pass, ``None`` if only a change needs one.

        Raises :class:`ApiError` for what may work later, and LostError when this process does not hold the Lease.
        """
        job = self._store.jobs.all.get(name)
        if job is None:
            return None
        try:
            return await self._advance(job)
        except ApiError as failure:
            if failure.cause is Cause.MISSING:
                return SOON  # the watch will say that it is gone
            if failure.cause is not Cause.CONFLICT:
                raise
            await self._refresh(name)
            return SOON

    async def _refresh(self, name: Name) -> None:
        with contextlib.suppress(ApiError):
            self._store.jobs.correct(read_job(Raw(await self._server.read(job_path(*name)))))

    async def _advance(self, job: StoredJob) -> float | None:
        status = status_of_job(job)
        if job.deleting:
            ready = Said(holds=False, reason="Deleting", message="it is being deleted")
            await self._reports.say(job, replace(status, phase=JobPhase.DELETING, ready=ready))
            return None
        spec = job.stated()
        problems = [job.fault] if spec is None else [str(_text(found)) for found in self._problems(job.name, spec)]
        if spec is None or problems:
            await self._reports.say(job, failed(INVALID, "; ".join(problems), status, job.generation))
            return None
        if status.undone:
            return await self._undo(job, status)
        if status.generation != job.generation:
            job = await self._begin(await self._fresh(job), status)
            status = status_of_job(job)
        return await self._provide(job, spec, status)

    async def _begin(self, job: StoredJob, status: JobStatus) -> StoredJob:
        """A new generation begins; a Job that has run goes on, and is not submitted against the time."""
        runs = status.phase is not JobPhase.SUBMITTING and status.submitted.reason not in {INVALID, UNKNOWN.reason}
        said = Said(holds=False, reason=SUBMITTING, message="its HostPools and processing elements are being made")
        begun = replace(status, submitted=said, generation=job.generation)
        if not runs:
            begun = replace(begun, phase=JobPhase.SUBMITTING, submitted_at=self._reports.moment(), ready=said)
        return await self._reports.say(job, begun)

    async def _undo(self, job: StoredJob, status: JobStatus) -> float | None:
        """Delete what a failed submission has left; once all of it is gone, another generation begins anew."""
        elements, pools = owned_elements(job, self._store), owned_pools(job, self._store)
        if elements or pools:
            await self._objects.remove(
                [element for element in elements if not element.deleting],
                [pool for pool in pools if not pool.deleting],
                propagation="Foreground",
            )
            return None
        if status.generation == job.generation:
            return None
        clean = JobStatus(generation=status.generation)
        await self._reports.say(job, replace(clean, submitted=UNKNOWN, ready=UNKNOWN))
        return 0.0

    async def _provide(self, job: StoredJob, spec: JobSpec, status: JobStatus) -> float | None:
        """Make what is missing, and say how the Job does."""
        plan = plan_of(job, spec, self._store, submitted=status.submitted.holds)
        if plan.taken and status.phase is JobPhase.SUBMITTING:
            return await self._fail(job, status, "NameTaken", f"{plan.taken} exists and is not this Job's")
        if not plan.empty and not plan.leftover and not plan.taken:
            job = await self._fresh(job)
            if job.deleting or job.generation != status.generation:
                return 0.0
            await self._do(job, plan)
        present = _present(plan, self._store, job)
        pools = owned_pools(job, self._store)
        complete = len(present) == len(plan.names) and {pool.name for pool in pools} >= set(job.pools)
        if not status.submitted.holds and complete and plan.empty:
            what = f"{counted(len(job.pools), 'HostPool')} and {counted(len(plan.names), 'processing element')}"
            status = replace(status, submitted=Said(holds=True, reason="Submitted", message=what))
        return await self._count(job, spec, status, plan, present)

    async def _do(self, job: StoredJob, plan: JobPlan) -> None:
        await self._objects.make_pools(job, plan)
        await self._objects.make_elements(job, plan)
        await self._objects.remove(plan.elements_removed, plan.pools_removed)

    async def _count(
        self, job: StoredJob, spec: JobSpec, status: JobStatus, plan: JobPlan, present: Sequence[StoredElement]
    ) -> float | None:
        """Say how many elements run; fails a submission that takes too long."""
        pools = [pool for pool in owned_pools(job, self._store) if pool.name in job.pools]
        ready = sum(pool.phase == Phase.READY for pool in pools)
        tally = tallied(len(plan.names), Counter(element.phase for element in present))
        status = replace(status, tally=tally, pools=len(job.pools), ready_pools=ready)
        if status.phase is not JobPhase.SUBMITTING:
            return await self._say(job, status, present, tally.phase)
        if broken := next((pool for pool in pools if pool.phase == Phase.FAILED), None):
            why = f"HostPool {broken.name} has failed: {broken.reason or 'no reason given'}"
            return await self._fail(job, status, "PoolFailed", why)
        begun = len(present) == len(plan.names) and all(element.begun for element in present)
        if status.submitted.holds and begun and ready == len(job.pools):
            return await self._say(job, status, present, tally.phase)
        left = self._left(spec, status)
        if left <= 0:
            waits = "; ".join(filter(None, (_pool_words(pools, job), _words(tally, present), _leftover(plan))))
            return await self._fail(job, status, "TimedOut", f"after {_limit(spec)} s: {waits}")
        await self._say(job, status, present, JobPhase.SUBMITTING, _pool_words(pools, job) or _leftover(plan))
        return left

    async def _say(
        self, job: StoredJob, status: JobStatus, present: Sequence[StoredElement], phase: JobPhase, first: str = ""
    ) -> None:
        """Write the status of a Job in that phase; ``first`` is what else it waits for."""
        runs = phase in {JobPhase.RUNNING, JobPhase.COMPLETED}
        message = "; ".join(filter(None, (first, _words(status.tally, present))))
        ready = Said(phase is JobPhase.RUNNING, phase.value, shortened(message if not runs else str(status.tally)))
        await self._reports.say(job, replace(status, phase=phase, ready=ready))

    async def _fail(self, job: StoredJob, status: JobStatus, reason: str, message: str) -> float | None:
        """The submission has failed: say so, and undo it."""
        job = await self._reports.say(job, failed(reason, message, status, job.generation))
        return await self._undo(job, status_of_job(job))

    async def _fresh(self, job: StoredJob) -> StoredJob:
        """The Job as the API server has it; raises ApiError, MISSING also for another Job of its name."""
        found = read_job(Raw(await self._server.read(job_path(*job.key))))
        if found.uid != job.uid:
            raise ApiError(Cause.MISSING, f"the Job {job.name} is another one now")
        self._store.jobs.learn(found)
        return found

    def _left(self, spec: JobSpec, status: JobStatus) -> float:
        """Seconds until the submission has failed."""
        since = status.since
        return _limit(spec) if since is None else since + _limit(spec) - self._now()


def _limit(spec: JobSpec) -> int:
    stated = spec.submission_time_out_in_seconds
    return SUBMISSION_SECONDS if stated is None else stated


def _present(plan: JobPlan, store: JobStore, job: StoredJob) -> list[StoredElement]:
    """The Job's own elements that its spec lists and that are not being deleted, in the order of the spec."""
    found = (store.elements.all.get((job.namespace, name)) for name in plan.names)
    return [element for element in found if element and element.owner_uid == job.uid and not element.deleting]


def _text(problem: Problem) -> str:
    return f"{problem.field}: {problem.message}"


def _pool_words(pools: Sequence[StoredHostPool], job: StoredJob) -> str:
    """What is missing of the HostPools; empty if all of them are Ready."""
    ready = {pool.name for pool in pools if pool.phase == Phase.READY}
    waiting = [name for name in job.pools if name not in ready]
    if not waiting:
        return ""
    reasons = {pool.name: pool.reason for pool in pools if pool.reason}
    names = enumerated(waiting, NAMED, lambda name: f"{name} ({reasons[name]})" if name in reasons else name)
    return f"{len(waiting)} of {counted(len(job.pools), 'HostPool')} not ready: {names}"


def _leftover(plan: JobPlan) -> str:
    return f"{plan.leftover} of an earlier Job of this name is still there" if plan.leftover else ""


def _words(tally: Tallied, present: Sequence[StoredElement]) -> str:
    """How many elements do not run, and why the first of them do not."""
    out = [element for element in present if element.phase not in {ElementPhase.RUNNING, ElementPhase.COMPLETED}]
    shown = sorted(out, key=lambda element: element.phase not in FINAL)[:NAMED]
    return ": ".join(filter(None, (str(tally), "; ".join(f"{each.name}: {_why(each)}" for each in shown))))


def _why(element: StoredElement) -> str:
    said = said_in(element.told().get("conditions"), "Ready", UNKNOWN)
    if said.reason == UNKNOWN.reason:
        return "its pod has not been created yet"
    return said.message or said.reason
