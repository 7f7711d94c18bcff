"""Every kind is listed in pages, and a list replaces what was known."""

import asyncio

import msgspec
import pytest
from aiohttp import web

from kubeapi.client.configuration import find_configuration
from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError, Cause
from tests.apiserver.server import ApiServer, status
from tests.cluster.live.watched_cluster import FAST, WatchedCluster, until
from tests.cluster.objects import Recorder, job, namespace, node, pod, pool
from webhook.cluster.objects.kinds import NODES
from webhook.cluster.watch.backoff import Pace
from webhook.cluster.watch.list_watch import PAGE_LIMIT, ListWatch
from webhook.cluster.watch.live import LiveCluster
from webhook.placement.objects.node import Node

pytestmark = pytest.mark.integration


def nodes(server: ApiServer, *names: str) -> None:
    for name in names:
        server.store("nodes", node(name))


async def test_every_kind_is_listed(server: ApiServer) -> None:
    server.store("nodes", node())
    server.store("pods", pod())
    server.store("streamshostpools", pool())
    server.store("streamsjobs", job())
    async with WatchedCluster().running() as watched:
        sink = watched.sink
        assert ([*sink.nodes], [*sink.pods], [*sink.pools], [*sink.jobs]) == (
            ["node-a"],
            ["uid-web-1"],
            [("default", "ib-blue")],
            [("default", "parallel")],
        )


async def test_a_list_comes_in_pages(server: ApiServer) -> None:
    nodes(server, *(f"node-{number}" for number in range(7)))
    async with WatchedCluster().running() as watched:
        assert len(watched.sink.nodes) == 7
    asked = server.asked("nodes", "list", "page")
    assert [(request.what, request.query["limit"]) for request in asked] == [
        ("list", "3"),
        ("page", "3"),
        ("page", "3"),
    ]


async def test_pods_that_have_finished_are_not_asked_for(server: ApiServer) -> None:
    for number in range(4):
        server.store("pods", pod(f"web-{number}"))
    async with WatchedCluster().running():
        await until(lambda: server.asked("pods", "watch"))
    selectors = {request.query["fieldSelector"] for request in server.asked("pods", "list", "page", "watch")}
    assert selectors == {"status.phase!=Succeeded,status.phase!=Failed"}


async def test_namespaces_without_the_label_are_not_asked_for(server: ApiServer) -> None:
    server.store("namespaces", namespace())
    server.store("namespaces", namespace("other", "disabled"))
    async with WatchedCluster().running() as watched:
        await until(lambda: server.asked("namespaces", "watch"))
        assert watched.sink.intents.enabled == {"edge"}
    selectors = {request.query["labelSelector"] for request in server.asked("namespaces", "list", "watch")}
    assert selectors == {"streams.ibm.com/inject=enabled"}


async def test_a_namespace_is_enabled_and_disabled_by_its_label(server: ApiServer) -> None:
    server.store("namespaces", namespace(inject=None))
    async with WatchedCluster().running() as watched:
        server.store("namespaces", namespace())
        await until(lambda: watched.sink.intents.enabled == {"edge"})
        server.store("namespaces", namespace(inject="disabled"))
        await until(lambda: not watched.sink.intents.enabled)


async def test_other_kinds_are_asked_for_as_a_whole(server: ApiServer) -> None:
    async with WatchedCluster().running():
        assert not {"fieldSelector", "labelSelector"} & server.asked("nodes", "list")[0].query.keys()


@pytest.mark.usefixtures("server")
async def test_an_empty_cluster_is_known_too() -> None:
    async with WatchedCluster().running() as watched:
        assert (watched.cluster.synced, watched.sink.nodes) == (True, {})


async def test_a_bad_object_among_good_ones_is_skipped_and_named(server: ApiServer) -> None:
    nodes(server, "node-a", "node-c")
    server.store("nodes", node("node-b", spec={"taints": 5}))
    async with WatchedCluster().running() as watched:
        assert ([*watched.sink.nodes], watched.findings) == (
            ["node-a", "node-c"],
            ["Node node-b: spec.taints: expected `array | null`, got `int`"],
        )


class Turns(Recorder):
    """A sink that remembers how often others had had a turn at each change of a node."""

    def __init__(self) -> None:
        super().__init__()
        self.number = 0
        self.seen: set[int] = set()

    def set_node(self, node: Node) -> None:
        self.seen.add(self.number)
        super().set_node(node)

    def remove_node(self, name: str) -> None:
        self.seen.add(self.number)
        super().remove_node(name)

    async def count(self) -> None:
        while True:
            self.number += 1
            await asyncio.sleep(0)


async def test_others_get_their_turn_within_a_page(server: ApiServer) -> None:
    nodes(server, *(f"node-{number}" for number in range(20)))
    watched, sink = WatchedCluster(), Turns()
    watched.cluster = LiveCluster(Connection(find_configuration()), sink, pace=Pace(page=20, batch=2))
    counting = asyncio.create_task(sink.count())
    async with watched.running():
        counting.cancel()
    assert len(sink.seen) == 10


