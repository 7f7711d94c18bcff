"""Events tell people what happens, once, and disturb nobody."""

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from kubeapi.client.errors import ApiError, Cause
from kubeapi.client.object_client import ObjectClient
from kubeapi.leaderelection.lease_hold import LostError
from tests.apiserver.paths import Json
from tests.apiserver.server import ApiServer, Seen, refused
from tests.cluster.live.watched_cluster import until
from tests.controller.virtual_time import clock
from tests.kubeapi.leaderelection.elections import complaints
from webhook.controller.events.event import Regarding, bounded
from webhook.controller.events.events import Events

pytestmark = pytest.mark.integration

POOL = Regarding(api_version="streams.ibm.com/v1", kind="HostPool", namespace="apps", name="ib-blue", uid="0d5f")
OTHER = Regarding(api_version="streams.ibm.com/v1", kind="HostPool", namespace="others", name="ib", uid="0d60")
NODE = Regarding(api_version="v1", kind="Node", name="node-a")


class Target:
    """Takes Events; ``troubles`` are raised one after another."""

    def __init__(self) -> None:
        self.created: list[tuple[str, Json]] = []
        self.patched: list[tuple[str, Json]] = []
        self.times: list[float] = []
        self.troubles: list[Exception | None] = []

    async def create(self, path: str, body: Any) -> bytes:
        self._trouble()
        self.created.append((path, body))
        return b""

    async def merge_patch(self, path: str, body: Any) -> bytes:
        self._trouble()
        self.patched.append((path, body))
        return b""

    def _trouble(self) -> None:
        self.times.append(clock())
        if self.troubles and (trouble := self.troubles.pop(0)):
            raise trouble

    @property
    def counts(self) -> list[int]:
        """What was counted up to."""
        return [body["series"]["count"] for _, body in self.patched]


@pytest.fixture
def target() -> Target:
    return Target()


@contextlib.asynccontextmanager
async def telling(target: Any, **more: Any) -> AsyncIterator[Events]:
    events = Events(target, controller="streams.ibm.com/hostpools", instance="me", **{"clock": clock, **more})
    task = asyncio.create_task(events.run())
    try:
        yield events
        await asyncio.sleep(0.001)
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_an_event_says_what_happened_to_what(target: Target) -> None:
    async with telling(target) as events:
        events.normal(POOL, "Allocated", "3 hosts: node-a, node-b, node-c", action="Allocate")
    [(path, body)] = target.created
    assert path == "/apis/events.k8s.io/v1/namespaces/apps/events"
    assert {name: body[name] for name in body if name not in {"metadata", "eventTime", "regarding"}} == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "type": "Normal",
        "reason": "Allocated",
        "action": "Allocate",
        "note": "3 hosts: node-a, node-b, node-c",
        "reportingController": "streams.ibm.com/hostpools",
        "reportingInstance": "me",
    }


async def test_a_warning_is_one(target: Target) -> None:
    async with telling(target) as events:
        events.warning(POOL, "NoRoom", "too few hosts")
    assert target.created[0][1]["type"] == "Warning"


async def test_an_event_about_a_node_is_in_the_default_namespace(target: Target) -> None:
    async with telling(target) as events:
        events.normal(NODE, "Labelled", "a member of ib-blue now")
    [(path, body)] = target.created
    assert (path, body["metadata"]["namespace"]) == ("/apis/events.k8s.io/v1/namespaces/default/events", "default")


async def test_its_name_is_that_of_the_object_and_more(target: Target) -> None:
    async with telling(target) as events:
        events.normal(POOL, "One", "1")
        events.normal(POOL, "Two", "2")
    names = [body["metadata"]["name"] for _, body in target.created]
    assert all(re.fullmatch(r"ib-blue\.[0-9a-f]{16}", name) for name in names)
    assert len(set(names)) == 2


async def test_the_name_of_an_object_with_a_long_name_still_is_one(target: Target) -> None:
    async with telling(target) as events:
        events.normal(Regarding(api_version="v1", kind="Node", name="a" * 235 + ".b" + "c" * 16), "R", "n")
    name = target.created[0][1]["metadata"]["name"]
    assert re.fullmatch(r"a{235}\.[0-9a-f]{16}", name)


@pytest.mark.parametrize(
    ("note", "shown"),
    [
        pytest.param("short", "short", id="short"),
        pytest.param("x" * 1024, "x" * 1024, id="just fits"),
        pytest.param("x" * 1025, "x" * 1021 + "...", id="one too many"),
        pytest.param("ä" * 513, "ä" * 510 + "...", id="two bytes a character"),
        pytest.param("a\ud800b", "a?b", id="half a character"),
    ],
)
def test_a_note_is_cut_between_two_characters(note: str, shown: str) -> None:
    assert bounded(note) == shown
    assert len(bounded(note).encode()) <= 1024


