"""The life of the process that answers reviews, from binding its ports to the last answer: ``run_server``.

Both ports are bound at once, so that a port that is taken is known early. The port for reviews listens only when
reviews can be answered. Stopping: the server is unready first, drains its connections, and then ends
(``docs/operations.md``).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.server.certificate import CertificateWatcher, Files
from webhook.server.fatal_error import FatalError
from webhook.server.health import Health
from webhook.server.http.connection import Connections
from webhook.server.http.limits import HEALTH, REVIEWS, Limits
from webhook.server.http.listener import Listener, bind
from webhook.server.memory import HeapTrimmer, bound_heap
from webhook.server.metrics import ReviewMetrics
from webhook.server.reviews import Readiness, Reviewer, Reviews
from webhook.server.stop import Stop, wait
from webhook.settings import Settings
from webhook.tracing import Traces

Announce = Callable[[str, str], None]
"""Called once, as soon as reviews are answered, with the URL of the port for reviews and that of the health port."""

Chore = Callable[[], Awaitable[None]]
"""A coroutine that runs beside the server, most often until it is cancelled. If it raises, the server stops."""

_POLL: Final = 0.05
"""Seconds between two looks whether reviews can be answered: short compared to the time that starting takes."""

_log = logging.getLogger(__name__)


def _untold() -> None:
    """What is done when the server begins to stop, if nothing else has to know."""


class Service(Struct, frozen=True):
    """A reviewer for each path, their readiness, coroutines to run concurrently, and traces.

    ``retire`` is called when the server begins to stop; the coroutines are cancelled at its end only.
    """

    reviewers: Mapping[str, Reviewer]
    ready: Readiness
    background: tuple[Chore, ...] = ()
    traces: Traces | None = None
    retire: Callable[[], object] = _untold


async def run_server(
    service: Service, settings: Settings, *, metrics: ReviewMetrics, announce: Announce, limits: Limits = REVIEWS
) -> None:
    """Serve until a signal asks to stop.

    Raises :class:`FatalError` when a port cannot be bound, a setting is missing, or a chore raises.
    """
    server = _Server(service, settings, metrics, limits)
    try:
        await server.run(announce)
    finally:
        await server.close()


class _Server:
    """The two ports, the chores, and the state of the process: not ready, ready, stopping."""

    def __init__(self, service: Service, settings: Settings, metrics: ReviewMetrics, limits: Limits) -> None:
        if settings.tls_cert is None or settings.tls_key is None:
            raise FatalError("a server needs a certificate and its key")
        limits = replace(limits, connections=settings.max_connections)
        files = Files(cert=settings.tls_cert, key=settings.tls_key, client_ca=settings.client_ca)
        self._service = service
        self._drain, self._finish = settings.drain, limits.finish_seconds
        self._stop = Stop()
        self._failure: FatalError | None = None
        self._chores: list[asyncio.Task[None]] = []
        self._certificate = CertificateWatcher(files, metrics)
        self._health = Listener(
            bind(settings.health_host, settings.health_port),
            Connections(Health(self._readiness, metrics, profile=settings.debug_profile), HEALTH, metrics),
        )
        try:
            review_socket = bind(settings.host, settings.port)
        except FatalError:
            self._health.release()
            raise
        reviews = Reviews(service.reviewers, ready=service.ready, metrics=metrics, limits=limits, traces=service.traces)
        connections = Connections(reviews, limits, metrics, reviews.at_once)
        self._budget = reviews.budget
        self._reviews = Listener(review_socket, connections, lambda: self._certificate.context)
        metrics.serving(self._readiness, lambda: len(connections.open))

    async def run(self, announce: Announce) -> None:
        """Serve from the first health check to the end of draining; raises what made the server stop."""
        chores = (
            self._certificate.watch,
            HeapTrimmer(self._reviews.connections, self._budget).watch,
            *self._service.background,
        )
        with self._stop.on_signals():
            self._chores = [asyncio.create_task(self._do(chore)) for chore in chores]
            self._health.start()
            if await self._until_ready():
                bound_heap()
                self._reviews.start()
                announce(self._reviews.url, self._health.url)
                await self._stop.asked.wait()
                await self._retire()
        if self._failure is not None:
            raise self._failure

    async def close(self) -> None:
        """Close both ports and end the chores. Sockets are closed before the first await, which may be cancelled."""
        self._reviews.release()
        self._health.release()
        for chore in self._chores:
            chore.cancel()
        await asyncio.gather(*self._chores, return_exceptions=True)
        await self._reviews.stop(0)
        await self._health.stop(0)
        if self._service.traces is not None:
            await self._service.traces.close()

    async def _until_ready(self) -> bool:
        """Wait until reviews can be answered; returns ``False`` if the server was asked to stop before that."""
        while self._reason() is not None and not self._stop.asked.is_set():
            await wait(self._stop.asked, _POLL)
        return not self._stop.asked.is_set()

    async def _retire(self) -> None:
        """Be unready, answer for the drain time, then finish requests under way; a second signal ends both waits."""
        _log.info("stopping: no longer ready, still answering for %g seconds", self._drain)
        self._reviews.connections.draining = True
        self._service.retire()
        await wait(self._stop.insisted, self._drain)
        stopping = asyncio.create_task(self._reviews.stop(self._finish))
        insisted = asyncio.create_task(self._stop.insisted.wait())
        await asyncio.wait({stopping, insisted}, return_when=asyncio.FIRST_COMPLETED)
        insisted.cancel()
        self._reviews.abort()
        await stopping
        _log.info("stopped")

    async def _do(self, chore: Chore) -> None:
        try:
            await chore()
        except Exception as failure:  # noqa: BLE001 -- after any error in a chore, reviews would be decided on old state
            _log.exception("a part of the server failed; stopping")
            self._failure = FatalError(f"a part of the server failed: {failure}")
            self._stop.asked.set()

    def _readiness(self) -> str | None:
        """What ``/readyz`` answers with: why the server is not ready, or ``None``."""
        if self._stop.asked.is_set():
            return "the server is stopping"
        return self._reason() or (None if self._reviews.started else "the server does not listen for reviews yet")

    def _reason(self) -> str | None:
        """Why reviews cannot be answered yet; ``None`` if reviews can be answered."""
        return self._certificate.reason() or self._service.ready()
