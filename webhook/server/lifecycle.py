"""One process, from the first bind to the last answer: the entry point of this layer.

Both ports are bound at once, so that a taken one is known early. Reviews are listened for only when they can be
answered; at the end the server is unready first, then draining, then gone (``docs/operations.md``).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.server.certificate import Certificate, Files
from webhook.server.connection import Connections
from webhook.server.fatal_error import FatalError
from webhook.server.health import Health
from webhook.server.limits import HEALTH, REVIEWS, Limits
from webhook.server.memory import Tide
from webhook.server.metrics import Metrics
from webhook.server.reviews import Readiness, Reviewer, Reviews
from webhook.server.site import Site, bind
from webhook.server.stop import Stop, wait
from webhook.settings import Settings

Announce = Callable[[str, str], None]
"""Told once, as soon as reviews are answered: the URLs of reviews and of health."""

Chore = Callable[[], Awaitable[None]]
"""Something that runs beside the server, most often for ever; if it fails, so does the server."""

_POLL: Final = 0.05
"""Seconds between two looks whether reviews can be answered already: short against any start."""

_log = logging.getLogger(__name__)


class Service(Struct, frozen=True):
    """What is served: reviewers by path, whether they can answer yet, and what has to run beside them."""

    reviewers: Mapping[str, Reviewer]
    ready: Readiness
    background: tuple[Chore, ...] = ()


async def run_server(
    service: Service, settings: Settings, *, metrics: Metrics, announce: Announce, limits: Limits = REVIEWS
) -> None:
    """Serve until a signal says stop; raises :class:`FatalError` when that cannot begin, or a chore fails."""
    server = _Server(service, settings, metrics, limits)
    try:
        await server.run(announce)
    finally:
        await server.close()


class _Server:
    """The two ports, what runs beside them, and where in its life the whole is."""

    def __init__(self, service: Service, settings: Settings, metrics: Metrics, limits: Limits) -> None:
        if settings.tls_cert is None or settings.tls_key is None:
            raise FatalError("a server needs a certificate and its key")
        limits = replace(limits, connections=settings.max_connections)
        files = Files(cert=settings.tls_cert, key=settings.tls_key, client_ca=settings.client_ca)
        self._service = service
        self._drain, self._finish = settings.drain, limits.finish_seconds
        self._stop = Stop()
        self._trouble: FatalError | None = None
        self._chores: list[asyncio.Task[None]] = []
        self._certificate = Certificate(files, metrics)
        self._health = Site(
            bind(settings.health_host, settings.health_port),
            Connections(Health(self._readiness, metrics), HEALTH, metrics),
        )
        try:
            listener = bind(settings.host, settings.port)
        except FatalError:
            self._health.release()
            raise
        reviews = Reviews(service.reviewers, ready=service.ready, metrics=metrics, limits=limits)
        connections = Connections(reviews, limits, metrics, reviews.turns)
        self._budget = reviews.budget
        self._reviews = Site(listener, connections, lambda: self._certificate.context)
        metrics.gauge("ready", "Whether reviews are answered: 1 or 0.", lambda: float(self._readiness() is None))
        metrics.gauge("connections", "Open connections for reviews.", lambda: float(len(connections.open)))
        metrics.gauge(
            "body_bytes", "Memory reserved for large request bodies, in bytes.", lambda: float(self._budget.used)
        )
        metrics.gauge("waiting_reviews", "Reviews that wait to be decided.", lambda: float(len(reviews.turns)))

    async def run(self, announce: Announce) -> None:
        """From the first health check to the end of draining."""
        chores = (
            self._certificate.watch,
            Tide(self._reviews.connections, self._budget).watch,
            *self._service.background,
        )
        with self._stop.on_signals():
            self._chores = [asyncio.create_task(self._do(chore)) for chore in chores]
            self._health.start()
            if await self._until_ready():
                self._reviews.start()
                announce(self._reviews.url, self._health.url)
                await self._stop.asked.wait()
                await self._retire()
        if self._trouble is not None:
            raise self._trouble

    async def close(self) -> None:
        """End whatever is left; what needs no waiting first, lest a cancellation keeps it open."""
        self._reviews.release()
        self._health.release()
        for chore in self._chores:
            chore.cancel()
        await asyncio.gather(*self._chores, return_exceptions=True)
        await self._reviews.stop(0)
        await self._health.stop(0)

    async def _until_ready(self) -> bool:
        """Whether reviews can be answered now; not so when the wish to stop came first."""
        while self._reason() is not None and not self._stop.asked.is_set():
            await wait(self._stop.asked, _POLL)
        return not self._stop.asked.is_set()

    async def _retire(self) -> None:
        """Unready at once, still answering for a while, then only what runs already; a second signal ends it all."""
        _log.info("stopping: unready from now on, still answering for %g seconds", self._drain)
        self._reviews.connections.draining = True
        await wait(self._stop.insisted, self._drain)
        last = asyncio.create_task(self._reviews.stop(self._finish))
        hurry = asyncio.create_task(self._stop.insisted.wait())
        await asyncio.wait({last, hurry}, return_when=asyncio.FIRST_COMPLETED)
        hurry.cancel()
        self._reviews.abort()
        await last
        _log.info("stopped")

    async def _do(self, chore: Chore) -> None:
        try:
            await chore()
        except Exception as failure:  # noqa: BLE001 -- whatever it is, without this part the rest would serve stale state
            _log.exception("a part of the server failed; stopping")
            self._trouble = FatalError(f"a part of the server failed: {failure}")
            self._stop.asked.set()

    def _readiness(self) -> str | None:
        return "the server is stopping" if self._stop.asked.is_set() else self._reason()

    def _reason(self) -> str | None:
        """Why reviews cannot be answered; ``None`` if they can."""
        return self._certificate.reason() or self._service.ready()