async def test_what_is_too_long_for_a_word_is_cut(target: Target) -> None:
    async with telling(target) as events:
        events.normal(POOL, "R" * 200, "n", action="A" * 200)
    body = target.created[0][1]
    assert (len(body["reason"]), len(body["action"])) == (128, 128)


# Again


async def test_what_is_said_again_is_counted_up_a_minute_later(target: Target) -> None:
    async with telling(target) as events:
        for _ in range(5):
            events.warning(POOL, "NoRoom", "too few hosts")
            await asyncio.sleep(1)
        before = target.counts
        await asyncio.sleep(60)
    assert (before, target.counts, len(target.created), round(target.times[1] - target.times[0])) == ([], [5], 1, 60)


async def test_it_is_counted_at_the_event_that_said_it_first(target: Target) -> None:
    async with telling(target) as events:
        events.warning(POOL, "NoRoom", "too few hosts")
        await asyncio.sleep(100)
        events.warning(POOL, "NoRoom", "too few hosts")
    [(collection, first)], [(path, change)] = target.created, target.patched
    assert (path, change["series"]["count"]) == (f"{collection}/{first['metadata']['name']}", 2)
    assert change["series"]["lastObservedTime"] > first["eventTime"]


async def test_what_is_said_again_before_it_was_written_is_written_once(target: Target) -> None:
    async with telling(target) as events:
        for number in range(50):
            events.normal(POOL, "Allocated", str(number))
        events.warning(POOL, "NoRoom", "too few hosts")
        await asyncio.sleep(0.1)  # the fifty are written, and the next one waits for its turn
        events.warning(POOL, "NoRoom", "too few hosts")
        await asyncio.sleep(300)
    assert (target.created[-1][1]["series"]["count"], len(target.created), target.patched) == (2, 51, [])


async def test_what_is_said_again_while_it_cannot_be_written_is_forgotten_as_well() -> None:
    class Slow(Target):
        async def create(self, path: str, body: Any) -> bytes:
            await asyncio.sleep(5)
            return await super().create(path, body)

    slow = Slow()
    slow.troubles = [ApiError(Cause.UNREACHABLE, "no")]
    async with telling(slow) as events:
        for _ in range(2):
            events.normal(POOL, "Allocated", "3 hosts")
            await asyncio.sleep(1)
        await asyncio.sleep(300)
        assert (events.failed, events.written, len(slow.times)) == (1, 0, 1)


async def test_what_is_said_once_is_not_a_series(target: Target) -> None:
    async with telling(target) as events:
        events.normal(POOL, "Allocated", "3 hosts")
        await asyncio.sleep(300)
    assert ("series" in target.created[0][1], len(target.times)) == (False, 1)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param((NODE, "NoRoom", "too few hosts"), id="about another object"),
        pytest.param((POOL, "Vanished", "too few hosts"), id="for another reason"),
        pytest.param((POOL, "NoRoom", "no hosts"), id="in other words"),
    ],
)
async def test_what_says_something_else_is_another_event(target: Target, other: tuple[Regarding, str, str]) -> None:
    async with telling(target) as events:
        events.warning(POOL, "NoRoom", "too few hosts")
        events.warning(*other)
    assert len(target.created) == 2


async def test_an_event_that_was_deleted_is_created_again_with_its_count(target: Target) -> None:
    async with telling(target) as events:
        events.warning(POOL, "NoRoom", "too few hosts")
        await asyncio.sleep(7200)
        target.troubles = [ApiError(Cause.MISSING, "not found")]
        events.warning(POOL, "NoRoom", "too few hosts")
        await asyncio.sleep(100)
        events.warning(POOL, "NoRoom", "too few hosts")
    assert (target.created[1][1]["series"]["count"], target.counts) == (2, [3])
    assert target.patched[0][0].endswith(target.created[1][1]["metadata"]["name"])


# Trouble


@pytest.mark.parametrize("cause", [Cause.UNREACHABLE, Cause.FORBIDDEN, Cause.CONFLICT], ids=lambda cause: cause.name)
async def test_what_cannot_be_written_is_logged_and_forgotten(
    target: Target, cause: Cause, caplog: pytest.LogCaptureFixture
) -> None:
    target.troubles = [ApiError(cause, "no")]
    async with telling(target) as events:
        events.normal(POOL, "Allocated", "3 hosts")
        await asyncio.sleep(100)
        assert (events.failed, events.written, len(target.times)) == (1, 0, 1)
    assert complaints(caplog) == ["an event about HostPool ib-blue was not written: no"]


async def test_what_could_not_be_written_is_an_event_when_it_is_said_again(target: Target) -> None:
    target.troubles = [ApiError(Cause.UNREACHABLE, "no")]
    async with telling(target) as events:
        events.normal(POOL, "Allocated", "3 hosts")
        await asyncio.sleep(1)
        events.normal(POOL, "Allocated", "3 hosts")
        await asyncio.sleep(1)
        assert (events.failed, events.written) == (1, 1)