async def test_others_get_their_turn_while_what_a_list_lacks_is_removed(server: ApiServer) -> None:
    nodes(server, *(f"node-{number}" for number in range(20)))
    watched, sink = WatchedCluster(), Turns()
    watched.cluster = LiveCluster(
        Connection(find_configuration()), sink, pace=msgspec.structs.replace(FAST, page=20, batch=2)
    )
    async with watched.running():
        await until(lambda: server.watching["nodes"])
        server.muted = True
        for number in range(20):
            server.remove("nodes", f"node-{number}")
        server.storage.compact()
        sink.seen.clear()
        counting = asyncio.create_task(sink.count())
        server.muted = False
        server.bookmark("nodes")
        await until(lambda: not sink.nodes)
        counting.cancel()
    assert len(sink.seen) == 10


# Lists that fail


async def test_a_list_too_old_to_continue_begins_again(server: ApiServer) -> None:
    nodes(server, *(f"node-{number}" for number in range(7)))
    server.answers["nodes", "page"].extend([None, lambda: status(410)])
    async with WatchedCluster().running() as watched:
        assert len(watched.sink.nodes) == 7
    assert [request.what for request in server.asked("nodes", "list", "page")] == ["list", "page", "page"] * 2


async def test_what_vanished_between_two_beginnings_is_not_kept(server: ApiServer) -> None:
    nodes(server, *(f"node-{number}" for number in range(7)))

    def gone() -> web.Response:
        server.remove("nodes", "node-0")
        return status(410)

    server.answers["nodes", "page"].append(gone)
    async with WatchedCluster().running() as watched:
        assert [*watched.sink.nodes] == [f"node-{number}" for number in range(1, 7)]


async def test_many_that_vanished_are_removed_in_batches(server: ApiServer) -> None:
    """Nothing is removed before the whole list is read, and others get their turn after each batch."""
    nodes(server, *(f"node-{number}" for number in range(7)))

    def gone() -> web.Response:
        for number in range(5):
            server.remove("nodes", f"node-{number}")
        return status(410)

    server.answers["nodes", "page"].extend([None, gone])
    async with WatchedCluster().running() as watched:
        assert [*watched.sink.nodes] == ["node-5", "node-6"]


@pytest.mark.parametrize("what", ["list", "page"])
async def test_a_list_that_fails_begins_again(server: ApiServer, what: str) -> None:
    nodes(server, *(f"node-{number}" for number in range(4)))
    server.answers["nodes", what].append(lambda: status(500, "etcd has no leader"))
    async with WatchedCluster().running() as watched:
        assert (len(watched.sink.nodes), watched.failures) == (
            4,
            ["nodes: the API server answers 500: etcd has no leader"],
        )


@pytest.mark.parametrize(
    ("body", "text"),
    [
        pytest.param("<html>", "a page is not a list: JSON is malformed: invalid character (byte 0)", id="HTML"),
        pytest.param('{"metadata"', "a page is not a list: input data was truncated", id="cut off"),
        pytest.param('{"items": []}', "a page is not a list: it has no resourceVersion", id="no version"),
        pytest.param(
            '{"metadata": null}', "a page is not a list: metadata: expected `object`, got `null`", id="no metadata"
        ),
    ],
)
async def test_a_page_that_is_not_a_list_is_asked_for_again(server: ApiServer, body: str, text: str) -> None:
    nodes(server, "node-a")
    server.answers["nodes", "list"].append(lambda: web.Response(text=body))
    async with WatchedCluster().running() as watched:
        assert ([*watched.sink.nodes], watched.failures) == (["node-a"], [f"nodes: {text}"])


async def test_an_object_that_is_nested_too_deeply_hides_no_others(server: ApiServer) -> None:
    deep = b'{"metadata":{"name":"node-x"},"spec":{"x":' + b"[" * 5000 + b"]" * 5000 + b"}}"
    whole = msgspec.json.encode({"metadata": {"name": "node-b"}})
    body = b'{"metadata":{"resourceVersion":"7"},"items":[' + deep + b"," + whole + b"]}"
    server.answers["nodes", "list"].append(lambda: web.Response(body=body))
    async with WatchedCluster().running() as watched:
        assert ([*watched.sink.nodes], watched.failures) == (["node-x", "node-b"], [])


async def test_a_page_has_an_end(server: ApiServer) -> None:
    nodes(server, "node-a")
    async with Connection(find_configuration()) as connection:
        source = ListWatch(NODES, connection, FAST, page_limit=100)
        with pytest.raises(ApiError, match="^a page has more than 100 bytes$") as caught:
            await source.page()
    assert caught.value.cause is Cause.UNREADABLE


def test_a_page_of_the_largest_objects_is_read() -> None:
    assert Pace().page * 1.5 * 1024 * 1024 == PAGE_LIMIT
