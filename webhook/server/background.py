"""A process that answers no reviews: work of its own, and a plain port for health checks and metrics."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from webhook.server.connection import Connections
from webhook.server.fatal_error import FatalError
from webhook.server.health import Health
from webhook.server.limits import HEALTH
from webhook.server.metrics import Metrics
from webhook.server.reviews import Readiness
from webhook.server.site import Site, bind
from webhook.server.stop import Stop
from webhook.settings import Settings

_log = logging.getLogger(__name__)


async def run_background(
    work: Callable[[], Awaitable[None]],
    ready: Readiness,
    settings: Settings,
    *,
    metrics: Metrics,
    announce: Callable[[str], None],
) -> None:
    """Work until a signal says stop, or the work ends; raises :class:`FatalError` when it fails, or cannot begin.

    ``announce`` is told the URL of health checks, which is answered from then on.
    """
    stop = Stop()

    def readiness() -> str | None:
        return "the program is stopping" if stop.asked.is_set() else ready()

    site = Site(
        bind(settings.health_host, settings.health_port), Connections(Health(readiness, metrics), HEALTH, metrics)
    )
    metrics.gauge("ready", "Whether the program knows what it has to know: 1 or 0.", lambda: float(not readiness()))
    with stop.on_signals():
        site.start()
        announce(site.url)
        working, asked = asyncio.ensure_future(work()), asyncio.create_task(stop.asked.wait())
        try:
            await asyncio.wait({working, asked}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _end(working, asked)
            await site.stop(0)
    if not working.cancelled() and (failure := working.exception()) is not None:
        _log.error("stopping, because the work failed", exc_info=failure)
        raise FatalError(f"the work failed: {failure}") from failure


async def _end(*tasks: asyncio.Future[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
