"""After a list, what changes is watched from there on, event by event."""

import asyncio
import json
from collections.abc import Callable

import pytest
from aiohttp import web
from msgspec.structs import replace

from kubeapi.client.connection import Connection
from tests.apiserver.paths import PATHS
from tests.apiserver.server import ApiServer
from tests.cluster.live.watched_cluster import FAST, WatchedCluster, until
from tests.cluster.objects import Recorder, job, node, pod, pool
from webhook.cluster.watch.list_watch import LIMIT

pytestmark = pytest.mark.integration

Held = Callable[[Recorder], object]


def line(kind: str, item: object) -> bytes:
    return json.dumps({"type": kind, "object": item}).encode() + b"\n"


async def watching(server: ApiServer, *resources: str) -> None:
    await until(lambda: all(server.watching[resource] for resource in resources))


@pytest.mark.parametrize(
    ("resource", "item", "changed", "held"),
    [
        pytest.param("nodes", node(), node(labels={"a": "b"}), lambda sink: sink.nodes, id="Node"),
        pytest.param("pods", pod(), pod(deletionTimestamp="now"), lambda sink: sink.pods, id="Pod"),
        pytest.param("streamshostpools", pool(), pool(size=2), lambda sink: sink.pools, id="HostPool"),
        pytest.param("streamsjobs", job(), job({"name": "pe"}), lambda sink: sink.jobs, id="Job"),
    ],
)
async def test_objects_come_and_change_and_go(
    server: ApiServer,
    resource: str,
    item: dict[str, dict[str, str]],
    changed: object,
    held: Held,
) -> None:
    async with WatchedCluster().running() as watched:
        server.store(resource, item)
        await until(lambda: held(watched.sink))
        first = str(held(watched.sink))
        server.store(resource, changed)
        await until(lambda: str(held(watched.sink)) != first)
        server.remove(resource, item["metadata"]["name"], item["metadata"].get("namespace", ""))
        await until(lambda: not held(watched.sink))


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
async def test_a_pod_that_finishes_goes(server: ApiServer, phase: str) -> None:
    server.store("pods", pod())
    async with WatchedCluster().running() as watched:
        server.store("pods", pod(phase=phase))
        await until(lambda: not watched.sink.pods)


async def test_a_watch_begins_where_the_list_ended_and_asks_for_bookmarks(
    server: ApiServer,
) -> None:
    server.store("nodes", node())
    async with WatchedCluster().running():
        await watching(server, "nodes")
    query = server.asked("nodes", "watch")[0].query
    seconds = int(query.pop("timeoutSeconds"))
    assert query == {"watch": "true", "resourceVersion": "101", "allowWatchBookmarks": "true"}
    assert FAST.watch[0] <= seconds <= FAST.watch[1]


async def test_a_watch_that_ends_goes_on_without_a_list(server: ApiServer) -> None:
    server.watch_seconds = 0.1
    async with WatchedCluster().running() as watched:
        server.store("nodes", node("node-b"))
        await until(lambda: len(server.asked("nodes", "watch")) == 3)
        assert ([*watched.sink.nodes], len(server.asked("nodes", "list"))) == (["node-b"], 1)


async def test_a_watch_goes_on_where_the_last_event_was(server: ApiServer) -> None:
    server.watch_seconds = 0.1
    async with WatchedCluster().running():
        server.store("nodes", node("node-b"))
        await until(lambda: len(server.asked("nodes", "watch")) == 2)
    assert [request.query["resourceVersion"] for request in server.asked("nodes", "watch")] == ["100", "101"]


async def test_a_bookmark_moves_a_watch_on(server: ApiServer) -> None:
    server.watch_seconds = 0.2
    async with WatchedCluster().running() as watched:
        await watching(server, "nodes")
        server.storage.version = 500
        server.bookmark("nodes")
        await until(lambda: len(server.asked("nodes", "watch")) == 2)
        assert (server.asked("nodes", "watch")[1].query["resourceVersion"], watched.told[1:]) == ("500", [])


async def test_a_watch_that_said_nothing_is_looked_after(server: ApiServer) -> None:
    server.watch_seconds = 0.05
    async with WatchedCluster().running():
        await until(lambda: len(server.asked("nodes", "watch")) == 2)
    assert [request.what for request in server.asked("nodes", "list", "look", "watch")][:4] == [
        "list",
        "watch",
        "look",
        "watch",
    ]