async def test_a_count_that_could_not_be_written_starts_over(target: Target) -> None:
    async with telling(target) as events:
        events.normal(POOL, "Allocated", "3 hosts")
        await asyncio.sleep(100)
        target.troubles = [ApiError(Cause.BUSY, "later")]
        events.normal(POOL, "Allocated", "3 hosts")
        await asyncio.sleep(1)
        events.normal(POOL, "Allocated", "3 hosts")
    assert (len(target.created), target.patched) == (2, [])


async def test_whoever_may_not_write_any_more_stops(target: Target) -> None:
    target.troubles = [LostError("gone")]
    events = Events(target, controller="c", instance="i", clock=clock)
    events.normal(POOL, "Allocated", "3 hosts")
    with pytest.raises(LostError, match="^gone$"):
        await events.run()


async def test_recording_an_event_does_not_wait(target: Target) -> None:
    class Hanging(Target):
        async def create(self, path: str, body: Any) -> bytes:
            del path, body
            await asyncio.Event().wait()
            raise AssertionError

    async with telling(Hanging(), known=10) as events:
        for number in range(1000):
            events.normal(POOL, "Allocated", str(number))
        await asyncio.sleep(1)
        assert (events.dropped, target.created) == (990, [])


# Bounds


async def test_room_is_made_by_what_was_not_said_for_longest(target: Target) -> None:
    async with telling(target, known=2) as events:
        for note in ("a", "b", "a", "c"):
            events.normal(POOL, "Allocated", note)
            await asyncio.sleep(100)
        events.normal(POOL, "Allocated", "a")
        events.normal(POOL, "Allocated", "b")
        await asyncio.sleep(100)
        assert events.dropped == 0
    assert [body["note"] for _, body in target.created] == ["a", "b", "c", "b"]
    assert target.counts == [2, 3]


async def test_events_are_written_at_a_steady_pace(target: Target) -> None:
    async with telling(target) as events:
        for number in range(60):
            events.normal(POOL, "Allocated", str(number))
        await asyncio.sleep(10)
    passed = [round(moment - target.times[0], 3) for moment in target.times]
    assert (passed[49], passed[50], passed[59]) == (0, 0.2, 2.0)


async def test_namespaces_take_turns(target: Target) -> None:
    async with telling(target) as events:
        for number in range(100):
            events.normal(POOL, "Allocated", str(number))
        await asyncio.sleep(1)
        events.normal(OTHER, "Allocated", "mine")
        await asyncio.sleep(1)
    passed = [round(moment - target.times[0], 1) for moment in target.times]
    places = [body["regarding"].namespace for _, body in target.created]
    assert passed[places.index("others")] <= 1.4


async def test_of_too_many_those_of_the_namespace_with_most_are_dropped(target: Target) -> None:
    async with telling(target, known=60) as events:
        for number in range(60):
            events.normal(POOL, "Allocated", str(number))
        events.normal(OTHER, "Allocated", "mine")
        events.normal(POOL, "Allocated", "one too many")
        assert events.dropped == 2
        await asyncio.sleep(100)
    assert {body["note"] for _, body in target.created} == {"mine", *map(str, range(1, 60))}


async def test_an_event_that_is_dropped_while_it_is_written_does_no_harm() -> None:
    class Slow(Target):
        async def create(self, path: str, body: Any) -> bytes:
            await asyncio.sleep(1)
            return await super().create(path, body)

    target = Slow()
    target.troubles = [ApiError(Cause.BROKEN, "no")]
    async with telling(target, known=2) as events:
        events.normal(POOL, "Allocated", "a")
        events.normal(POOL, "Allocated", "b")
        await asyncio.sleep(0.5)
        events.normal(OTHER, "Allocated", "mine")
        await asyncio.sleep(10)
        assert (events.dropped, events.failed, events.written) == (1, 1, 2)


# For real


async def test_an_event_gets_over_the_wire(server: ApiServer, writes: ObjectClient) -> None:
    async with telling(writes) as events:
        events.normal(POOL, "Allocated", "3 hosts")
        await until(lambda: events.written)
    [event] = server.objects.values()
    assert event["regarding"] == {
        "apiVersion": "streams.ibm.com/v1", "kind": "HostPool", "namespace": "apps", "name": "ib-blue", "uid": "0d5f"
    }  # fmt: skip


async def test_a_refused_event_disturbs_no_other(server: ApiServer, writes: ObjectClient) -> None:
    async def forbidden(_seen: Seen) -> Any:
        return refused(403, "Forbidden")

    server.before = forbidden
    async with telling(writes) as events:
        events.normal(POOL, "Allocated", "3 hosts")
        await until(lambda: events.failed)
    assert (server.objects, json.loads(server.seen[0].body)["kind"]) == ({}, "Event")
