"""Runs a process that serves no reviews, such as the controller: its work, and a port for health and metrics."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from webhook.server.fatal_error import FatalError
from webhook.server.health import Health
from webhook.server.http.connection import Connections
from webhook.server.http.limits import HEALTH
from webhook.server.http.listener import Listener, bind
from webhook.server.metrics import Metrics
from webhook.server.reviews import Readiness
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
    """Run ``work`` until a signal asks to stop, or until ``work`` ends.

    ``ready`` is what ``/readyz`` answers with. ``announce`` is called with the URL of the health port as soon as that
    port is open. Raises :class:`FatalError` when the port cannot be bound, or when ``work`` raises.
    """
    stop = Stop()

    def readiness() -> str | None:
        return "the program is stopping" if stop.asked.is_set() else ready()

    health = Listener(
        bind(settings.health_host, settings.health_port),
        Connections(Health(readiness, metrics, profile=settings.debug_profile), HEALTH, metrics),
    )
    metrics.readiness(readiness)
    with stop.on_signals():
        health.start()
        announce(health.url)
        working, asked = asyncio.ensure_future(work()), asyncio.create_task(stop.asked.wait())
        try:
            await asyncio.wait({working, asked}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _end(working, asked)
            await health.stop(0)
    if not working.cancelled() and (failure := working.exception()) is not None:
        _log.error("stopping, because the work failed", exc_info=failure)
        raise FatalError(f"the work failed: {failure}") from failure


async def _end(*tasks: asyncio.Future[Any]) -> None:
    """Cancel the tasks and wait for their end."""
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