async def test_a_bookmark_may_be_all_that_a_watch_says(server: ApiServer) -> None:
    server.watch_seconds = 0.1
    async with WatchedCluster().running():
        await watching(server, "nodes")
        server.bookmark("nodes")
        await until(lambda: len(server.asked("nodes", "watch")) == 2)
    assert [request.what for request in server.asked("nodes", "list", "look", "watch")][:3] == [
        "list",
        "watch",
        "watch",
    ]


@pytest.mark.parametrize("chunk", [1, 7, 100])
async def test_chunks_may_end_anywhere(server: ApiServer, chunk: int) -> None:
    server.chunk = chunk
    async with WatchedCluster().running() as watched:
        for number in range(5):
            server.store("nodes", node(f"nöde-{number}"))
            server.store("pods", pod(f"wéb-{number}"))
        await until(lambda: len(watched.sink.nodes) == len(watched.sink.pods) == 5)
        assert watched.failures == []


async def test_what_comes_close_together_is_read_at_once(server: ApiServer) -> None:
    async with WatchedCluster(replace(FAST, gather=1.0)).running() as watched:
        await watching(server, "pods")
        server.store("pods", pod("first"))
        await until(lambda: len(watched.sink.pods) == 1)
        for number in range(20):
            server.store("pods", pod(f"web-{number}"))
            await asyncio.sleep(0.01)
        before = len(watched.sink.pods)
        await until(lambda: len(watched.sink.pods) == 21)
        assert before == 1


async def test_a_server_without_tls_is_watched_as_well() -> None:
    plain = ApiServer()
    watched = WatchedCluster(connection=Connection(plain.configuration()))
    async with plain.running(), watched.running():
        for number in range(20):
            plain.store("pods", pod(f"web-{number}"))
            await asyncio.sleep(0.005)
        await until(lambda: len(watched.sink.pods) == 20)


async def test_a_watch_may_end_with_its_last_event(server: ApiServer) -> None:
    told = pod(resourceVersion="7")
    server.answers["pods", "watch"].extend([lambda: web.Response(body=line("ADDED", told)), None])
    async with WatchedCluster().running() as watched:
        await until(lambda: server.watching["pods"])
        assert ([*watched.sink.pods], watched.failures) == (["uid-web-1"], [])


# Events that are not as they should be


async def test_a_bad_object_is_skipped_and_named(server: ApiServer) -> None:
    async with WatchedCluster().running() as watched:
        server.store("streamshostpools", pool(mode="Sharing"))
        server.store("streamshostpools", pool(metadata={"name": "good", "namespace": "default"}))
        await until(lambda: watched.sink.pools)
        assert ([*watched.sink.pools], watched.findings) == (
            [("default", "good")],
            ['HostPool default/ib-blue: spec.mode: "Sharing" is not one of Shared, Exclusive'],
        )


async def test_a_bad_pod_is_skipped_and_named_and_the_watch_goes_on(server: ApiServer) -> None:
    async with WatchedCluster().running() as watched:
        await watching(server, "pods")
        server.store("pods", pod("poison", spec={"nodeName": "node-a", "containers": "none"}))
        server.store("pods", pod("", uid="uid-1"))
        server.store("pods", pod("good"))
        server.store("pods", pod("finished"))
        server.store("pods", pod("finished", phase="Succeeded"))
        await until(lambda: len(watched.findings) == 2 and [*watched.sink.pods] == ["uid-good"])
        assert (watched.findings, watched.failures, len(server.asked("pods", "list"))) == (
            [
                "Pod default/poison: spec.containers: expected `array | null`, got `str`",
                "Pod default/: metadata.name: missing",
            ],
            [],
            1,
        )


async def test_an_amount_that_is_none_is_named_with_the_pod(server: ApiServer) -> None:
    containers = [{"name": "c", "resources": {"requests": {"cpu": "many"}}}]
    async with WatchedCluster().running() as watched:
        await watching(server, "pods")
        server.store("pods", pod("odd", spec={"nodeName": "node-a", "containers": containers}))
        await until(lambda: watched.findings)
        assert watched.findings == [
            'Pod default/odd: spec.containers[0].resources.requests[cpu]: "many" is not a quantity, it counts as 0'
        ]


