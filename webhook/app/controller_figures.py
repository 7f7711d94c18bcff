"""``ControllerFigures``: the metrics of the controller process, read from its caches and queues (``docs/metrics.md``).

Gauges are computed when they are read. Figures of pools, Jobs and pods are those of the leader, which watches them; in
a process that stands by they are 0.
"""

import functools
import time
from collections.abc import Iterator
from itertools import islice
from typing import Final

from kubeapi.clock import Clock
from webhook.controller.jobstore.records import StoredJob
from webhook.controller.program import Controller
from webhook.placement.elements.element_status import ElementPhase
from webhook.placement.inventory.pool_index import Name
from webhook.placement.jobs.job_progress import JobPhase
from webhook.placement.kube.timestamps import seconds_of
from webhook.placement.objects.pool import Phase, Pool
from webhook.server.metrics import LabelledValues, Metrics

WAIT_BUCKETS: Final = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 21600.0)
"""Bucket bounds in seconds: from the second for which a new exclusive host is watched to a wait of a working day."""

DEGRADED: Final = 20
"""HostPools that are named as degraded, in the order of their names: users choose the names, so they are few."""


class ControllerFigures:
    """Registers the metrics of the controller in ``metrics``; ``now`` is the time in seconds since 1970.

    Pools that are degraded are named only if ``naming``: other tenants may be able to read the metrics.
    """

    def __init__(
        self, controller: Controller, metrics: Metrics, *, naming: bool = False, now: Clock = time.time
    ) -> None:
        self._controller = controller
        self._naming = naming
        self._pools = controller.work.watched.inventory.pools
        self._jobs = controller.work.jobs.store.jobs
        self._now = now
        self._without: dict[Name, float] = {}
        """When pools that had been Ready were first seen not to be: they wait since then, not since their creation."""
        self._pool_waits = metrics.durations(
            "host_pool_wait_seconds",
            "Seconds from the creation of a HostPool, or from the loss of its hosts, until it has them all.",
            WAIT_BUCKETS,
        )
        self._job_waits = metrics.durations(
            "job_wait_seconds", "Seconds from the submission of a Job until all of it runs.", WAIT_BUCKETS
        )
        controller.work.watched.on_pool.append(self._pool)
        self._jobs.listeners.append(self._job)
        self._of_process(metrics)
        self._of_pools(metrics)
        self._of_jobs(metrics)
        self._of_queues(metrics)

    def _of_process(self, metrics: Metrics) -> None:
        controller = self._controller
        metrics.gauge("leader", "1 if this process is the leader, else 0.", lambda: float(controller.election.leading))
        metrics.gauge(
            "cache_age_seconds",
            "Seconds since the API server last confirmed the state of a resource, for the stalest one.",
            lambda: controller.cache_age,
        )
        metrics.gauge(
            "skipped_objects", "Objects that could not be used.", lambda: float(controller.cluster.report.skipped_count)
        )
        events = (controller.events, controller.of_pods)
        metrics.gauge("events_written", "Events written.", lambda: float(sum(each.written for each in events)))
        metrics.gauge(
            "events_lost",
            "Events that could not be written, or were dropped.",
            lambda: float(sum(each.failed + each.dropped for each in events)),
        )

    def _of_pools(self, metrics: Metrics) -> None:
        for phase in Phase:
            metrics.gauge(
                f"host_pools_{phase.lower()}", f"Host pools that are {phase}.", functools.partial(self._in_phase, phase)
            )
        metrics.gauge(
            "host_pools_pending_oldest_seconds",
            "Seconds for which the oldest Pending host pool has waited.",
            lambda: max(map(self._waited, self._pending()), default=0.0),
        )
        metrics.gauge(
            "host_pools_degraded",
            "Host pools with hosts in trouble.",
            lambda: float(sum(1 for _ in self._degraded())),
        )
        metrics.listing(
            "host_pool_degraded",
            f"Always 1: a host pool with hosts in trouble; the first {DEGRADED} by name.",
            ("host_pool_namespace", "host_pool"),
            self._named,
        )
        metrics.gauge("pool_hosts_assigned", "Hosts assigned to pools.", self._hosts)
        metrics.gauge("pool_hosts_gone", "Hosts assigned to pools whose nodes are gone.", self._gone)

    def _of_jobs(self, metrics: Metrics) -> None:
        waiting = self._controller.work.waiting
        for phase in JobPhase:
            metrics.gauge(
                f"jobs_{phase.lower()}", f"Jobs that are {phase}.", functools.partial(self._jobs_in_phase, phase)
            )
        metrics.gauge(
            "jobs_unsatisfiable",
            "Jobs that could not be started, or could not be restarted as a whole now, or are stranded.",
            lambda: float(sum(not job.satisfiable for job in self._jobs.all.values())),
        )
        metrics.gauge(
            "jobs_submitting_oldest_seconds",
            "Seconds for which the oldest Submitting Job has waited.",
            lambda: max((self._since(job.submitted) for job in self._submitting()), default=0.0),
        )
        for element_phase in ElementPhase:
            metrics.gauge(
                f"processing_elements_{element_phase.lower()}",
                f"Processing elements that are {element_phase}.",
                functools.partial(self._elements_in_phase, element_phase),
            )
        metrics.gauge(
            "pods_waiting",
            "Admitted pods that no node could run, and that still have no node.",
            lambda: float(waiting.count),
        )
        metrics.gauge(
            "pods_waiting_oldest_seconds", "Seconds for which the first of them has waited.", lambda: waiting.oldest
        )

    def _of_queues(self, metrics: Metrics) -> None:
        pools, jobs = self._controller.work.queues.pools, self._controller.work.jobs.queues
        metrics.gauge("job_queue_depth", "Jobs that wait to be reconciled.", lambda: float(jobs.jobs.depth))
        metrics.gauge(
            "element_queue_depth", "Processing elements that wait to be reconciled.", lambda: float(jobs.elements.depth)
        )
        metrics.gauge("queue_depth", "Host pools that wait to be reconciled.", lambda: float(pools.depth))
        metrics.gauge("queue_oldest_seconds", "Seconds for which the first of them has waited.", lambda: pools.oldest)
        metrics.gauge("queue_failing", "Host pools whose last reconcile failed.", lambda: float(pools.failing))
        metrics.gauge("queue_retries", "Reconciles that were retried after a failure.", lambda: float(pools.retries))

    # What happens

    def _pool(self, name: Name, before: Pool | None, after: Pool | None) -> None:
        """A sized HostPool that has got its hosts has waited since it was created, or since it had too few."""
        if before and after and after.sized and (before.phase, after.phase) == (Phase.PENDING, Phase.READY):
            self._pool_waits.observe(self._waited(after))
        if after is None or after.phase is Phase.READY:
            self._without.pop(name, None)
        elif before and before.phase is Phase.READY:
            self._without[name] = self._now()

    def _job(self, before: StoredJob | None, after: StoredJob | None) -> None:
        """A Job all of which runs has waited since it was submitted."""
        if before and after and (before.phase, after.phase) == (JobPhase.SUBMITTING, JobPhase.RUNNING):
            self._job_waits.observe(self._since(after.submitted))

    # What there is

    def _in_phase(self, phase: Phase) -> float:
        return float(sum(pool.phase is phase for pool in self._pools.values()))

    def _pending(self) -> Iterator[Pool]:
        return (pool for pool in self._pools.values() if pool.phase is Phase.PENDING)

    def _submitting(self) -> Iterator[StoredJob]:
        return (job for job in self._jobs.all.values() if job.phase is JobPhase.SUBMITTING)

    def _jobs_in_phase(self, phase: JobPhase) -> float:
        return float(sum(job.phase is phase for job in self._jobs.all.values()))

    def _elements_in_phase(self, phase: ElementPhase) -> float:
        elements = self._controller.work.jobs.store.elements.all.values()
        return float(sum(element.phase is phase for element in elements))

    def _degraded(self) -> Iterator[Name]:
        """The pools whose status says that hosts are in trouble."""
        return (name for name, pool in self._controller.work.jobs.store.pools.all.items() if pool.degraded)

    def _named(self) -> LabelledValues:
        return ((name, 1.0) for name in islice(sorted(self._degraded()), DEGRADED if self._naming else 0))

    def _hosts(self) -> float:
        return float(sum(len(pool.assigned) for pool in self._pools.values()))

    def _gone(self) -> float:
        return float(sum(not nodes for pool in self._pools.values() for nodes in self._pools.hosts(pool).values()))

    def _waited(self, pool: Pool) -> float:
        """Seconds since the pool was seen without the hosts that it had, else since it was created."""
        began = self._without.get((pool.namespace, pool.name))
        return self._since(pool.created) if began is None else max(0.0, self._now() - began)

    def _since(self, created: str) -> float:
        """Seconds since a creation time, by another machine's clock: 0 if it is in the future, or unreadable."""
        began = seconds_of(created)
        return 0.0 if began is None else max(0.0, self._now() - began)
