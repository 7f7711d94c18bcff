"""The reconciler of Jobs: judges each as a whole, makes its HostPools and ProcessingElements, and counts what runs.

Each pass compares the Job with the stored objects, so the controller can be killed after any request. Objects are
created, changed and deleted only after the Job was read from the API server.
"""

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from kubeapi.client.errors import ApiError, Cause
from kubeapi.clock import Clock
from webhook.controller.conditions import shortened
from webhook.controller.jobs.job_judge import JobJudge, Judgement
from webhook.controller.jobs.job_plan import JobPlan, owned_elements, owned_pools, plan_of
from webhook.controller.jobs.job_reports import JobReports
from webhook.controller.jobs.owned_objects import OwnedObjects
from webhook.controller.jobs.scaled_regions import ScaledRegions
from webhook.controller.jobs.stored_job_status import (
    CAPACITY_ASKED,
    CAPACITY_NOT_NEEDED,
    CAPACITY_OFF,
    INVALID,
    SUBMITTING,
    JobStatus,
    failed,
    status_of_job,
)
from webhook.controller.jobs.submission_times import SubmissionTimes
from webhook.controller.jobstore.records import StoredElement, StoredHostPool, StoredJob, job_path, read_job
from webhook.controller.jobstore.store import JobStore
from webhook.controller.object_editor import REFUSALS, ObjectEditor
from webhook.controller.reconcile_pass import one_pass
from webhook.controller.reconciler_settings import SOON
from webhook.placement.elements.element_status import FINAL, ElementPhase
from webhook.placement.inventory.pool_index import Name
from webhook.placement.jobs.job_progress import (
    NAME_TAKEN,
    POOL_FAILED,
    TIMED_OUT,
    UNSATISFIABLE,
    JobPhase,
    Tallied,
    tallied,
)
from webhook.placement.jobs.operators.region_widths import fused_widths, region_widths, with_widths
from webhook.placement.jobs.problems import problems_of_job
from webhook.placement.objects.condition import UNKNOWN, ConditionState
from webhook.placement.objects.jobs.job_spec import SUBMISSION_SECONDS, JobSpec
from webhook.placement.objects.pool import Phase
from webhook.placement.text.problem import counted, enumerated

LATER: Final = 5.0
"""Seconds until the next pass if the watch has not brought by then what was made."""

NAMED: Final = 3
"""Processing elements that a message says the reason of, and pools that it names."""

NO_POD: Final = "its pod has not been created yet"

_BEGINS: Final = ConditionState(
    holds=False, reason=SUBMITTING, message="its HostPools and processing elements are being created"
)


