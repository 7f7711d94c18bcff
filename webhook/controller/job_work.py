"""The leader's work on Jobs and ProcessingElements: connects their store, triggers, queues and reconcilers."""

import functools
import time
from collections.abc import Mapping

from msgspec import Struct

from kubeapi.clock import Clock, seconds
from webhook.cluster.objects.kinds import AnyKind
from webhook.cluster.queries.lookups.volume_lookups import VolumeLookups
from webhook.controller.concurrency import gather_or_cancel
from webhook.controller.events.recorder import EventRecorder
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.controller.jobs.job_judge import JobJudge
from webhook.controller.jobs.job_reports import JobReports
from webhook.controller.jobs.job_triggers import JobTriggers
from webhook.controller.jobs.launch_plans import LaunchPlans
from webhook.controller.jobs.reconciler import Jobs
from webhook.controller.jobs.reservations import Reservations
from webhook.controller.jobs.satisfiable_review import SatisfiableReview
from webhook.controller.jobs.scaled_regions import ScaledRegions
from webhook.controller.jobstore.store import JobStore
from webhook.controller.jobstore.watched_kinds import job_kinds
from webhook.controller.object_editor import ObjectEditor
from webhook.controller.parallelregions.reconciler import ParallelRegions
from webhook.controller.parallelregions.region_triggers import RegionTriggers
from webhook.controller.processingelements.element_reports import ElementReports
from webhook.controller.processingelements.element_triggers import ElementTriggers
from webhook.controller.processingelements.reconciler import ProcessingElements
from webhook.controller.processingelements.steering import Steering
from webhook.controller.provisioningrequests.asked_pods import AskedPods
from webhook.controller.provisioningrequests.reconciler import ProvisioningRequests
from webhook.controller.provisioningrequests.request_store import RequestStore, request_kind
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.controller.workqueue.queue import Queue
from webhook.controller.workqueue.workers import fair_queue, run_workers
from webhook.placement.inventory.pool_index import Name
from webhook.placement.objects.pool import Pool


class JobQueues(Struct, frozen=True):
    """The queues of reconcile keys: Jobs, ProcessingElements, and Jobs whose ParallelRegions are looked at."""

    jobs: Queue[Name]
    elements: Queue[Name]
    regions: Queue[Name]


class JobWork:
    """The reconcilers and their queues; the caller feeds objects of ``kinds``.

    ``watched`` is filled by the same objects, ``now`` the time in seconds since 1970.
    """

    def __init__(
        self,
        server: ObjectEditor,
        events: EventRecorder,
        watched: ObservedInventory,
        rules: ReconcilerSettings,
        *,
        clock: Clock = seconds,
        now: Clock = time.time,
    ) -> None:
        self.store = JobStore()
        self._traces = rules.traces
        self.kinds: tuple[AnyKind, ...] = job_kinds(self.store)
        self.queues = JobQueues(fair_queue(clock), fair_queue(clock), fair_queue(clock))
        store, inventory = self.store, watched.inventory
        reports = JobReports(server, store, events, now)
        times = clock, now
        kept = Reservations(watched, store, times)
        self.judge = JobJudge(inventory, rules.policy, kept, rules.solving, VolumeLookups(server))
        scaled = ScaledRegions(store, clock)
        asks = self._asks = self._asking(server, reports, rules, clock) if rules.asks_autoscaler else None
        self._jobs = Jobs(server, store, reports, self.judge, regions=scaled, times=times, asks=asks is not None)
        self._regions = ParallelRegions(server, store, scaled, now)
        scaled.wake.append(self.queues.regions.add)
        self._plans = LaunchPlans(server, watched, store, self.judge, reports, clock)
        self._plans.wake.append(self.queues.elements.add)
        self._review = SatisfiableReview(watched, store, self.judge, reports, self._plans, clock)
        element_reports = ElementReports(server, store, events, now)
        self._elements = ProcessingElements(
            server, store, element_reports, Steering(self._plans.of, inventory), image=rules.runtime_image, now=now
        )
        self._triggers = (
            JobTriggers(store, self.queues.jobs),
            ElementTriggers(store, self.queues.elements),
            RegionTriggers(store, self.queues.regions),
        )

    def _asking(
        self, server: ObjectEditor, reports: JobReports, rules: ReconcilerSettings, clock: Clock
    ) -> ProvisioningRequests:
        """The reconciler of questions to the cluster autoscaler, whose requests are watched as well."""
        requests = RequestStore()
        self.kinds = *self.kinds, request_kind(requests)
        return ProvisioningRequests(server, self.store, requests, reports, AskedPods(self.judge.promised, rules), clock)

    def planned_hosts(self, pool: Pool) -> Mapping[int, str]:
        """The nodes that the plan of the pool's Job has for it, by index."""
        job = self.store.jobs.all.get((pool.namespace, pool.job)) if pool.job else None
        return job.planned().hosts_of(pool.name) if job is not None and job.judged else {}

    async def run(self) -> None:
        """Queue everything, and reconcile until cancelled; raises LostError when the Lease is lost."""
        for job in list(self.store.jobs.all.values()):
            await self.judge.resume(job)
        for triggers in (*self._triggers, self._review, self._plans):
            triggers.begin()
        if self._asks:
            self._asks.begin()
        workers = functools.partial(run_workers, traces=self._traces)
        await gather_or_cancel(
            [
                workers(self.queues.jobs, self._jobs.reconcile, name="job"),
                workers(self.queues.elements, self._elements.reconcile, name="processing element"),
                workers(self.queues.regions, self._regions.reconcile, name="parallel regions of job", workers=1),
                workers(self._plans.queue, self._plans.plan, name="launches of job", workers=1),
                workers(self._review.queue, self._review.look, name="running job", workers=1),
                *([workers(self._asks.queue, self._asks.reconcile, name="asking job")] if self._asks else []),
                self.judge.forget(),
            ]
        )
