"""``hpa_api``: builds the REST interface of HPA intents from the settings: storage, access and queries; and runs it."""

import asyncio
from collections.abc import Callable

from webhook.rest.access import AccessControl, LoopbackAccess, TokenAccess
from webhook.rest.program import RestService, run_api
from webhook.rest.rest_settings import RestSettings
from webhook.rest.sqlite_store import SqliteStore
from webhook.server.fatal_error import FatalError


async def serve_intents(settings: RestSettings, announce: Callable[[str], None]) -> None:
    """Serve the REST interface until a signal says stop; FatalError if storage or port cannot be used."""
    if settings.store is None:
        raise FatalError("intents are kept in a file: give --store")
    store = SqliteStore(settings.store)
    try:
        await run_api(RestService(store, await _access(settings)), settings, announce)
    finally:
        await store.close()


async def _access(settings: RestSettings) -> AccessControl:
    if settings.token_file is None:
        return LoopbackAccess()
    try:
        return await asyncio.to_thread(TokenAccess, settings.token_file)
    except (OSError, ValueError) as error:
        raise FatalError(f"the tokens cannot be read: {error}") from error