class Jobs:
    """The reconciler, called by any number of workers.

    ``times`` are the clock of durations, and the time in seconds since 1970. ``asks`` is whether the cluster autoscaler
    is asked about Jobs that wait for new nodes.
    """

    def __init__(  # noqa: PLR0913 -- what it knows of, each once
        self,
        server: ObjectEditor,
        store: JobStore,
        reports: JobReports,
        judge: JobJudge,
        *,
        regions: ScaledRegions,
        times: tuple[Clock, Clock],
        asks: bool = False,
    ) -> None:
        self._judge = judge
        self._regions = regions
        self._server = server
        self._store = store
        self._reports = reports
        self._objects = OwnedObjects(server, store)
        self._submissions = SubmissionTimes(*times)
        self._asks = asks

    async def reconcile(self, name: Name) -> float | None:
        """Reconcile the Job; returns the seconds until the next pass, ``None`` if only a change needs one.

        Raises :class:`ApiError` for what may work later, and LostError when this process does not hold the Lease.
        """
        job = self._store.jobs.all.get(name)
        if job is None:
            self._regions.forget(name)
            self._submissions.forget(name)
            return None
        return await one_pass(self._advance(job), functools.partial(self._refresh, name))

    async def _refresh(self, name: Name) -> None:
        self._store.jobs.correct(read_job(Raw(await self._server.read(job_path(*name)))))

    async def _advance(self, job: StoredJob) -> float | None:
        status = status_of_job(job)
        if job.deleting:
            ready = ConditionState(holds=False, reason="Deleting", message="it is being deleted")
            await self._reports.say(job, replace(status, phase=JobPhase.DELETING, ready=ready))
            return None
        stated, known = job.model(), status.generation == job.generation and status.submitted.reason != INVALID
        widths = self._regions.wanted(job, stated) if stated else {}
        spec = stated and with_widths(stated, widths)
        problems = [] if known and spec else list(self._wrong(job, spec))
        if spec is None or problems:
            await self._reports.say(job, failed(INVALID, "; ".join(problems), status, job.generation))
            return None
        if status.undone:
            if await self._undone(job) or known:
                return None
            status = JobStatus()
        if not known:
            fresh = await self._fresh(job)
            if fresh.version != job.version:
                return SOON
            job = await self._begin(fresh, spec, status)
            if status_of_job(job).undone:
                await self._undone(job)
                return None
        else:
            job = await self._rescale(job, spec, widths, status)
        wait = await self._provide(job, job.stated() or spec, status_of_job(job))
        return min(filter(None, (wait, self._regions.pause(job, widths))), default=None)

    def _wrong(self, job: StoredJob, spec: JobSpec | None) -> Iterator[str]:
        """The problems of the spec of the Job."""
        if spec is None:
            yield job.fault
            return
        for problem in problems_of_job(job.name, spec):
            yield f"{problem.field}: {problem.message}"

    async def _begin(self, job: StoredJob, spec: JobSpec, status: JobStatus) -> StoredJob:
        """A new generation begins, if the whole Job can run; what it is promised is stored before anything is made.

        A Job that has run continues in any case, and its submission has no time limit.
        """
        async with self._judge.turn:
            judged = await self._judge.judge(job, spec)
            begun = self._begun(job, status)
            if judged.satisfiable != UNKNOWN:
                begun = replace(begun, satisfiable=judged.satisfiable)
            if judged.refused and begun.phase is JobPhase.SUBMITTING and (not self._judge.audit or not judged.made):
                begun = failed(UNSATISFIABLE, judged.satisfiable.message, begun, job.generation)
            return await self._promise(job, spec, begun, judged)

    async def _rescale(self, job: StoredJob, spec: JobSpec, widths: Mapping[str, int], status: JobStatus) -> StoredJob:
        """The Job, fused with these widths of its parallel regions; as it was, if they do not fit beside what runs."""
        fusion = job.fusion()
        made = fused_widths(job.model() or spec, fusion) if fusion else widths
        if made == widths:
            self._regions.forget(job.key)
            return job
        if self._regions.pause(job, widths):
            return job
        if problems := list(self._wrong(job, spec)):
            self._regions.refuse(job, widths, "; ".join(problems))
            return job
        await self._unchanged(job)
        async with self._judge.turn:
            judged = await self._judge.judge(job, spec, scaled=True)
            wider = any(width > made[name] for name, width in widths.items())
            if judged.fusion is None or (judged.refused and wider and not self._judge.audit):
                self._regions.refuse(job, widths, judged.satisfiable.message)
                return job
            begun = replace(status, submitted=_BEGINS)
            if judged.satisfiable != UNKNOWN:
                begun = replace(begun, satisfiable=judged.satisfiable)
            written = await self._promise(job, spec, begun, judged)
        self._reports.scaled(written, {name: width for name, width in widths.items() if width != made[name]})
        return written

    async def _unchanged(self, job: StoredJob) -> None:
        """Raise ApiError, CONFLICT, if the API server has another version of the Job."""
        if (await self._fresh(job)).version != job.version:
            raise ApiError(Cause.CONFLICT, f"the Job {job.name} has changed")

    async def _promise(self, job: StoredJob, spec: JobSpec, begun: JobStatus, judged: Judgement) -> StoredJob:
        """Write that status, with the plan and the fusion of the Job, and keep the room that is promised."""
        plan = msgspec.to_builtins(judged.plan) if judged.plan else {}
        if self._asks and judged.grows:
            begun = replace(begun, capacity=CAPACITY_ASKED)
        elif begun.capacity != UNKNOWN:  # an answer about what the Job was
            begun = replace(begun, capacity=CAPACITY_NOT_NEEDED if self._asks else CAPACITY_OFF)
        begun = replace(begun, plan={**plan, "judgedAt": self._reports.moment()} if plan else {})
        if judged.fusion is not None:
            regions = region_widths(job.model() or spec, spec)
            fusion = replace(judged.fusion, generation=job.generation, regions=regions)
            begun = replace(begun, fusion=msgspec.to_builtins(fusion))
        written = await self._reports.say(job, begun)
        self._judge.keep(written, judged.spec or spec, judged)
        return written

    def _begun(self, job: StoredJob, status: JobStatus) -> JobStatus:
        """The status of a generation that begins."""
        runs = status.phase is not JobPhase.SUBMITTING and status.submitted.reason not in {INVALID, UNKNOWN.reason}
        if status.submitted.reason == INVALID:
            # What ran before the Job was made invalid still runs.
            runs = any(element.begun for element in owned_elements(job, self._store))
        begun = replace(status, submitted=_BEGINS, generation=job.generation)
        if not runs:
            begun = replace(begun, phase=JobPhase.SUBMITTING, submitted_at=self._reports.moment(), ready=_BEGINS)
        return begun

    async def _undone(self, job: StoredJob) -> bool:
        """Delete the objects of a failed submission; returns whether it had any."""
        elements, pools = owned_elements(job, self._store), owned_pools(job, self._store)
        await self._objects.remove(
            [element for element in elements if not element.deleting],
            [pool for pool in pools if not pool.deleting],
            propagation="Foreground",
        )
        return bool(elements or pools)

    async def _provide(self, job: StoredJob, spec: JobSpec, status: JobStatus) -> float | None:
        """Make what is missing, and say how the Job does."""
        plan = plan_of(job, spec, self._store, submitted=status.submitted.holds)
        if plan.foreign and status.phase is JobPhase.SUBMITTING:
            await self._fail(job, status, NAME_TAKEN, f"{plan.foreign} exists and does not belong to this Job")
            return None
        refusal = None
        if not plan.empty and not plan.leftover:
            if (await self._fresh(job)).version != job.version:
                return SOON
            try:
                await self._do(job, plan)
            except ApiError as failure:
                if failure.cause not in REFUSALS:
                    raise
                refusal = failure
        present = _present(plan, self._store, job)
        pools = owned_pools(job, self._store)
        complete = len(present) == len(plan.names) and {pool.name for pool in pools} >= set(job.pools)
        if not status.submitted.holds and complete and plan.empty:
            what = f"{counted(len(job.pools), 'HostPool')} and {counted(len(plan.names), 'processing element')}"
            status = replace(status, submitted=ConditionState(holds=True, reason="Submitted", message=what))
        wait = await self._count(job, spec, status, present, _first(plan, refusal))
        if refusal is not None:
            raise refusal
        return wait if plan.empty else min(wait or LATER, LATER)

    async def _do(self, job: StoredJob, plan: JobPlan) -> None:
        await self._objects.make_pools(job, plan)
        await self._objects.make_elements(job, plan)
        await self._objects.remove(plan.elements_removed, plan.pools_removed)
        await self._objects.change_pools(plan)

    async def _count(
        self, job: StoredJob, spec: JobSpec, status: JobStatus, present: Sequence[StoredElement], first: str
    ) -> float | None:
        """Say how many elements run; fails a submission that takes too long. ``first`` is what else it waits for."""
        pools = [pool for pool in owned_pools(job, self._store) if pool.name in job.pools]
        ready = sum(pool.phase == Phase.READY for pool in pools)
        total = len(spec.processing_elements or ())
        tally = tallied(total, Counter(element.phase for element in present))
        status = replace(status, tally=tally, pools=len(job.pools), ready_pools=ready)
        if status.phase is not JobPhase.SUBMITTING:
            return await self._say(job, status, present, tally.phase, first)
        if broken := next((pool for pool in pools if pool.phase == Phase.FAILED), None):
            why = f"HostPool {broken.name} has failed: {broken.reason or 'no reason given'}"
            await self._fail(job, status, POOL_FAILED, why)
            return None
        begun = len(present) == total and all(element.begun for element in present)
        if status.submitted.holds and begun and ready == len(job.pools):
            return await self._say(job, status, present, tally.phase)
        wait = self._submissions.left(job, status.since, _limit(spec))
        if wait <= 0:
            waits = "; ".join(filter(None, (first, _pool_words(pools, job), _words(tally, present))))
            await self._fail(job, status, TIMED_OUT, f"after {_limit(spec)} s: {waits}")
            return None
        later = await self._say(job, status, present, JobPhase.SUBMITTING, first or _pool_words(pools, job))
        return wait if later is None else min(wait, later)

    async def _say(
        self, job: StoredJob, status: JobStatus, present: Sequence[StoredElement], phase: JobPhase, first: str = ""
    ) -> float | None:
        """Write the status of a Job in that phase; ``first`` is what else it waits for.

        Returns the seconds until it is written if that is not now.
        """
        runs = phase in {JobPhase.RUNNING, JobPhase.COMPLETED}
        message = "; ".join(filter(None, (first, _words(status.tally, present))))
        ready = ConditionState(
            phase is JobPhase.RUNNING, phase.value, shortened(message if not runs else str(status.tally))
        )
        return await self._reports.count(job, replace(status, phase=phase, ready=ready))

    async def _fail(self, job: StoredJob, status: JobStatus, reason: str, message: str) -> None:
        """The submission has failed: say so, and undo it."""
        await self._undone(await self._reports.say(job, failed(reason, message, status, job.generation)))

    async def _fresh(self, job: StoredJob) -> StoredJob:
        """The Job as the API server has it; raises ApiError, MISSING also for another Job of its name."""
        stored = read_job(Raw(await self._server.read(job_path(*job.key))))
        if stored.uid != job.uid:
            raise ApiError(Cause.MISSING, f"the Job {job.name} was replaced by another object of that name")
        self._store.jobs.learn(stored)
        return stored


