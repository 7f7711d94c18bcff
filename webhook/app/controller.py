"""``controller``: builds the controller process from the settings, with its gauges, and runs it until a signal."""

import asyncio
import functools
import gc
from collections.abc import Callable, Iterator

from kubeapi.client.service_account import own_namespace
from webhook.app.cluster_source import ReadingLog, configuration_of
from webhook.cluster.objects.translate import NAMESPACE
from webhook.cluster.queries.job_verdicts import ThreadSearches
from webhook.controller.hostpools.host_choice import ReconcilerSettings, Replacement
from webhook.controller.program import Controller, LeaseRef
from webhook.placement.inventory.objects import Phase
from webhook.placement.jobs.element_status import ElementPhase
from webhook.placement.jobs.job_progress import JobPhase
from webhook.server.background import run_background
from webhook.server.metrics import Metrics
from webhook.settings import Settings, policy_of


async def control(settings: Settings, announce: Callable[[str], None]) -> None:
    """Make HostPools and Jobs true until a signal says stop; FatalError without a cluster, or when the lead is lost."""
    metrics = Metrics()
    gc.freeze()
    configuration = await asyncio.to_thread(configuration_of, settings)
    rules = ReconcilerSettings(
        policy_of(settings),
        Replacement(settings.replace_unusable_after, settings.replace_unlabelled),
        settings.runtime_image,
        ThreadSearches(settings.job_seconds),
    )
    place = LeaseRef(settings.lease_namespace or own_namespace() or NAMESPACE, settings.lease_name)
    controller = Controller(configuration, rules, place, limit=settings.stale_after, tell=ReadingLog())
    figures(controller, metrics.gauge)
    await run_background(
        controller.run, controller.reason, settings, metrics=metrics, announce=announce
    )  # fmt: skip


Gauge = Callable[[str, str, Callable[[], float]], object]
"""Registers a metric: its name, its help text, and a function that returns its value."""


def figures(controller: Controller, gauge: Gauge) -> None:
    """Register all metrics of the controller."""
    pools = controller.work.queues.pools
    gauge("leader", "Whether this process acts: 1 or 0.", lambda: float(controller.election.leading))
    for phase in Phase:
        gauge(
            f"host_pools_{phase.lower()}",
            f"Host pools that are {phase}.",
            functools.partial(_in_phase, controller, phase),
        )
    for job_phase in JobPhase:
        gauge(
            f"jobs_{job_phase.lower()}",
            f"Jobs that are {job_phase}.",
            functools.partial(_jobs_in_phase, controller, job_phase),
        )
    gauge(
        "jobs_unsatisfiable",
        "Jobs that could not be started again as a whole now, and those that could not be started.",
        lambda: float(sum(not job.satisfiable for job in controller.work.jobs.store.jobs.all.values())),
    )
    for element_phase in ElementPhase:
        gauge(
            f"processing_elements_{element_phase.lower()}",
            f"Processing elements that are {element_phase}.",
            functools.partial(_elements_in_phase, controller, element_phase),
        )
    queues = controller.work.jobs.queues
    gauge("job_queue_depth", "Jobs that wait to be looked at.", lambda: float(queues.jobs.depth))
    gauge("element_queue_depth", "Processing elements that wait to be looked at.", lambda: float(queues.elements.depth))
    gauge("pool_hosts_assigned", "Hosts that pools have.", lambda: float(sum(_hosts(controller))))
    gauge("pool_hosts_gone", "Hosts that pools have and whose nodes are gone.", lambda: float(_gone(controller)))
    gauge("queue_depth", "Host pools that wait to be looked at.", lambda: float(pools.depth))
    gauge("queue_oldest_seconds", "For how long the first of them has been waiting.", lambda: pools.oldest)
    gauge("queue_failing", "Host pools whose last look failed.", lambda: float(pools.failing))
    gauge("queue_retries", "Looks that were repeated after a failure.", lambda: float(pools.retries))
    gauge("events_written", "Events written.", lambda: float(_written(controller)))
    gauge("events_lost", "Events that could not be written, or were too many.", lambda: float(_lost(controller)))


def _in_phase(controller: Controller, phase: Phase) -> float:
    return float(sum(pool.phase is phase for pool in controller.work.watched.inventory.pools.values()))


def _jobs_in_phase(controller: Controller, phase: JobPhase) -> float:
    return float(sum(job.phase is phase for job in controller.work.jobs.store.jobs.all.values()))


def _elements_in_phase(controller: Controller, phase: ElementPhase) -> float:
    return float(sum(element.phase is phase for element in controller.work.jobs.store.elements.all.values()))


def _hosts(controller: Controller) -> Iterator[int]:
    return (len(pool.assigned) for pool in controller.work.watched.inventory.pools.values())


def _gone(controller: Controller) -> int:
    inventory = controller.work.watched.inventory
    return sum(not nodes for pool in inventory.pools.values() for nodes in inventory.pools.hosts(pool).values())


def _lost(controller: Controller) -> int:
    return sum(events.failed + events.dropped for events in (controller.events, controller.of_pods))


def _written(controller: Controller) -> int:
    return controller.events.written + controller.of_pods.written
