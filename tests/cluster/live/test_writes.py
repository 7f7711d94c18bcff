"""Single objects are read and changed in bounded time, once, and whatever goes wrong says what it means."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from tests.cluster.live.objectserver import Given, ObjectServer, Seen, refused
from webhook.cluster.client.access import Access
from webhook.cluster.client.configuration import Configuration
from webhook.cluster.client.connection import Connection
from webhook.cluster.client.errors import ApiError, Cause
from webhook.cluster.client.writes import ANSWER_LIMIT, Writes

pytestmark = pytest.mark.integration

NODES = "/api/v1/nodes"
NODE = f"{NODES}/a"


@pytest.fixture
async def connection(objects: ObjectServer) -> AsyncIterator[Connection]:
    async with Connection(objects.configuration()) as connection:
        yield connection


@pytest.fixture
def writes(connection: Connection) -> Writes:
    return Writes(connection)


async def failure(answer: Any) -> ApiError:
    with pytest.raises(ApiError) as caught:
        await answer
    return caught.value


def node(objects: ObjectServer, **more: Any) -> dict[str, Any]:
    return objects.put(NODE, {"metadata": {"name": "a"}, **more})


# What is done


async def test_an_object_is_read(objects: ObjectServer, writes: Writes) -> None:
    node(objects)
    assert json.loads(await writes.read(NODE)) == objects.objects[NODE]


async def test_an_object_is_created(objects: ObjectServer, writes: Writes) -> None:
    answer = await writes.create(NODES, {"metadata": {"name": "a"}})
    assert json.loads(answer) == objects.objects[NODE]


async def test_an_object_is_replaced(objects: ObjectServer, writes: Writes) -> None:
    found = node(objects, spec={"unschedulable": True})
    await writes.replace(NODE, {"metadata": found["metadata"], "spec": {}})
    assert objects.objects[NODE]["spec"] == {}


async def test_an_object_is_changed_in_part(objects: ObjectServer, writes: Writes) -> None:
    node(objects, spec={"unschedulable": True, "taints": []})
    await writes.merge_patch(NODE, {"spec": {"taints": None, "podCIDR": "10.0.0.0/8"}})
    assert objects.objects[NODE]["spec"] == {"unschedulable": True, "podCIDR": "10.0.0.0/8"}


async def test_an_object_is_deleted(objects: ObjectServer, writes: Writes) -> None:
    node(objects)
    await writes.delete(NODE)
    assert objects.objects == {}


@pytest.mark.parametrize(
    ("method", "content"),
    [("create", "application/json"), ("replace", "application/json"), ("merge_patch", "application/merge-patch+json")],
)
async def test_a_body_says_what_it_is(objects: ObjectServer, writes: Writes, method: str, content: str) -> None:
    node(objects)
    await getattr(writes, method)(NODES if method == "create" else NODE, {"metadata": {"name": "b"}})
    assert objects.seen[0].headers["Content-Type"] == content


async def test_a_deletion_says_which_object_is_meant(objects: ObjectServer, writes: Writes) -> None:
    found = node(objects)["metadata"]
    await writes.delete(NODE, uid=found["uid"], version=found["resourceVersion"])
    assert objects.seen[0].json == {"preconditions": {"uid": found["uid"], "resourceVersion": found["resourceVersion"]}}


async def test_what_will_be_deleted_later_is_as_good_as_deleted(objects: ObjectServer, writes: Writes) -> None:
    async def accepted(_seen: Seen) -> web.Response:
        return web.json_response({}, status=202)

    node(objects)
    objects.before = accepted
    assert await writes.delete(NODE) == b"{}"


# What goes wrong


async def test_a_name_that_is_taken_is_told_from_a_conflict(objects: ObjectServer, writes: Writes) -> None:
    node(objects)
    failed = await failure(writes.create(NODES, {"metadata": {"name": "a"}}))
    assert (failed.cause, str(failed)) == (Cause.EXISTS, "the API server answers 409: because AlreadyExists")


@pytest.mark.parametrize("method", ["replace", "merge_patch"])
async def test_an_object_that_changed_since_is_a_conflict(objects: ObjectServer, writes: Writes, method: str) -> None:
    before = node(objects)
    node(objects, spec={"unschedulable": True})
    failed = await failure(getattr(writes, method)(NODE, {"metadata": before["metadata"], "spec": {}}))
    assert (failed.cause, objects.objects[NODE]["spec"]) == (Cause.CONFLICT, {"unschedulable": True})


async def test_another_object_of_the_same_name_is_not_deleted(objects: ObjectServer, writes: Writes) -> None:
    node(objects)
    assert (await failure(writes.delete(NODE, uid="other"))).cause is Cause.CONFLICT


async def test_an_object_that_is_not_there_is_missing(writes: Writes) -> None:
    assert (await failure(writes.read(NODE))).cause is Cause.MISSING


async def test_an_object_that_breaks_a_rule_is_invalid(objects: ObjectServer, writes: Writes) -> None:
    async def invalid(_seen: Seen) -> web.Response:
        return refused(422, "Invalid")

    objects.before = invalid
    assert (await failure(writes.create(NODES, {}))).cause is Cause.INVALID


async def test_an_api_server_that_is_busy_says_for_how_long(objects: ObjectServer, writes: Writes) -> None:
    async def busy(_seen: Seen) -> web.Response:
        return web.Response(status=429, headers={"Retry-After": "3"})

    objects.before = busy
    failed = await failure(writes.create(NODES, {}))
    assert (failed.cause, failed.wait, len(objects.seen)) == (Cause.BUSY, 3.0, 1)


async def test_an_object_that_is_too_large_is_unreadable(objects: ObjectServer, writes: Writes) -> None:
    async def huge(_seen: Seen) -> web.Response:
        return web.Response(body=b"x" * (ANSWER_LIMIT + 1))

    objects.before = huge
    failed = await failure(writes.read(NODE))
    assert (failed.cause, str(failed)) == (Cause.UNREADABLE, "an object has more than 6291456 bytes")


# Time


async def hang(_seen: Seen) -> None:
    await asyncio.sleep(30)


async def trickle(_seen: Seen) -> web.Response:
    """Bytes all the time, but never the last one: no time-out between two of them helps."""

    async def bytes_for_ever() -> AsyncIterator[bytes]:
        while True:
            yield b" "
            await asyncio.sleep(0.01)

    return web.Response(body=bytes_for_ever())


@pytest.mark.parametrize("fault", [hang, trickle])
async def test_no_request_takes_longer_than_it_may(objects: ObjectServer, connection: Connection, fault: Any) -> None:
    objects.before = fault
    begun = time.monotonic()
    failed = await failure(Writes(connection, seconds=0.1).read(NODE))
    assert (failed.cause, time.monotonic() - begun < 5) == (Cause.UNREACHABLE, True)


async def test_time_that_is_up_is_said(objects: ObjectServer, connection: Connection) -> None:
    objects.before = trickle
    failed = await failure(Writes(connection, seconds=0.1).read(NODE))
    assert str(failed) == "the API server does not answer within 0.1 seconds"


async def test_credentials_are_part_of_the_time(objects: ObjectServer) -> None:
    class Slow(Given):
        reread = 0.0
        readings = 0

        def read(self) -> Access:
            self.readings += 1
            time.sleep(0.3 if self.readings > 1 else 0)
            return super().read()

    async with Connection(Configuration(Slow(Access(server=objects.url)))) as connection:
        assert (await failure(Writes(connection, seconds=0.05).read(NODE))).cause is Cause.UNREACHABLE
    assert objects.seen == []


# Once


def lose(objects: ObjectServer) -> None:
    """Break the connection instead of answering a change."""

    async def broken(seen: Seen) -> web.StreamResponse | None:
        return None if seen.method == "GET" else Broken()

    class Broken(web.Response):
        async def prepare(self, request: web.BaseRequest) -> None:
            assert request.transport is not None
            request.transport.abort()
            raise ConnectionResetError

    objects.after = broken


@pytest.mark.parametrize("method", ["replace", "merge_patch", "delete"])
async def test_what_may_have_arrived_is_not_sent_again(objects: ObjectServer, writes: Writes, method: str) -> None:
    """By itself aiohttp repeats a PUT or DELETE when a connection that it has kept breaks."""
    node(objects)
    await writes.read(NODE)
    lose(objects)
    body = () if method == "delete" else ({"metadata": {"name": "a"}},)
    failed = await failure(getattr(writes, method)(NODE, *body))
    assert (failed.cause, len(objects.seen)) == (Cause.UNREACHABLE, 2)


async def test_a_refused_token_is_renewed_and_the_change_made(objects: ObjectServer) -> None:
    """The API server looks at the token before it looks at anything else."""

    class Renewed(Given):
        readings = 0

        def read(self) -> Access:
            self.readings += 1
            self._access = Access(server=objects.url, header=f"Bearer {self.readings}")
            return self._access

    async def guard(seen: Seen) -> web.Response | None:
        return None if seen.headers["Authorization"] == "Bearer 2" else refused(401, "Unauthorized")

    objects.before = guard
    fenced: list[int] = []
    async with Connection(Configuration(Renewed(Access(server="")))) as connection:
        writes = Writes(connection, fence=lambda: fenced.append(len(objects.seen)))
        await writes.create(NODES, {"metadata": {"name": "a"}})
    assert (len(objects.seen), list(objects.objects), fenced) == (2, [NODE], [0, 1])


# Fences


class ForbiddenError(Exception):
    """By the fence."""


def forbid() -> None:
    raise ForbiddenError


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda writes: writes.create(NODES, {"metadata": {"name": "b"}}), id="create"),
        pytest.param(lambda writes: writes.replace(NODE, {"metadata": {"name": "a"}}), id="replace"),
        pytest.param(lambda writes: writes.merge_patch(NODE, {}), id="merge_patch"),
        pytest.param(lambda writes: writes.delete(NODE), id="delete"),
    ],
)
async def test_a_fence_keeps_changes_from_being_sent(
    objects: ObjectServer, connection: Connection, change: Any
) -> None:
    node(objects)
    with pytest.raises(ForbiddenError):
        await change(Writes(connection, fence=forbid))
    assert objects.seen == []


async def test_a_fence_lets_everybody_read(objects: ObjectServer, connection: Connection) -> None:
    node(objects)
    assert await Writes(connection, fence=forbid).read(NODE)


async def test_a_fence_that_falls_while_credentials_are_read_still_holds(objects: ObjectServer) -> None:
    class Slow(Given):
        reread = 0.0

        def read(self) -> Access:
            nonlocal fallen
            fallen = bool(objects.url)
            return super().read()

    def fence() -> None:
        if fallen:
            raise ForbiddenError

    fallen = False
    configuration = Configuration(Slow(Access(server=objects.url)))
    fallen = False
    async with Connection(configuration) as connection:
        with pytest.raises(ForbiddenError):
            await Writes(connection, fence=fence).create(NODES, {"metadata": {"name": "a"}})
    assert objects.seen == []


# Together


async def test_a_connection_may_be_used_by_several_at_a_time(objects: ObjectServer) -> None:
    node(objects)
    connection = Connection(objects.configuration())
    async with connection:
        async with connection:
            await Writes(connection).read(NODE)
        assert await Writes(connection).read(NODE)


async def test_a_connection_that_was_closed_can_be_opened_again(objects: ObjectServer) -> None:
    node(objects)
    connection = Connection(objects.configuration())
    for _ in range(2):
        async with connection:
            assert await Writes(connection).read(NODE)
