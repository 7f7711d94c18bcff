"""``hpa_api``: builds the REST interface of HPA intents from the settings: storage, access and queries; and runs it."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from kubeapi.client.connection import Connection
from webhook.app.cluster_source import configuration_of
from webhook.app.clusters import ClusterSource
from webhook.app.hpa_placement import QUERY, HpaPlacement, cluster_sources
from webhook.rest.access import AccessControl, LoopbackAccess, TokenAccess, listens_on_loopback
from webhook.rest.cluster_access import ClusterAccess
from webhook.rest.program import RestService, run_api
from webhook.rest.rest_settings import RestSettings
from webhook.rest.storage.cluster_store import ClusterStore, NamespaceMap
from webhook.rest.storage.sqlite_store import SqliteStore
from webhook.server.fatal_error import FatalError

Announce = Callable[[str], None]
"""Called once, with the URL of the interface, as soon as requests are answered."""

Sources = Callable[[], list[ClusterSource]] | None
"""Finds the clusters that apps could be placed on."""


async def serve_intents(settings: RestSettings, announce: Announce) -> None:
    """Serve the REST interface until a signal says stop; FatalError if storage or port cannot be used."""
    tokens = await _tokens(settings)
    sources = await _sources(settings)
    if settings.store is None:
        await _serve_cluster(settings, tokens, sources, announce)
    else:
        await _serve_file(settings.store, settings, tokens or LoopbackAccess(), sources, announce)


async def _serve_file(
    path: Path, settings: RestSettings, access: AccessControl, sources: Sources, announce: Announce
) -> None:
    """Serve intents that are in a file."""
    store = SqliteStore(path)
    placement = HpaPlacement(store, settings, sources)
    try:
        await run_api(RestService(store, access, {QUERY: placement.query}), settings, announce)
    finally:
        placement.close()
        await store.close()


async def _serve_cluster(
    settings: RestSettings, tokens: TokenAccess | None, sources: Sources, announce: Announce
) -> None:
    """Serve intents that are objects of a cluster; the API server says who may do what, unless tokens do."""
    configuration = await asyncio.to_thread(configuration_of, settings)
    namespaces = NamespaceMap(settings.namespace)
    async with Connection(configuration) as connection:
        access: AccessControl = tokens or LoopbackAccess()
        if settings.authorize or (tokens is None and not listens_on_loopback(settings.host)):
            access = ClusterAccess(connection, namespaces, audience=settings.audience)
        store = ClusterStore(connection, namespaces)
        watching = asyncio.create_task(store.watch())
        placement = HpaPlacement(store, settings, sources)
        try:
            await run_api(RestService(store, access, {QUERY: placement.query}), settings, announce)
        finally:
            placement.close()
            watching.cancel()
            await asyncio.wait({watching})


async def _sources(settings: RestSettings) -> Sources:
    """Finds the clusters for placement; ``None`` without any."""
    try:
        return await asyncio.to_thread(cluster_sources, settings)
    except ValueError as error:
        raise FatalError(str(error)) from error


async def _tokens(settings: RestSettings) -> TokenAccess | None:
    """The tokens of the file; ``None`` without one."""
    if settings.token_file is None:
        return None
    try:
        return await asyncio.to_thread(TokenAccess, settings.token_file)
    except (OSError, ValueError) as error:
        raise FatalError(f"the tokens cannot be read: {error}") from error