async def test_a_pod_without_metadata_is_skipped(server: ApiServer) -> None:
    async with WatchedCluster().running() as watched:
        await watching(server, "pods")
        server.send("pods", line("ADDED", {"spec": {}}))
        await until(lambda: watched.findings)
        assert watched.findings == ["Pod without a name: metadata.name: missing"]


async def test_an_object_that_turns_bad_goes(server: ApiServer) -> None:
    server.store("nodes", node())
    async with WatchedCluster().running() as watched:
        server.store("nodes", node(status={"addresses": {}}))
        await until(lambda: not watched.sink.nodes)
        assert watched.findings == ["Node node-a: status.addresses: expected `array | null`, got `object`"]


async def test_an_object_that_is_none_is_skipped(server: ApiServer) -> None:
    async with WatchedCluster().running() as watched:
        await watching(server, "nodes")
        server.send("nodes", line("ADDED", {"metadata": {"name": ["x"]}}))
        server.store("nodes", node())
        await until(lambda: watched.sink.nodes)
        assert watched.findings == ["Node without a name: metadata.name: expected `str | null`, got `array`"]


async def test_an_event_of_a_type_to_come_is_passed_over(server: ApiServer) -> None:
    async with WatchedCluster().running() as watched:
        await watching(server, "nodes")
        server.send("nodes", line("RENAMED", node("node-x")))
        server.store("nodes", node())
        await until(lambda: watched.sink.nodes)
        assert ([*watched.sink.nodes], watched.failures) == (["node-a"], [])


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        pytest.param(b"<html>\n", "JSON is malformed: invalid character (byte 0)", id="no JSON"),
        pytest.param(b"[]\n", "expected `object`, got `array`", id="no event"),
        pytest.param(b"{}\n", "object missing required field `type`", id="no type"),
        pytest.param(b"\xff\n", "JSON is malformed: invalid character (byte 0)", id="no text"),
        pytest.param(b"x" * (LIMIT + 1), "a line is longer than 4194304 bytes", id="without an end"),
    ],
)
async def test_after_an_unreadable_event_everything_is_listed_again(server: ApiServer, sent: bytes, text: str) -> None:
    async with WatchedCluster().running() as watched:
        await watching(server, "nodes")
        server.send("nodes", sent)
        await until(lambda: len(server.asked("nodes", "list")) == 2)
        assert watched.failures == [f"nodes: an event cannot be read: {text}"]


async def test_an_event_of_an_object_that_is_nested_too_deeply_is_one_like_others(server: ApiServer) -> None:
    async with WatchedCluster().running() as watched:
        await watching(server, "nodes")
        deep = b'{"metadata":{"name":"node-x","resourceVersion":"99"},"x":' + b"[" * 5000 + b"]" * 5000 + b"}"
        server.send("nodes", b'{"type":"ADDED","object":' + deep + b"}\n")
        await until(lambda: watched.sink.nodes)
        assert ([*watched.sink.nodes], watched.failures) == (["node-x"], [])


async def test_an_error_that_something_is_too_old_lists_again(server: ApiServer) -> None:
    server.store("nodes", node("node-a"))
    async with WatchedCluster().running() as watched:
        await watching(server, *PATHS)
        server.muted = True
        server.remove("nodes", "node-a")
        server.store("nodes", node("node-b"))
        server.storage.compact()
        server.muted = False
        server.bookmark("nodes")
        await until(lambda: [*watched.sink.nodes] == ["node-b"])
        assert "nodes: the API server ends the watch: too old resource version" in watched.failures


@pytest.mark.parametrize(
    ("said", "text"),
    [
        pytest.param({"kind": "Status", "code": 500, "message": "etcd"}, "etcd", id="a Status"),
        pytest.param({"kind": "Status"}, "no reason given", id="a Status that says nothing"),
        pytest.param("oops", "no reason given", id="no Status"),
    ],
)
@pytest.mark.parametrize("resource", ["nodes", "pods"])
async def test_after_any_other_error_the_watch_goes_on(
    server: ApiServer, said: object, text: str, resource: str
) -> None:
    async with WatchedCluster().running() as watched:
        await watching(server, resource)
        server.send(resource, line("ERROR", said))
        await until(lambda: len(server.asked(resource, "watch")) == 2)
        assert (len(server.asked(resource, "list")), watched.failures) == (
            1,
            [f"{resource}: the API server ends the watch: {text}"],
        )
