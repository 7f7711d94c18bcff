"""Single objects are read and changed in bounded time, once, and whatever goes wrong says what it means."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aiohttp import web

from kubeapi.client.access import Access
from kubeapi.client.configuration import Configuration
from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError, Cause, FailedRequest
from kubeapi.client.object_client import ANSWER_LIMIT, ObjectClient
from tests.apiserver.kubeconfig import Given
from tests.apiserver.server import ApiServer, Seen, refused

pytestmark = pytest.mark.integration

NODES = "/api/v1/nodes"
NODE = f"{NODES}/a"


@pytest.fixture
async def connection(objects: ApiServer) -> AsyncIterator[Connection]:
    async with Connection(objects.configuration()) as connection:
        yield connection


@pytest.fixture
def writes(connection: Connection) -> ObjectClient:
    return ObjectClient(connection)


async def failure(answer: Any) -> ApiError:
    with pytest.raises(ApiError) as caught:
        await answer
    return caught.value


def node(objects: ApiServer, **more: Any) -> dict[str, Any]:
    return objects.put(NODE, {"metadata": {"name": "a"}, **more})


# What is done


async def test_an_object_is_read(objects: ApiServer, writes: ObjectClient) -> None:
    node(objects)
    assert json.loads(await writes.read(NODE)) == objects.objects[NODE]


async def test_an_object_is_created(objects: ApiServer, writes: ObjectClient) -> None:
    answer = await writes.create(NODES, {"metadata": {"name": "a"}})
    assert json.loads(answer) == objects.objects[NODE]


async def test_an_object_is_replaced(objects: ApiServer, writes: ObjectClient) -> None:
    found = node(objects, spec={"unschedulable": True})
    await writes.replace(NODE, {"metadata": found["metadata"], "spec": {}})
    assert objects.objects[NODE]["spec"] == {}


async def test_an_object_is_changed_in_part(objects: ApiServer, writes: ObjectClient) -> None:
    node(objects, spec={"unschedulable": True, "taints": []})
    await writes.merge_patch(NODE, {"spec": {"taints": None, "podCIDR": "10.0.0.0/8"}})
    assert objects.objects[NODE]["spec"] == {"unschedulable": True, "podCIDR": "10.0.0.0/8"}


async def test_an_object_is_changed_by_operations(objects: ApiServer, writes: ObjectClient) -> None:
    found = node(objects, spec={"taints": []})
    await writes.json_patch(
        NODE,
        [
            {"op": "replace", "path": "/metadata/resourceVersion", "value": found["metadata"]["resourceVersion"]},
            {"op": "add", "path": "/spec/taints/0", "value": {"key": "a"}},
        ],
    )
    assert objects.objects[NODE]["spec"] == {"taints": [{"key": "a"}]}


async def test_operations_on_an_object_that_changed_since_are_a_conflict(
    objects: ApiServer, writes: ObjectClient
) -> None:
    node(objects)
    patch = [{"op": "replace", "path": "/metadata/resourceVersion", "value": "1"}]
    assert (await failure(writes.json_patch(NODE, patch))).cause is Cause.CONFLICT


async def test_an_object_is_deleted(objects: ApiServer, writes: ObjectClient) -> None:
    node(objects)
    await writes.delete(NODE)
    assert objects.objects == {}


@pytest.mark.parametrize(
    ("method", "content"),
    [
        ("create", "application/json"),
        ("replace", "application/json"),
        ("merge_patch", "application/merge-patch+json"),
        ("json_patch", "application/json-patch+json"),
    ],
)
async def test_a_body_says_what_it_is(objects: ApiServer, writes: ObjectClient, method: str, content: str) -> None:
    node(objects)
    body = [] if method == "json_patch" else {"metadata": {"name": "b"}}
    await getattr(writes, method)(NODES if method == "create" else NODE, body)
    assert objects.seen[0].headers["Content-Type"] == content


async def test_a_deletion_says_which_object_is_meant(objects: ApiServer, writes: ObjectClient) -> None:
    found = node(objects)["metadata"]
    await writes.delete(NODE, uid=found["uid"], version=found["resourceVersion"])
    assert objects.seen[0].json == {"preconditions": {"uid": found["uid"], "resourceVersion": found["resourceVersion"]}}


async def test_a_deletion_says_what_becomes_of_what_the_object_owns(objects: ApiServer, writes: ObjectClient) -> None:
    node(objects)
    await writes.delete(NODE, propagation="Foreground")
    assert objects.seen[0].json == {"preconditions": {}, "propagationPolicy": "Foreground"}


async def test_what_will_be_deleted_later_is_as_good_as_deleted(objects: ApiServer, writes: ObjectClient) -> None:
    async def accepted(_seen: Seen) -> web.Response:
        return web.json_response({}, status=202)

    node(objects)
    objects.before = accepted
    assert await writes.delete(NODE) == b"{}"


# What goes wrong


async def test_a_name_that_is_taken_is_told_from_a_conflict(objects: ApiServer, writes: ObjectClient) -> None:
    node(objects)
    failed = await failure(writes.create(NODES, {"metadata": {"name": "a"}}))
    assert (failed.cause, str(failed)) == (Cause.EXISTS, f"the API server answers 409: {NODE} already exists")


@pytest.mark.parametrize("method", ["replace", "merge_patch"])
async def test_an_object_that_changed_since_is_a_conflict(
    objects: ApiServer, writes: ObjectClient, method: str
) -> None:
    before = node(objects)
    node(objects, spec={"unschedulable": True})
    failed = await failure(getattr(writes, method)(NODE, {"metadata": before["metadata"], "spec": {}}))
    assert (failed.cause, objects.objects[NODE]["spec"]) == (Cause.CONFLICT, {"unschedulable": True})


async def test_another_object_of_the_same_name_is_not_deleted(objects: ApiServer, writes: ObjectClient) -> None:
    node(objects)
    assert (await failure(writes.delete(NODE, uid="other"))).cause is Cause.CONFLICT


async def test_an_object_that_is_not_there_is_missing(writes: ObjectClient) -> None:
    assert (await failure(writes.read(NODE))).cause is Cause.MISSING


async def test_an_object_that_breaks_a_rule_is_invalid(objects: ApiServer, writes: ObjectClient) -> None:
    async def invalid(_seen: Seen) -> web.Response:
        return refused(422, "Invalid")

    objects.before = invalid
    assert (await failure(writes.create(NODES, {}))).cause is Cause.INVALID


async def test_an_api_server_that_is_busy_says_for_how_long(objects: ApiServer, writes: ObjectClient) -> None:
    async def busy(_seen: Seen) -> web.Response:
        return web.Response(status=429, headers={"Retry-After": "3"})

    objects.before = busy
    failed = await failure(writes.create(NODES, {}))
    assert (failed.cause, failed.wait, len(objects.seen)) == (Cause.BUSY, 3.0, 1)


async def test_an_object_that_is_too_large_is_unreadable(objects: ApiServer, writes: ObjectClient) -> None:
    async def huge(_seen: Seen) -> web.Response:
        return web.Response(body=b"x" * (ANSWER_LIMIT + 1))

    objects.before = huge
    failed = await failure(writes.read(NODE))
    assert (failed.cause, str(failed)) == (Cause.UNREADABLE, "an object has more than 6291456 bytes")


async def test_how_large_an_object_may_be_can_be_chosen(objects: ApiServer, connection: Connection) -> None:
    async def large(_seen: Seen) -> web.Response:
        return web.Response(body=b"x" * 101)

    objects.before = large
    assert len(await ObjectClient(connection, limit=101).read(NODE)) == 101
    failed = await failure(ObjectClient(connection, limit=100).read(NODE))
    assert str(failed) == "an object has more than 100 bytes"
    assert failed.request == FailedRequest(method="GET", path=NODE, limit=100)


# The time of the API server


async def dated(objects: ApiServer, writes: ObjectClient, header: str) -> datetime:
    """What is said to be now, after an answer with that ``Date``."""

    async def answer(_seen: Seen) -> web.Response:
        return web.json_response({}, headers={"Date": header})

    objects.before = answer
    await writes.read(NODE)
    return writes.now


async def test_now_is_what_the_last_answer_says(objects: ApiServer, writes: ObjectClient) -> None:
    assert await dated(objects, writes, "Fri, 03 Feb 2040 04:05:06 GMT") == datetime(2040, 2, 3, 4, 5, 6, tzinfo=UTC)


@pytest.mark.parametrize("header", ["yesterday", "Tue, 01 Jan 2030 00:00:00 -0000"], ids=["no date", "no zone"])
async def test_without_a_date_now_is_the_time_of_this_machine(
    objects: ApiServer, writes: ObjectClient, header: str
) -> None:
    assert abs(await dated(objects, writes, header) - datetime.now(UTC)) < timedelta(seconds=5)


async def test_a_failure_changes_nothing_about_now(objects: ApiServer, writes: ObjectClient) -> None:
    before = await dated(objects, writes, "Fri, 03 Feb 2040 04:05:06 GMT")

    async def down(_seen: Seen) -> web.Response:
        return web.Response(status=500)

    objects.before = down
    await failure(writes.read(NODE))
    assert writes.now == before


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
async def test_no_request_takes_longer_than_it_may(objects: ApiServer, connection: Connection, fault: Any) -> None:
    objects.before = fault
    begun = time.monotonic()
    failed = await failure(ObjectClient(connection, seconds=0.1).read(NODE))
    assert (failed.cause, time.monotonic() - begun < 5) == (Cause.UNREACHABLE, True)


async def test_time_that_is_up_is_said(objects: ApiServer, connection: Connection) -> None:
    objects.before = trickle
    failed = await failure(ObjectClient(connection, seconds=0.1).read(NODE))
    assert str(failed) == "the API server does not answer within 0.1 seconds"
    assert failed.request == FailedRequest(method="GET", path=NODE, seconds=0.1)


async def test_credentials_are_part_of_the_time(objects: ApiServer) -> None:
    class Slow(Given):
        reread = 0.0
        readings = 0

        def read(self) -> Access:
            self.readings += 1
            time.sleep(0.3 if self.readings > 1 else 0)
            return super().read()

    async with Connection(Configuration(Slow(Access(server=objects.url)))) as connection:
        assert (await failure(ObjectClient(connection, seconds=0.05).read(NODE))).cause is Cause.UNREACHABLE
    assert objects.seen == []


# Once


def lose(objects: ApiServer) -> None:
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
async def test_what_may_have_arrived_is_not_sent_again(objects: ApiServer, writes: ObjectClient, method: str) -> None:
    """By itself aiohttp repeats a PUT or DELETE when a connection that it has kept breaks."""
    node(objects)
    await writes.read(NODE)
    lose(objects)
    body = () if method == "delete" else ({"metadata": {"name": "a"}},)
    failed = await failure(getattr(writes, method)(NODE, *body))
    assert (failed.cause, len(objects.seen)) == (Cause.UNREACHABLE, 2)


async def test_a_refused_token_is_renewed_and_the_change_made(objects: ApiServer) -> None:
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
        writes = ObjectClient(connection, fence=lambda: fenced.append(len(objects.seen)))
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
        pytest.param(lambda writes: writes.json_patch(NODE, []), id="json_patch"),
        pytest.param(lambda writes: writes.delete(NODE), id="delete"),
    ],
)
async def test_a_fence_keeps_changes_from_being_sent(objects: ApiServer, connection: Connection, change: Any) -> None:
    node(objects)
    with pytest.raises(ForbiddenError):
        await change(ObjectClient(connection, fence=forbid))
    assert objects.seen == []


async def test_a_fence_lets_everybody_read(objects: ApiServer, connection: Connection) -> None:
    node(objects)
    assert await ObjectClient(connection, fence=forbid).read(NODE)


async def test_a_fence_that_falls_while_credentials_are_read_still_holds(objects: ApiServer) -> None:
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
            await ObjectClient(connection, fence=fence).create(NODES, {"metadata": {"name": "a"}})
    assert objects.seen == []


# Together


async def test_a_connection_may_be_used_by_several_at_a_time(objects: ApiServer) -> None:
    node(objects)
    connection = Connection(objects.configuration())
    async with connection:
        async with connection:
            await ObjectClient(connection).read(NODE)
        assert await ObjectClient(connection).read(NODE)


async def test_a_connection_that_was_closed_can_be_opened_again(objects: ApiServer) -> None:
    node(objects)
    connection = Connection(objects.configuration())
    for _ in range(2):
        async with connection:
            assert await ObjectClient(connection).read(NODE)
