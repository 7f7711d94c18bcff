"""The process that serves the REST interface: ``run_api``, from binding its port to the last answer."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Final

import msgspec
from aiohttp import web
from msgspec import Struct
from msgspec.structs import replace
from prometheus_client import CONTENT_TYPE_LATEST

from webhook.rest.access import AccessControl
from webhook.rest.api import ApiParts, GroupQuery, PageHandler, RestApi
from webhook.rest.docs_page import CONTENT_POLICY, docs_page
from webhook.rest.openapi import openapi_document
from webhook.rest.request_error import fault_response
from webhook.rest.request_rate import RequestRate
from webhook.rest.rest_metrics import RestMetrics
from webhook.rest.rest_settings import RestSettings
from webhook.rest.storage.store import IntentStore
from webhook.server.certificate import CertificateWatcher, Files
from webhook.server.http.connection import Connections
from webhook.server.http.limits import KIB, Limits
from webhook.server.http.listener import Listener, bind
from webhook.server.http.replies import SERVER, json, text
from webhook.server.metrics import Metrics
from webhook.server.stop import Stop, wait

LIMITS: Final = Limits(body=64 * KIB, keep_alive_seconds=75.0)
"""Limits of the port: a body has some hundred bytes, and with notes of full length 4 KiB."""

_log = logging.getLogger(__name__)


class RestService(Struct, frozen=True):
    """The service: storage, access to it, and queries about groups by the last segment of their path."""

    store: IntentStore
    access: AccessControl
    queries: Mapping[str, GroupQuery] = {}


async def run_api(
    service: RestService, settings: RestSettings, announce: Callable[[str], None], limits: Limits = LIMITS
) -> None:
    """Serve until a signal says stop; ``announce`` is called with the URL as soon as requests are answered.

    Raises :class:`FatalError` if the port cannot be bound or the certificate cannot be used.
    """
    metrics, stop = Metrics("hpa-api"), Stop()
    limits = replace(limits, connections=settings.max_connections)
    certificate = _certificate(settings, metrics)

    def ready() -> str | None:
        return "the server is stopping" if stop.asked.is_set() else service.store.ready()

    api = RestApi(_parts(service, settings, limits, metrics, ready))
    connections = Connections(api, limits, metrics, refuse=fault_response)
    metrics.serving(ready, lambda: len(connections.open))
    listener = Listener(
        bind(settings.host, settings.port), connections, (lambda: certificate.context) if certificate else None
    )
    try:
        with stop.on_signals():
            watching = [asyncio.create_task(certificate.watch())] if certificate else []
            listener.start()
            announce(listener.url)
            await stop.asked.wait()
            await _retire(listener, stop, settings.drain, limits)
    finally:
        listener.release()
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)
        await listener.stop(0)


def _parts(
    service: RestService, settings: RestSettings, limits: Limits, metrics: Metrics, ready: Callable[[], str | None]
) -> ApiParts:
    """The parts that make the answers."""
    return ApiParts(
        service.store,
        service.access,
        RestMetrics(metrics),
        limits,
        RequestRate(settings.max_rate),
        {**_health_pages(ready), **_document_pages(service.queries)},
        {"/metrics": lambda: _metrics_page(metrics)},
        service.queries,
    )


async def _retire(listener: Listener, stop: Stop, drain: float, limits: Limits) -> None:
    """Be unready, answer for the drain time, then finish requests under way; a second signal ends both waits."""
    _log.info("stopping: no longer ready, still answering for %g seconds", drain)
    listener.connections.draining = True
    await wait(stop.insisted, drain)
    stopping = asyncio.create_task(listener.stop(limits.finish_seconds))
    insisted = asyncio.create_task(stop.insisted.wait())
    await asyncio.wait({stopping, insisted}, return_when=asyncio.FIRST_COMPLETED)
    insisted.cancel()
    listener.abort()
    await stopping
    _log.info("stopped")


def _certificate(settings: RestSettings, metrics: Metrics) -> CertificateWatcher | None:
    """The serving certificate; ``None`` for plain HTTP. Raises :class:`FatalError` if it cannot be used now."""
    if settings.tls_cert is None or settings.tls_key is None:
        return None
    watcher = CertificateWatcher(Files(settings.tls_cert, settings.tls_key, settings.client_ca), metrics)
    _ = watcher.context
    return watcher


def _health_pages(ready: Callable[[], str | None]) -> dict[str, PageHandler]:
    """Pages for probes, which need no token."""

    def readiness() -> web.Response:
        reason = ready()
        return text(200, "ok") if reason is None else text(503, reason)

    return {"/healthz": lambda: text(200, "ok"), "/readyz": readiness}


def _document_pages(queries: Mapping[str, GroupQuery]) -> dict[str, PageHandler]:
    """The OpenAPI document and its page, which are public: they contain no stored data."""
    operations = {name: query.operation for name, query in queries.items()}
    document = openapi_document(operations, [schema for query in queries.values() for schema in query.schemas])
    shown, page = msgspec.json.encode(document), docs_page(document)
    html = {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": CONTENT_POLICY,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Server": SERVER,
    }
    return {
        "/openapi.json": lambda: json(200, shown),
        "/docs": lambda: web.Response(body=page, headers=html),
    }


def _metrics_page(metrics: Metrics) -> web.Response:
    return web.Response(body=metrics.text(), headers={"Content-Type": CONTENT_TYPE_LATEST, "Server": SERVER})