def _limit(spec: JobSpec) -> int:
    stated = spec.submission_time_out_in_seconds
    return SUBMISSION_SECONDS if stated is None else stated


def _present(plan: JobPlan, store: JobStore, job: StoredJob) -> list[StoredElement]:
    """The Job's own elements that its spec lists and that are not being deleted, in the order of the spec."""
    elements = (store.elements.all.get((job.namespace, name)) for name in plan.names)
    return [element for element in elements if element and element.owner_uid == job.uid and not element.deleting]


def _pool_words(pools: Sequence[StoredHostPool], job: StoredJob) -> str:
    """The HostPools that are not Ready, in words; empty if all of them are."""
    ready = {pool.name for pool in pools if pool.phase == Phase.READY}
    waiting = [name for name in job.pools if name not in ready]
    if not waiting:
        return ""
    reasons = {pool.name: pool.reason for pool in pools if pool.reason}
    names = enumerated(waiting, NAMED, lambda name: f"{name} ({reasons[name]})" if name in reasons else name)
    return f"{len(waiting)} of {counted(len(job.pools), 'HostPool')} not ready: {names}"


def _first(plan: JobPlan, refusal: ApiError | None) -> str:
    """Why objects of the Job cannot be created."""
    if plan.foreign:
        return f"{plan.foreign} exists and does not belong to this Job"
    if plan.leftover:
        return f"{plan.leftover} of an earlier Job of this name is still there"
    return "" if refusal is None else (refusal.request and refusal.request.detail) or str(refusal)


def _words(tally: Tallied, present: Sequence[StoredElement]) -> str:
    """How many elements do not run, and why the first of them do not."""
    out = [element for element in present if element.phase not in {ElementPhase.RUNNING, ElementPhase.COMPLETED}]
    shown = sorted(out, key=lambda element: element.phase not in FINAL)[:NAMED]
    return ": ".join(filter(None, (str(tally), "; ".join(f"{each.name}: {each.why or NO_POD}" for each in shown))))
