"""The storage over HTTP: requests are recorded and obeyed, watches follow it, and faults come on demand."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError, Cause
from kubeapi.client.object_client import ObjectClient
from tests.apiserver.paths import NODES, node_path
from tests.apiserver.server import TOO_OLD, ApiServer, Seen, refused, status

pytestmark = pytest.mark.integration

NODE = node_path("a")


@pytest.fixture
async def server() -> AsyncIterator[ApiServer]:
    """One node, at version 101."""
    async with ApiServer().running() as server:
        server.storage.create(NODE, spec={})
        yield server


@pytest.fixture
async def connection(server: ApiServer) -> AsyncIterator[Connection]:
    async with Connection(server.configuration()) as connection:
        yield connection


@pytest.fixture
def client(connection: Connection) -> ObjectClient:
    return ObjectClient(connection)


async def cause(client: ObjectClient, path: str = NODE) -> Cause:
    with pytest.raises(ApiError) as failure:
        await client.read(path)
    return failure.value.cause


async def watched(connection: Connection, seen: int) -> list[tuple[str, str]]:
    """What a watch tells until it ends: types, and versions or codes."""
    async with connection.get(NODES, {"watch": "1", "resourceVersion": str(seen)}, silence=5.0) as response:
        events = [json.loads(line) for line in (await response.read()).splitlines()]
    return [
        (event["type"], str(event["object"].get("code") or event["object"]["metadata"]["resourceVersion"]))
        for event in events
    ]


async def is_watched(server: ApiServer) -> None:
    while not server.watching["nodes"]:  # noqa: ASYNC110 -- seen from outside
        await asyncio.sleep(0.001)


async def test_requests_are_recorded_with_the_status_of_their_answers(server: ApiServer, client: ObjectClient) -> None:
    await client.merge_patch(NODE, {"spec": {"x": 1}})
    await client.read(f"{NODES}?limit=1")
    await cause(client, node_path("z"))
    assert [(seen.method, seen.resource, seen.what, seen.status) for seen in server.seen] == [
        ("PATCH", "nodes", "PATCH", 200), ("GET", "nodes", "look", 200), ("GET", "nodes", "GET", 404),
    ]  # fmt: skip
    assert (server.seen[0].json, server.seen[1].query) == ({"spec": {"x": 1}}, {"limit": "1"})


async def test_a_watch_tells_what_happened_and_what_happens(server: ApiServer, connection: Connection) -> None:
    watching = asyncio.create_task(watched(connection, 100))
    await is_watched(server)
    server.storage.change(NODE, {"spec": {"x": 1}})
    server.bookmark("nodes")
    server.bookmark("pods")
    server.storage.delete(NODE)
    server.send("nodes", TOO_OLD)
    await asyncio.sleep(0.05)
    server.fail_lists()
    assert await watching == [
        ("ADDED", "101"), ("MODIFIED", "102"), ("DELETED", "103"), ("BOOKMARK", "102"), ("ERROR", "410"),
    ]  # fmt: skip


async def test_a_watch_that_becomes_too_old_ends(server: ApiServer, connection: Connection) -> None:
    server.muted = True
    watching = asyncio.create_task(watched(connection, 101))
    await is_watched(server)
    server.storage.delete(NODE)
    server.storage.compact()
    server.muted = False
    server.bookmark("nodes")
    assert await watching == [("ERROR", "410")]


async def test_a_watch_of_a_forgotten_version_is_refused(server: ApiServer, connection: Connection) -> None:
    server.storage.compact()
    with pytest.raises(ApiError) as failure:
        await watched(connection, 100)
    assert failure.value.cause is Cause.GONE


async def test_canned_answers_come_one_after_another_and_the_last_may_stay(
    server: ApiServer, client: ObjectClient
) -> None:
    server.answers["nodes", "GET"].extend([lambda: status(403), None, lambda: status(410)])
    assert await cause(client) is Cause.FORBIDDEN
    assert json.loads(await client.read(NODE)) == server.objects[NODE]
    server.stuck = True
    assert [await cause(client) for _ in range(2)] == [Cause.GONE] * 2
    server.stuck = False
    assert await cause(client) is Cause.GONE
    assert await client.read(NODE)


async def test_what_is_before_an_answer_may_replace_it(server: ApiServer, client: ObjectClient) -> None:
    async def instead(seen: Seen) -> web.StreamResponse | None:
        return refused(409, "Conflict") if seen.method == "PATCH" else None

    server.before = instead
    with pytest.raises(ApiError, match="409: because Conflict"):
        await client.merge_patch(NODE, {"spec": {"x": 1}})
    assert (server.objects[NODE]["spec"], bool(await client.read(NODE))) == ({}, True)


async def test_what_is_after_it_may_lose_it(server: ApiServer, client: ObjectClient) -> None:
    async def lost(_: Seen) -> web.StreamResponse | None:
        return status(504, "lost")

    server.after = lost
    with pytest.raises(ApiError, match="504: lost"):
        await client.merge_patch(NODE, {"spec": {"x": 1}})
    assert server.objects[NODE]["spec"] == {"x": 1}


async def test_faults_of_the_whole_server(server: ApiServer, client: ObjectClient) -> None:
    server.missing = {"nodes"}
    assert await cause(client) is Cause.MISSING
    server.missing = set()
    server.fail_lists()
    assert (await cause(client, NODES), bool(await client.read(NODE))) == (Cause.BROKEN, True)
    server.fail_lists(failing=False)
    assert await client.read(NODES)
    server.tokens = {"Bearer other"}
    assert await cause(client) is Cause.UNAUTHORIZED


async def test_a_server_that_comes_back_has_its_port_and_its_objects(server: ApiServer, client: ObjectClient) -> None:
    port = server.port
    await server.stop()
    assert await cause(client) is Cause.UNREACHABLE
    server.store("nodes", {"metadata": {"name": "b"}})
    server.remove("nodes", "a")
    await server.start()
    assert (server.port, list(server.objects), bool(await client.read(node_path("b")))) == (
        port, [node_path("b")], True,
    )  # fmt: skip
