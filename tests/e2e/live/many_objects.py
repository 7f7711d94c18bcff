"""Many objects of realistic size, stored as fast as the API server takes them."""

import asyncio
import http
import ssl
import time
from collections.abc import Iterable, Iterator
from typing import Any, Final

import aiohttp
import msgspec
import uvloop

from bench.generated.nodes import node_objects
from bench.generated.pods import pod_objects
from bench.generated.topology import Scale, topology
from tests.e2e.client.api import Object
from tests.e2e.client.paths import collection
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.progress import say

CROWD: Final = Scale(5_000, 20_000)
"""What is promised for."""

_AT_ONCE: Final = 32
"""Requests in flight; the API server keeps both cores busy with as many."""

_SERVERS_OWN: Final = ("uid", "resourceVersion", "creationTimestamp")
_TROUBLES: Final = 3
"""Refusals that are shown."""


def fill(plane: ControlPlane, scale: Scale) -> None:
    """The benchmark's nodes and pods, 5 KB each as the API server shows them; most pods are bound."""
    shape = topology(scale.nodes)
    pods = [_fresh(pod) for pod in pod_objects(scale, shape)]
    spaces = sorted({pod["metadata"]["namespace"] for pod in pods})
    store(plane, ({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in spaces))
    store(plane, map(_fresh, node_objects(scale.nodes, shape)))
    store(plane, pods)


def store(plane: ControlPlane, things: Iterable[Object]) -> None:
    """Create objects of any kind, in no order."""
    began = time.monotonic()
    made = uvloop.run(_create(plane, iter(things)))
    say(f"stored {made} objects in {time.monotonic() - began:.0f} s")


async def _create(plane: ControlPlane, things: Iterator[Object]) -> int:
    tls = ssl.create_default_context(cafile=plane.authority)
    headers = {"Authorization": f"Bearer {plane.admin.identity.token}", "Content-Type": "application/json"}
    connector = aiohttp.TCPConnector(limit=_AT_ONCE, ssl=tls)
    troubles: list[str] = []
    made = 0

    async def work(session: aiohttp.ClientSession) -> None:
        nonlocal made
        for thing in things:
            async with session.post(collection(thing), data=msgspec.json.encode(thing)) as reply:
                text = await reply.read()
                made += 1
                if reply.status not in {http.HTTPStatus.CREATED, http.HTTPStatus.CONFLICT}:
                    troubles.append(text.decode()[:400])

    async with aiohttp.ClientSession(plane.url, connector=connector, headers=headers) as session:
        await asyncio.gather(*(work(session) for _ in range(_AT_ONCE)))
    assert not troubles, f"{len(troubles)} refusals, such as {troubles[:_TROUBLES]}"
    return made


def _fresh(thing: dict[str, Any]) -> Object:
    """The object as a client writes it."""
    metadata = {key: value for key, value in thing["metadata"].items() if key not in _SERVERS_OWN}
    return {**thing, "metadata": metadata}
