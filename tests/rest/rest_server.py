"""A real REST server in this process, on a port of loopback, over a SQLite file or another store."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
from multidict import CIMultiDict

from webhook.rest.access import AccessControl, LoopbackAccess
from webhook.rest.program import LIMITS, RestService, run_api
from webhook.rest.rest_settings import RestSettings
from webhook.rest.storage.sqlite_store import SqliteStore
from webhook.rest.storage.store import IntentStore
from webhook.server.http.limits import Limits

GROUP = "/v2/projects/my-proj1/composite-apps/my-capp1/v1.0/deployment-intent-groups/my-dig1"
INTENTS = f"{GROUP}/hpa-intents"
FWALL = f"{INTENTS}/fwall-hpa-intent"
CONSUMERS = f"{FWALL}/hpa-resource-consumers"
CORE = f"{CONSUMERS}/core-fwall"
REQUIREMENTS = f"{CORE}/resource-requirements"

NOTES = {"description": "", "userData1": "", "userData2": ""}


class Reply(NamedTuple):
    """An answer: its status, headers, and its JSON; ``None`` without a body."""

    status: int
    headers: CIMultiDict[str]
    json: Any

    @property
    def errors(self) -> list[tuple[str, str]]:
        """Field and rule of each mistake."""
        return [(each["field"], each["rule"]) for each in self.json["errors"]]


class RestClient:
    """Sends requests to one server."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self.session = session
        self.url = url

    async def ask(self, method: str, path: str, body: Any = None, **more: Any) -> Reply:
        """The answer to a request with this JSON as its body, or with ``data``."""
        given = {"json": body} if body is not None else {}
        async with self.session.request(method, self.url + path, **given, **more) as reply:
            text = await reply.read()
            known = reply.content_type in {"application/json", "application/problem+json"}
            return Reply(
                reply.status, reply.headers.copy(), (await reply.json(content_type=None)) if text and known else None
            )

    async def get(self, path: str, **more: Any) -> Reply:
        """The answer to a GET."""
        return await self.ask("GET", path, **more)

    async def post(self, path: str, body: Any = None, **more: Any) -> Reply:
        """The answer to a POST."""
        return await self.ask("POST", path, body, **more)

    async def put(self, path: str, body: Any = None, **more: Any) -> Reply:
        """The answer to a PUT."""
        return await self.ask("PUT", path, body, **more)

    async def delete(self, path: str, **more: Any) -> Reply:
        """The answer to a DELETE."""
        return await self.ask("DELETE", path, **more)

    async def create_all(self) -> None:
        """The intent of the design's example, with a consumer and a requirement."""
        assert (await self.post(INTENTS, intent())).status == 201
        assert (await self.post(CONSUMERS, consumer())).status == 201
        assert (await self.post(REQUIREMENTS, requirement())).status == 201


def intent(name: str = "fwall-hpa-intent", /, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"app": "fwall"} | spec}


def consumer(name: str = "core-fwall", /, **spec: Any) -> dict[str, Any]:
    workload = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": name, "container-name": "palo-alto-e3000"}
    return {"metadata": {"name": name}, "spec": {"consumer": workload} | spec}


def requirement(name: str = "core-fwall-cpu-requirement", /, **spec: Any) -> dict[str, Any]:
    said = spec or {"mandatory": True, "allocatable": True, "name": "cpu", "requests": 4, "limits": 4}
    return {"metadata": {"name": name}, "spec": said}


@contextlib.asynccontextmanager
async def serving(
    store: IntentStore,
    access: AccessControl | None = None,
    limits: Limits = LIMITS,
    queries: Any = None,
    **settings: Any,
) -> AsyncIterator[RestClient]:
    """A client of a server over that store, which is closed at the end."""
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    service = RestService(store, access or LoopbackAccess(), queries or {})
    chosen = RestSettings(**({"port": 0, "drain": 0.0} | settings))
    running = asyncio.create_task(run_api(service, chosen, ready.set_result, limits))
    try:
        await asyncio.wait({running, ready}, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            running.result()
        async with aiohttp.ClientSession() as session:
            yield RestClient(session, ready.result())
    finally:
        running.cancel()
        await asyncio.wait({running})
        await store.close()


@contextlib.asynccontextmanager
async def serving_file(path: Path, **more: Any) -> AsyncIterator[RestClient]:
    """A client of a server over a SQLite file."""
    async with serving(SqliteStore(path), **more) as client:
        yield client
