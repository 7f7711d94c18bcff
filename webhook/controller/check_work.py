"""The leader's work on admission checks of Kueue: connects their store, triggers, queues and reconcilers."""

import asyncio
import functools
import time

from kubeapi.clock import Clock, seconds
from webhook.cluster.objects.kinds import AnyKind
from webhook.cluster.queries.lookups.volume_lookups import VolumeLookups
from webhook.controller.admissionchecks.check_reports import CheckReports
from webhook.controller.admissionchecks.check_store import CheckStore
from webhook.controller.admissionchecks.promised_room import PromisedRoom
from webhook.controller.admissionchecks.reconciler import WorkloadChecks
from webhook.controller.admissionchecks.watched_checks import check_kinds
from webhook.controller.admissionchecks.woken_workloads import WokenWorkloads
from webhook.controller.admissionchecks.workload_judge import WorkloadJudge
from webhook.controller.concurrency import gather_or_cancel
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.controller.jobs.job_judge import FORGET, JobJudge
from webhook.controller.object_editor import ObjectEditor
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.controller.workqueue.queue import Queue
from webhook.controller.workqueue.workers import run_workers


class CheckWork:
    """The reconcilers and their queues; the caller feeds objects of ``kinds``.

    ``watched`` is filled by the watches of the cluster, ``jobs`` judges the Jobs of Streams, and ``now`` is the time in
    seconds since 1970.
    """

    def __init__(
        self,
        server: ObjectEditor,
        watched: ObservedInventory,
        rules: ReconcilerSettings,
        jobs: JobJudge,
        *,
        clock: Clock = seconds,
        now: Clock = time.time,
    ) -> None:
        self.store = store = CheckStore()
        self.kinds: tuple[AnyKind, ...] = check_kinds(store)
        self.checks: Queue[str] = Queue(clock=clock)
        self._traces = rules.traces
        judge = WorkloadJudge(jobs.promised, rules.policy, VolumeLookups(server), jobs.turn, rules.solving)
        self._room = PromisedRoom(watched, store, judge, clock)
        jobs.turn.rooms.append(self._room)
        self.woken = WokenWorkloads(server, watched, store, judge, clock)
        self.workloads = WorkloadChecks(server, store, judge, self._room, self.woken, (clock, now))
        self._reports = CheckReports(server, store, now)
        store.on_check.append(self._check)
        self._leading = False

    def _check(self, name: str) -> None:
        if self._leading:
            self.checks.add(name)

    async def run(self) -> None:
        """Queue everything, and reconcile until cancelled; raises LostError when the Lease is lost."""
        self._leading = True
        for name in self.store.checks:
            self.checks.add(name)
        await self.workloads.begin()
        workers = functools.partial(run_workers, traces=self._traces)
        await gather_or_cancel(
            [
                workers(self.checks, self._reports.reconcile, name="admission check", workers=1),
                workers(self.workloads.queue, self.workloads.reconcile, name="workload"),
                workers(self.woken.queue, self.woken.look, name="waiting workload", workers=1),
                self._forget(),
            ]
        )

    async def _forget(self) -> None:
        """Give up, until cancelled, the room that has been kept for too long."""
        while True:
            self._room.expire()
            await asyncio.sleep(FORGET)
