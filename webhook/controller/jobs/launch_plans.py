"""Plans for processing elements that are launched again, one plan for all elements of a Job that wait at a time.

What was planned is kept here and in ``status.plan`` of the Job. A new leader plans again, with what runs
by then where it is (``docs/jobs.md``, "Restarts of several elements").
"""

from collections.abc import Callable, Iterable
from typing import Final

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from kubeapi.client.errors import ApiError, Cause
from kubeapi.clock import Clock
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.controller.jobs.element_standing import ElementStandings
from webhook.controller.jobs.job_judge import JobJudge
from webhook.controller.jobs.job_reports import JobReports
from webhook.controller.jobs.planned_launches import LaunchEntry, PlannedLaunches
from webhook.controller.jobs.stored_job_status import status_of_job
from webhook.controller.jobstore.records import StoredElement, StoredJob, element_path, read_element
from webhook.controller.jobstore.store import JobStore
from webhook.controller.object_editor import ObjectEditor
from webhook.controller.reconciler_settings import SOON
from webhook.controller.workqueue.queue import Queue
from webhook.placement.elements.element_pod import ElementPod
from webhook.placement.elements.plan import UNPLANNED, PlannedLaunch, planned_launch
from webhook.placement.inventory.pool_index import Name
from webhook.placement.jobs.job_progress import STRANDED, UNSATISFIABLE
from webhook.placement.jobs.replanning import Replanned, Standing
from webhook.placement.objects.condition import ConditionState
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.objects.pool import Phase
from webhook.placement.text.problem import enumerated

TOGETHER: Final = 0.5
"""Seconds from the first element that is to be launched until a plan is made: a drain ends many pods in a moment."""

LOOK: Final = 10.0
"""Seconds until the next look at a Job of which a pod, or an element, finds no node."""

PATIENCE: Final = 10.0
"""Seconds for which elements find no node before others, with which they share one, are restarted for them."""

REFUSED: Final = 30.0
"""Seconds after which a node is not planned any more for a pod that the scheduler has not put there: the scheduler
knows of conditions that a plan does not count."""

AVOIDED: Final = 600.0
"""Seconds for which it is not."""

CHANGED: Final = 2.0
"""Seconds from a change of nodes or HostPools until elements that find no node are looked at."""

NAMED: Final = 3


