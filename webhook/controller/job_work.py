"""The leader's work on Jobs and ProcessingElements: connects their store, triggers, queues and reconcilers."""

import time
from collections.abc import Coroutine
from typing import Any

from msgspec import Struct

from kubeapi.clock import Clock, seconds
from webhook.cluster.objects.kinds import AnyKind
from webhook.controller.hostpools.pool_reports import EventRecorder
from webhook.controller.jobs.job_reports import JobReports
from webhook.controller.jobs.job_triggers import JobTriggers
from webhook.controller.jobs.reconciler import Jobs
from webhook.controller.jobstore.editor import ObjectEditor
from webhook.controller.jobstore.store import JobStore
from webhook.controller.jobstore.watched_kinds import job_kinds
from webhook.controller.processingelements.element_reports import ElementReports
from webhook.controller.processingelements.element_triggers import ElementTriggers
from webhook.controller.processingelements.reconciler import ProcessingElements
from webhook.controller.workqueue.queue import Queue
from webhook.controller.workqueue.workers import SEATS, run_workers
from webhook.placement.inventory.pool_index import Name
from webhook.placement.jobs.problems import problems_of_job


class JobQueues(Struct, frozen=True):
    """The queues of reconcile keys: Jobs, and ProcessingElements."""

    jobs: Queue[Name]
    elements: Queue[Name]


class JobWork:
    """The reconcilers and their queues; the caller feeds objects of ``kinds``.

    ``image`` is that of the Streams runtime, ``now`` the time in seconds since 1970.
    """

    def __init__(
        self,
        server: ObjectEditor,
        events: EventRecorder,
        *,
        image: str,
        clock: Clock = seconds,
        now: Clock = time.time,
    ) -> None:
        self.store = JobStore()
        self.kinds: tuple[AnyKind, ...] = job_kinds(self.store)
        self.queues = JobQueues(
            Queue(flow=_namespace, seats=SEATS, clock=clock), Queue(flow=_namespace, seats=SEATS, clock=clock)
        )
        store = self.store
        self._jobs = Jobs(server, store, JobReports(server, store, events, now), problems_of_job, now)
        self._elements = ProcessingElements(
            server, store, ElementReports(server, store, events, now), image=image, now=now
        )
        self._triggers = (JobTriggers(store, self.queues.jobs), ElementTriggers(store, self.queues.elements))

    def works(self) -> list[Coroutine[Any, Any, None]]:
        """Queue everything, and return what is to run until it is cancelled."""
        for triggers in self._triggers:
            triggers.begin()
        return [
            run_workers(self.queues.jobs, self._jobs.reconcile, name="job"),
            run_workers(self.queues.elements, self._elements.reconcile, name="processing element"),
        ]


def _namespace(name: Name) -> str:
    """The namespace of an object, which is its flow: namespaces take turns in the queue."""
    return name[0]
