"""``controller``: builds the controller process from the settings, with its metrics, and runs it until a signal."""

import asyncio
import gc
from collections.abc import Callable

from kubeapi.client.service_account import own_namespace
from webhook.app.cluster_source import ReadingLog, configuration_of
from webhook.app.controller_figures import ControllerFigures
from webhook.app.serve import with_kinds
from webhook.cluster.objects.metadata import NAMESPACE
from webhook.cluster.queries.job_verdicts import ThreadSearches
from webhook.controller.program import Controller, LeaseRef
from webhook.controller.reconciler_settings import ReconcilerSettings, Replacement
from webhook.server.background import run_background
from webhook.server.metrics import Metrics
from webhook.settings import Settings, policy_of
from webhook.tracing import traces_of


async def control(settings: Settings, announce: Callable[[str], None]) -> None:
    """Make HostPools and Jobs true until a signal says stop; FatalError without a cluster, or when the lead is lost."""
    metrics = Metrics("controller")
    gc.freeze()
    configuration = await asyncio.to_thread(configuration_of, settings)
    traces = traces_of(settings.traces_endpoint, settings.traces_ratio, "streams-placement-controller")
    policy = policy_of(settings)
    rules = ReconcilerSettings(
        with_kinds(policy) if policy.reviewed else policy,
        Replacement(settings.replace_unusable_after, settings.replace_unlabelled),
        settings.runtime_image,
        ThreadSearches(settings.job_seconds),
        traces,
        settings.kueue,
        settings.provisioning_requests,
    )
    place = LeaseRef(settings.lease_namespace or own_namespace() or NAMESPACE, settings.lease_name)
    tell = ReadingLog(metrics.cluster_failures())
    controller = Controller(configuration, rules, place, limit=settings.stale_after, tell=tell)
    ControllerFigures(controller, metrics, naming=settings.name_degraded_pools)
    try:
        await run_background(controller.run, controller.reason, settings, metrics=metrics, announce=announce)
    finally:
        if traces is not None:
            await traces.close()
