"""Looks again whether Jobs that run could be started again as a whole.

It does so when nodes, devices, HostPools or node groups change.

The condition Satisfiable of a Job says so before the restart that would fail (``docs/jobs.md``, "Still satisfiable").
"""

import asyncio
from typing import Final

from msgspec.structs import replace

from kubeapi.client.errors import ApiError, Cause
from kubeapi.clock import Clock
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.controller.jobs.job_judge import JobJudge
from webhook.controller.jobs.job_reports import JobReports
from webhook.controller.jobs.launch_plans import LaunchPlans
from webhook.controller.jobs.stored_job_status import status_of_job
from webhook.controller.jobstore.records import StoredJob
from webhook.controller.jobstore.store import JobStore
from webhook.controller.reconciler_settings import SOON
from webhook.controller.workqueue.queue import Queue
from webhook.placement.inventory.pool_index import Name
from webhook.placement.jobs.job_progress import JobPhase
from webhook.placement.objects.condition import UNKNOWN
from webhook.placement.objects.jobs.job_spec import JobSpec

DELAY: Final = 2.0
"""Seconds after a change of the cluster until Jobs are looked at: a rolling restart changes many nodes at a time."""

IDLE: Final = 9
"""For so many times as long as a Job was judged, none is judged: at most a tenth of the leader's time goes into it."""

_EVERY: Final[Name] = "", ""
"""The key of the queue that stands for all Jobs."""

_REVIEWED: Final = frozenset({JobPhase.RUNNING, JobPhase.DEGRADED})


class SatisfiableReview:
    """Fills its queue by changes; :meth:`look` is called by one worker. ``clock`` measures how long a look takes."""

    def __init__(
        self,
        watched: ObservedInventory,
        store: JobStore,
        judge: JobJudge,
        reports: JobReports,
        plans: LaunchPlans,
        clock: Clock,
    ) -> None:
        self.queue: Queue[Name] = Queue(clock=clock)
        self._store = store
        self._judge = judge
        self._reports = reports
        self._plans = plans
        self._clock = clock
        self._leading = False
        watched.on_node.append(lambda *_: self._changed())
        watched.on_pool.append(lambda *_: self._changed())
        watched.devices.on_change.append(self._changed)
        watched.topologies.on_change.append(self._changed)
        watched.node_groups.on_change.append(self._changed)

    def begin(self) -> None:
        """Review all Jobs now, and after changes from now on."""
        self._leading = True
        self._changed()

    def _changed(self) -> None:
        if self._leading:
            self.queue.add_after(_EVERY, DELAY)

    async def look(self, name: Name) -> float | None:
        """Judge that Job again, or queue all Jobs; returns the seconds until the next pass, if one is due."""
        if name == _EVERY:
            for each in [each for each, job in self._store.jobs.all.items() if job.phase in _REVIEWED]:
                self.queue.add(each)
            return None
        begun = self._clock()
        job = self._store.jobs.all.get(name)
        spec = job.stated() if job is not None and job.phase in _REVIEWED else None
        try:
            if job is not None and spec is not None:
                await self._review(job, spec)
        except ApiError as failure:
            if failure.cause is not Cause.CONFLICT:
                raise
            return SOON
        finally:
            await asyncio.sleep((self._clock() - begun) * IDLE)
        return None

    async def _review(self, job: StoredJob, spec: JobSpec) -> None:
        async with self._judge.turn:
            judged = await self._judge.judge(job, spec)
        if judged.satisfiable != UNKNOWN:
            status = status_of_job(job)
            said = self._plans.stranded(job, judged.satisfiable)
            await self._reports.say(job, replace(status, satisfiable=said))