class LaunchPlans:
    """Knows what is planned for each launch; :meth:`plan` is called by one worker of ``queue``.

    ``clock`` is that of durations.
    """

    def __init__(
        self,
        server: ObjectEditor,
        watched: ObservedInventory,
        store: JobStore,
        judge: JobJudge,
        reports: JobReports,
        clock: Clock,
    ) -> None:
        self.queue: Queue[Name] = Queue(clock=clock)
        self.wake: list[Callable[[Name], object]] = []
        """Called with the name of an element for which a plan was made."""
        self._server = server
        self._inventory = watched.inventory
        self._store = store
        self._judge = judge
        self._reports = reports
        self._clock = clock
        self._launches = PlannedLaunches(store, clock)
        self._asked: set[Name] = set()
        """Jobs with an element that is to be launched, and that no plan is about."""
        self._short: dict[Name, float] = {}
        """Jobs with elements that find no node, and since when."""
        self._avoided: dict[Name, dict[tuple[str, str], float]] = {}
        """For elements and nodes that the scheduler has refused them: until when these are not planned."""
        self._leading = False
        watched.on_node.append(lambda *_: self._changed())
        watched.on_pool.append(lambda *_: self._changed())
        store.on_pod.append(lambda _, after: self._pod(after))
        store.jobs.listeners.append(self._job)

    def begin(self) -> None:
        """Look from now on after pods that find no node."""
        self._leading = True
        for element in self._store.elements.all.values():
            for pod in self._store.pods_of(element.key):
                self._pod(pod)

    def _changed(self) -> None:
        for job in self._short if self._leading else ():
            self.queue.add_after(job, CHANGED)

    def _pod(self, pod: ElementPod | None) -> None:
        if self._leading and pod is not None and pod.unscheduled and not (pod.node or pod.deleting):
            element = self._store.elements.all.get((pod.namespace, pod.element))
            if element is not None:
                self.queue.add_after((pod.namespace, element.job), LOOK)

    def _job(self, before: StoredJob | None, after: StoredJob | None) -> None:
        if before is not None and (after is None or after.uid != before.uid):
            self._forget(before.key)

    def _forget(self, job: Name) -> None:
        self._launches.forget(job)
        self._short.pop(job, None)
        self._avoided.pop(job, None)
        self._asked.discard(job)

    # What is planned

    def of(self, element: StoredElement) -> PlannedLaunch | None:
        """The plan for the present launch of the element; ``None`` until there is one, which wakes the element."""
        job = self._store.jobs.all.get((element.namespace, element.job))
        if job is None or job.uid != element.owner_uid or not self._judge.judges(job):
            return UNPLANNED
        launch = self._of(job, element)
        # Where nothing is enforced a plan is a wish as well.
        return PlannedLaunch(launch.node, hardware=launch.hardware) if launch and self._judge.audit else launch

    def _of(self, job: StoredJob, element: StoredElement) -> PlannedLaunch | None:
        launch = self._launches.of(job, element)
        if launch is None:
            self._asked.add(job.key)
            self.queue.add_after(job.key, TOGETHER)
        return launch

    # Planning

    async def plan(self, name: Name) -> float | None:
        """Plan what waits of that Job; returns the seconds until the next look, if there has to be one."""
        job = self._store.jobs.all.get(name)
        spec = job.stated() if job is not None and not (job.deleting or job.undone) else None
        if job is None or spec is None or not self._judge.judges(job):
            self._forget(name)
            return None
        try:
            return await self._planned(job, spec)
        except ApiError as failure:
            if failure.cause not in {Cause.CONFLICT, Cause.MISSING}:
                raise
            return SOON

    async def _planned(self, job: StoredJob, spec: JobSpec) -> float | None:
        standings = ElementStandings(job, spec, self._store, self._inventory.nodes.get)
        standing = self._without_refused(job, standings, standings.find(job.planned()))
        looks = job.key in self._short or job.key in self._asked
        if not standing.waiting or not (looks or standings.pending):
            await self._recovered(job, spec)
            return None
        since = self._short.get(job.key)
        if since is None or self._clock() < since + PATIENCE or self._judge.audit:
            standing = replace(standing, movable=frozenset())
        async with self._judge.turn:
            replanned = await self._judge.replan(job, spec, standing)
            job = await self._say(job, spec, replanned, late=since is not None)
        await self._launch(job, standing, standings.pending, replanned)
        self._asked.discard(job.key)
        if not replanned.short:
            await self._recovered(job, spec)
        for element in sorted(standing.waiting | replanned.moved):
            for wake in self.wake:
                wake((job.namespace, element))
        if not replanned.short:
            return LOOK if standings.pending else None
        self._short.setdefault(job.key, self._clock())
        return LOOK

    async def _say(self, job: StoredJob, spec: JobSpec, replanned: Replanned, *, late: bool) -> StoredJob:
        """The Job with the plan in its status, and with why elements find no node if they have found none for long."""
        status, stored_plan = status_of_job(job), job.planned()
        pools = {pool.name: pool for pool in (*stored_plan.pools, *replanned.plan.pools)}
        plan = msgspec.structs.replace(replanned.plan, pools=tuple(pools.values()))
        if replanned.short and late and not replanned.undecided:
            status = replace(
                status, satisfiable=ConditionState(holds=False, reason=STRANDED, message=_words(replanned))
            )
        if replanned.plan.nodes and plan != stored_plan:
            document = {**msgspec.to_builtins(plan), "judgedAt": self._reports.moment()}
            status = replace(status, plan=document)
        written = await self._reports.say(job, status)
        self._judge.keep_replanned(written, spec, replanned)
        return written

    async def _recovered(self, job: StoredJob, spec: JobSpec) -> None:
        """All elements have a node, or the plan of one."""
        self._short.pop(job.key, None)
        status = status_of_job(self._store.jobs.all.get(job.key, job))
        if status.satisfiable.reason != STRANDED:
            return
        async with self._judge.turn:
            judged = await self._judge.judge(job, spec)
        current = self._store.jobs.all.get(job.key, job)
        await self._reports.say(current, replace(status_of_job(current), satisfiable=judged.satisfiable))

    def stranded(self, job: StoredJob, satisfiable: ConditionState) -> ConditionState:
        """The condition of the Job: still Stranded while elements of it find no node, else ``satisfiable``."""
        said = status_of_job(job).satisfiable
        waits = job.key in self._short and said.reason == STRANDED
        return said if waits and satisfiable.reason != UNSATISFIABLE else satisfiable

    async def _launch(
        self, job: StoredJob, standing: Standing, pending: dict[str, ElementPod], replanned: Replanned
    ) -> None:
        """Note what is planned for each element, and replace pods that have to go elsewhere."""
        for name in sorted(standing.waiting | replanned.moved):
            element = self._store.elements.all.get((job.namespace, name))
            if element is None:
                continue
            planned = self._of_plan(name, replanned)
            old = self._launches.find(element)
            if name in pending and old is not None and not _misplaced(old.planned, planned):
                continue
            if name in replanned.moved or (name in pending and _misplaced(_before(name, standing, old), planned)):
                element = await self._raised(element)
            together = replanned.together.get(name, frozenset())
            self._launches.note(element, self._next_launch(element, pending), planned, together)
        if replanned.moved:
            self._reports.moved(job, sorted(replanned.moved))

    def _next_launch(self, element: StoredElement, pending: dict[str, ElementPod]) -> int:
        """The launch that the next pod of the element will be of: another one if its present pod is ending."""
        pods = self._store.pods_of(element.key)
        ending = element.name not in pending and any(pod.launch == element.launch for pod in pods)
        return element.launch + ending

    def _of_plan(self, name: str, replanned: Replanned) -> PlannedLaunch:
        """The planned launch of an element; elements that share a node wait until one fits all of them."""
        why = replanned.short.get(name)
        if why is None:
            return planned_launch(name, replanned.plan)
        if name not in replanned.together or replanned.elastic or replanned.undecided:
            return UNPLANNED
        return PlannedLaunch(blocked=ConditionState(holds=False, reason=STRANDED, message=why))

    def _without_refused(self, job: StoredJob, standings: ElementStandings, standing: Standing) -> Standing:
        """How the elements stand, without nodes onto which the scheduler does not put them."""
        now, avoided = self._clock(), self._avoided.setdefault(job.key, {})
        ready = all(pool.phase == Phase.READY for pool in self._store.pools_of(job.key))
        for name, pod in standings.pending.items() if ready else ():
            entry = self._launches.find(self._store.elements.all[job.namespace, name])
            if entry and entry.planned.required and pod.unscheduled and now >= entry.since + REFUSED:
                names = entry.together or {name}
                avoided |= dict.fromkeys(((each, entry.planned.node) for each in names), now + AVOIDED)
        self._avoided[job.key] = avoided = {key: until for key, until in avoided.items() if until > now}
        sent = {name: node for name, node in standing.sent.items() if (name, node) not in avoided}
        return replace(standing, sent=sent, avoided=frozenset(avoided))

    async def _raised(self, element: StoredElement) -> StoredElement:
        """The element with the next launch, which replaces its pod. Raises ApiError."""
        launch = {"launchCount": element.launch + 1}
        patch = {"metadata": {"resourceVersion": str(element.version)}, "spec": launch}
        written = read_element(Raw(await self._server.merge_patch(element_path(*element.key), patch)))
        self._store.elements.learn(written)
        return written


def _before(name: str, standing: Standing, entry: LaunchEntry | None) -> PlannedLaunch:
    """The launch planned for a pod that waits, by this controller or its predecessor."""
    return entry.planned if entry is not None else PlannedLaunch(standing.sent.get(name, ""), required=True)


def _misplaced(before: PlannedLaunch, planned: PlannedLaunch) -> bool:
    """Whether a pod that waits must be replaced to follow the plan."""
    elsewhere = before.required and before.node != planned.node
    had, has = ({(each.name, each.container) for each in one.hardware} for one in (before, planned))
    return bool(planned.node) and (elsewhere or not had <= has)


def _words(replanned: Replanned) -> str:
    """Which elements find no node, and why."""
    reasons: dict[str, list[str]] = {}
    for name, why in replanned.short.items():
        reasons.setdefault(why, []).append(name)
    return "; ".join(_clause(names, why) for why, names in reasons.items())


def _clause(names: Iterable[str], why: str) -> str:
    listed = sorted(names)
    return f"{enumerated(listed, NAMED)} {'finds' if len(listed) == 1 else 'find'} no node: {why}"
