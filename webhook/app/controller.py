"""``controller``: builds the controller process from the settings and runs it until a signal asks it to stop."""

import asyncio
from collections.abc import Callable

from kubeapi.client.service_account import own_namespace
from webhook.app.cluster_source import ReadingLog, configuration_of
from webhook.cluster.objects.translate import NAMESPACE
from webhook.controller.hostpools.host_choice import ReconcilerSettings, Replacement
from webhook.controller.metrics import figures
from webhook.controller.program import Controller, LeaseRef
from webhook.server.background import run_background
from webhook.server.metrics import Metrics
from webhook.settings import Settings, policy_of


async def control(settings: Settings, announce: Callable[[str], None]) -> None:
    """Make HostPools true until a signal says stop; FatalError without a cluster, or when the lead is lost."""
    metrics = Metrics()
    configuration = await asyncio.to_thread(configuration_of, settings)
    rules = ReconcilerSettings(
        policy_of(settings), Replacement(settings.replace_unusable_after, settings.replace_unlabelled)
    )
    place = LeaseRef(settings.lease_namespace or own_namespace() or NAMESPACE, settings.lease_name)
    controller = Controller(configuration, rules, place, limit=settings.stale_after, tell=ReadingLog())
    figures(controller, metrics.gauge)
    await run_background(
        controller.run, controller.cluster.reason, settings, metrics=metrics, announce=announce
    )  # fmt: skip
