"""Whatever goes wrong on the way: what is known stays, the API server is spared, and in the end all is known again."""

import asyncio
import time

import pytest
from aiohttp import web
from msgspec.structs import replace

from kubeapi.client.configuration import find_configuration
from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError, NotServedError
from tests.apiserver.kubeconfig import Kubeconfig
from tests.apiserver.paths import PATHS
from tests.apiserver.server import TOO_OLD, ApiServer, Seen, status
from tests.cluster.live.watched_cluster import FAST, WatchedCluster, until
from tests.cluster.objects import device_class, node, pool, resource_slice, taint_rule
from webhook.cluster.watch.backoff import Pace
from webhook.cluster.watch.reflector import PATIENCE
from webhook.placement.devices.published.devices import DevicePart

pytestmark = pytest.mark.integration

GONE = "nodes: the API server answers 410: because"


def asked(server: ApiServer) -> list[str]:
    return [request.what for request in server.asked("nodes", "list", "page", "look", "watch")]


async def watching(server: ApiServer) -> None:
    await until(lambda: all(server.watching[resource] for resource in PATHS))


# Too old


async def test_a_watch_that_is_too_old_lists_again(server: ApiServer) -> None:
    server.store("nodes", node("node-a"))
    server.answers["nodes", "watch"].append(lambda: status(410))
    async with WatchedCluster().running() as watched:
        await until(lambda: server.watching["nodes"])
        assert (asked(server), watched.failures) == (["list", "watch", "list", "watch"], [GONE])


async def test_what_vanished_between_two_watches_goes(server: ApiServer) -> None:
    for name in ("node-a", "node-b", "node-c"):
        server.store("nodes", node(name))
    async with WatchedCluster().running() as watched:
        await watching(server)
        await server.stop()
        server.remove("nodes", "node-b")
        server.store("nodes", node("node-d"))
        server.storage.compact()
        await server.start()
        await until(lambda: [*watched.sink.nodes] == ["node-a", "node-c", "node-d"])


@pytest.mark.parametrize("what", ["list", "page", "watch"])
async def test_in_a_storm_lists_keep_their_distance(server: ApiServer, what: str) -> None:
    for number in range(5):
        server.store("nodes", node(f"node-{number}"))
    server.stuck = True
    server.answers["nodes", what].append(lambda: status(410))
    pace = replace(FAST, between_lists=0.1, least=0.001, most=0.002)
    async with WatchedCluster(pace).running(synced=False):
        await until(lambda: len(server.asked("nodes", "list", "look")) > 5)
    first, *_, last = server.asked("nodes", "list", "look")[:6]
    assert last.at - first.at > 0.3  # some milliseconds without the distance


async def test_in_a_storm_pauses_grow(server: ApiServer) -> None:
    server.stuck = True
    server.answers["nodes", "watch"].append(lambda: status(410))
    async with WatchedCluster(replace(FAST, between_lists=0.0, least=0.01, most=10.0)).running() as watched:
        await asyncio.sleep(1.0)
        assert watched.failures == [GONE]
    assert len(server.asked("nodes", "list")) <= 14


def test_by_default_lists_are_a_second_apart() -> None:
    assert Pace().between_lists == 1.0


async def test_after_a_storm_all_is_known(server: ApiServer) -> None:
    server.answers["nodes", "watch"].extend([lambda: status(410)] * 4)
    server.answers["nodes", "list"].extend([None, lambda: status(410), lambda: status(410)])
    async with WatchedCluster().running() as watched:
        server.store("nodes", node("node-b"))
        await until(lambda: server.watching["nodes"])
        await until(lambda: watched.sink.nodes)


async def test_after_an_event_pauses_are_short_again(server: ApiServer) -> None:
    server.answers["nodes", "watch"].extend([lambda: status(410)] * 9)
    async with WatchedCluster(replace(FAST, between_lists=0.0, least=0.001, most=10.0)).running():
        await until(lambda: server.watching["nodes"], limit=10.0)
        lists = len(server.asked("nodes", "list"))
        server.bookmark("nodes")
        server.send("nodes", TOO_OLD)
        await until(lambda: len(server.asked("nodes", "list")) > lists, limit=0.3)


# Silence


async def test_a_watch_without_a_byte_is_given_up(server: ApiServer) -> None:
    async with WatchedCluster(replace(FAST, silence=0.2)).running() as watched:
        await watching(server)
        server.muted = True
        server.store("nodes", node("node-b"))
        await asyncio.sleep(0.05)
        assert not watched.sink.nodes
        await until(lambda: len(server.asked("nodes", "watch")) == 2)
        server.muted = False
        server.store("nodes", node("node-c"))
        await until(lambda: [*watched.sink.nodes] == ["node-b", "node-c"])
        assert "nodes: the API server does not answer: Timeout on reading data from socket" in watched.failures
    assert asked(server)[:4] == ["list", "watch", "look", "watch"]


async def test_bookmarks_keep_a_watch_alive(server: ApiServer) -> None:
    async with WatchedCluster(replace(FAST, silence=0.4)).running() as watched:
        await watching(server)
        for _ in range(6):
            for resource in PATHS:
                server.bookmark(resource)
            await asyncio.sleep(0.1)
        assert watched.failures == []


# The API server comes and goes


async def test_a_restart_needs_no_list(server: ApiServer) -> None:
    server.store("nodes", node("node-a"))
    async with WatchedCluster().running() as watched:
        await watching(server)
        await server.stop()
        await asyncio.sleep(0.1)
        server.store("nodes", node("node-b"))
        assert [*watched.sink.nodes] == ["node-a"]
        await server.start()
        await until(lambda: [*watched.sink.nodes] == ["node-a", "node-b"])
    assert asked(server) == ["list", "watch", "look", "watch"]


async def test_while_it_is_away_what_is_known_stays(server: ApiServer) -> None:
    server.store("nodes", node("node-a"))
    async with WatchedCluster().running() as watched:
        await watching(server)
        await server.stop()
        await asyncio.sleep(0.1)
        assert ([*watched.sink.nodes], watched.cluster.synced, watched.cluster.reason()) == (["node-a"], True, None)


async def test_one_that_was_restored_from_a_backup_is_listed_again(server: ApiServer) -> None:
    server.store("nodes", node("node-a"))
    server.store("nodes", node("node-b"))
    async with WatchedCluster().running() as watched:
        await watching(server)
        await server.stop()
        server.remove("nodes", "node-b")
        server.storage.version = 101
        await server.start()
        await until(lambda: [*watched.sink.nodes] == ["node-a"])
        assert "nodes: the API server went back from resource version 102 to 101" in watched.failures


async def test_after_an_outage_longer_than_its_memory_everything_is_listed(
    server: ApiServer,
) -> None:
    async with WatchedCluster(replace(FAST, horizon=0.1)).running() as watched:
        await watching(server)
        await server.stop()
        await until(lambda: watched.failures)
        await asyncio.sleep(0.2)
        await server.start()
        await until(lambda: server.asked("nodes", "watch")[1:])
    assert asked(server) == ["list", "watch", "list", "watch"]


async def test_it_may_be_away_at_first(server: ApiServer) -> None:
    server.store("nodes", node())
    await server.stop()
    async with WatchedCluster().running(synced=False) as watched:
        await asyncio.sleep(0.1)
        assert not watched.cluster.synced
        await server.start()
        await until(lambda: watched.cluster.synced)
        assert [*watched.sink.nodes] == ["node-a"]


async def test_watches_that_end_at_once_are_a_failure(server: ApiServer) -> None:
    server.watch_seconds = 0.0
    async with WatchedCluster(replace(FAST, brief=1.0)).running() as watched:
        await until(lambda: watched.failures)
        assert "the API server ends watches as soon as they begin" in watched.failures[0]


async def test_it_is_asked_again_when_it_says(server: ApiServer) -> None:
    server.answers["nodes", "list"].append(lambda: web.Response(status=429, headers={"Retry-After": "9"}))
    async with WatchedCluster(replace(FAST, most=0.3)).running():
        pass
    first, second = server.asked("nodes", "list")
    assert 0.3 <= second.at - first.at < 8  # rather than 9 s


# Told


async def test_a_failure_is_told_once_while_it_lasts(server: ApiServer) -> None:
    server.answers["nodes", "list"].extend([lambda: status(500)] * 5)
    async with WatchedCluster().running() as watched:
        assert watched.failures == ["nodes: the API server answers 500: because"]


async def test_a_failure_that_comes_back_is_told_again(server: ApiServer) -> None:
    server.answers["nodes", "watch"].extend([lambda: status(500), None, lambda: status(500)])
    server.watch_seconds = 0.1
    async with WatchedCluster().running() as watched:
        await until(lambda: len(server.asked("nodes", "watch")) == 4)
        assert watched.failures == ["nodes: the API server answers 500: because"] * 2


# Credentials and permissions


async def test_a_token_that_is_replaced_is_taken_up(server: ApiServer, kubeconfig: Kubeconfig) -> None:
    server.tokens = {"Bearer secret"}
    server.watch_seconds = 0.05
    async with WatchedCluster().running() as watched:
        server.tokens = {"Bearer second"}
        kubeconfig.write(token="second")
        server.store("nodes", node())
        await until(lambda: watched.sink.nodes)
        assert watched.failures == []


async def test_a_refused_token_says_so(server: ApiServer) -> None:
    server.tokens = set()
    async with WatchedCluster().running(synced=False) as watched:
        await until(lambda: len(watched.failures) == len(PATHS))
        assert watched.cluster.reason() == "the cluster is not read yet: " + "; ".join(
            f"{resource}: the API server answers 401: Unauthorized" for resource in PATHS
        )


async def test_a_missing_permission_is_named(server: ApiServer) -> None:
    server.stuck = True
    server.answers["streamshostpools", "list"].append(lambda: status(403, "streamshostpools is forbidden"))
    async with WatchedCluster().running(synced=False) as watched:
        await until(
            lambda: watched.failures and all(server.watching[kind] for kind in ("nodes", "pods", "streamsjobs"))
        )
        assert (watched.cluster.synced, watched.cluster.reason()) == (
            False,
            (
                "the cluster is not read yet: streamshostpools: the API server answers 403: streamshostpools is "
                "forbidden (the role needs the verbs list and watch on streamshostpools.streams.ibm.com)"
            ),
        )


async def test_a_permission_that_is_granted_later_is_used(server: ApiServer) -> None:
    server.store("nodes", node())
    server.answers["nodes", "list"].extend([lambda: status(403)] * 3)
    async with WatchedCluster().running() as watched:
        assert [*watched.sink.nodes] == ["node-a"]


# Kinds that are not installed


async def test_a_kind_that_is_not_installed_has_no_objects(server: ApiServer) -> None:
    server.missing = {"streamshostpools", "streamsjobs"}
    async with WatchedCluster().running() as watched:
        assert (watched.cluster.reason(), watched.sink.pools) == (None, {})


async def test_that_a_kind_is_not_installed_is_news_too(server: ApiServer) -> None:
    server.missing = {"streamshostpools"}
    async with WatchedCluster().running() as watched:
        await asyncio.sleep(0.4)
        assert watched.cluster.ages()["streamshostpools"] < 0.3


async def test_a_kind_that_is_installed_later_is_listed(server: ApiServer) -> None:
    server.missing = {"streamshostpools"}
    async with WatchedCluster().running() as watched:
        server.store("streamshostpools", pool())
        server.missing = set()
        await until(lambda: watched.sink.pools)


async def test_a_kind_that_is_not_installed_is_asked_for_now_and_then(
    server: ApiServer,
) -> None:
    server.missing = {"streamshostpools"}
    async with WatchedCluster(replace(FAST, absent=0.2)).running() as watched:
        began = time.monotonic()
        await until(lambda: len(server.asked("streamshostpools", "list")) == 3)
        assert time.monotonic() - began > 0.3
        assert watched.failures == ["streamshostpools: the API server answers 404: Not Found"]
        assert not any(isinstance(told, NotServedError) for told in watched.told)


async def test_device_classes_that_may_not_be_read_are_done_without(server: ApiServer) -> None:
    server.store("deviceclasses", device_class())
    server.answers["deviceclasses", "list"].append(lambda: status(403, "deviceclasses is forbidden"))
    async with WatchedCluster(replace(FAST, absent=0.2)).running() as watched:
        assert (watched.cluster.reason(), watched.sink.devices.found) == (None, {})
        assert watched.failures == [
            (
                "deviceclasses: the API server answers 403: deviceclasses is forbidden (the role needs the verbs list "
                "and watch on deviceclasses.resource.k8s.io)"
            )
        ]
        await until(lambda: watched.sink.devices.found)


@pytest.mark.parametrize("refusal", [403, 404])
async def test_devices_are_known_once_all_their_kinds_can_be_read(server: ApiServer, refusal: int) -> None:
    server.store("resourceslices", resource_slice())
    server.answers["resourceslices", "list"].append(lambda: status(refusal))
    async with WatchedCluster(replace(FAST, absent=0.2)).running() as watched:
        devices = watched.sink.devices
        unread = dict.fromkeys(DevicePart, True) | {DevicePart.SLICES: False}
        assert (watched.cluster.reason(), devices.slices, devices.readable) == (None, {}, unread)
        (failure,) = (told for told in watched.told if isinstance(told, ApiError))
        assert isinstance(failure, NotServedError) is (refusal == 404)
        await until(lambda: devices.slices)
        await until(lambda: devices.readable[DevicePart.SLICES])


async def test_a_kind_that_is_missing_in_one_version_is_asked_for_in_the_next_at_once(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PATHS, "devicetaintrules", PATHS["devicetaintrules"].replace("/v1/", "/v1alpha3/"))
    server.store("devicetaintrules", taint_rule(version="v1alpha3"))
    server.answers["devicetaintrules", "list"].extend([lambda: status(404)] * 2)
    async with WatchedCluster(replace(FAST, between_lists=60)).running() as watched:
        assert [*watched.sink.devices.rules] == ["broken-gpu"]
        assert watched.failures == ["devicetaintrules: the API server answers 404: because"]


async def test_after_the_last_version_the_first_is_asked_for_again(server: ApiServer) -> None:
    server.store("devicetaintrules", taint_rule(version="v1"))
    server.answers["devicetaintrules", "list"].extend([lambda: status(404)] * 3)
    async with WatchedCluster(replace(FAST, absent=0.1)).running() as watched:
        assert (watched.cluster.reason(), watched.sink.devices.rules) == (None, {})
        await until(lambda: watched.sink.devices.rules)


class ServedVersions:
    """The versions in which the API server has device taint rules, with the answer that each of the others gets."""

    def __init__(self, server: ApiServer, **others: int) -> None:
        self.others = others
        self.server = server
        server.before = self.answer
        for version in ("v1", "v1beta2", "v1alpha3"):
            server.put(f"/apis/resource.k8s.io/{version}/devicetaintrules/broken-gpu", taint_rule(version=version))

    async def answer(self, seen: Seen) -> web.StreamResponse | None:
        code = self.others.get(seen.path.split("/")[3]) if seen.resource == "devicetaintrules" else None
        return status(code) if code else None

    def change(self, **others: int) -> None:
        """Serve other versions from now on; watches end."""
        self.others = others
        self.server.send("devicetaintrules", TOO_OLD)

    def lists(self) -> list[str]:
        """The versions of the lists that were asked for."""
        return [seen.path.split("/")[3] for seen in self.server.asked("devicetaintrules", "list")]


async def test_objects_outlive_a_version_that_another_takes_the_place_of_a_moment_later(server: ApiServer) -> None:
    served = ServedVersions(server, v1=404, v1beta2=404)
    async with WatchedCluster(replace(FAST, absent=60.0)).running() as watched:
        await until(lambda: server.watching["devicetaintrules"])
        assert served.lists() == ["v1", "v1beta2", "v1alpha3"]
        gone: list[str] = []
        drop = watched.sink.devices.drop_rule
        watched.sink.devices.drop_rule = lambda name: (gone.append(name), drop(name))[1]  # type: ignore[method-assign]
        served.change(v1=404, v1beta2=404, v1alpha3=404)
        await until(lambda: len(served.lists()) >= 3 + 4)
        served.others = {"v1beta2": 404, "v1alpha3": 404}
        await until(lambda: server.asked("devicetaintrules", "watch")[-1].path.split("/")[3] == "v1")
        assert (gone, [*watched.sink.devices.rules]) == ([], ["broken-gpu"])


async def test_objects_of_a_kind_that_is_removed_in_all_versions_go(server: ApiServer) -> None:
    served = ServedVersions(server, v1=404, v1beta2=404)
    async with WatchedCluster(replace(FAST, absent=60.0)).running() as watched:
        await until(lambda: server.watching["devicetaintrules"])
        served.change(v1=404, v1beta2=404, v1alpha3=404)
        await until(lambda: not watched.sink.devices.rules)
        assert len(served.lists()) == 3 + 3 * 3


@pytest.mark.parametrize("code", [500, 410])
async def test_a_version_that_fails_again_and_again_gives_way_to_another(server: ApiServer, code: int) -> None:
    served = ServedVersions(server, v1=404, v1beta2=404)
    async with WatchedCluster().running() as watched:
        await until(lambda: server.watching["devicetaintrules"])
        served.change(v1beta2=404, v1alpha3=code)
        await until(lambda: served.lists()[-1] == "v1")
        await until(lambda: server.asked("devicetaintrules", "watch")[-1].path.split("/")[3] == "v1")
        assert [*watched.sink.devices.rules] == ["broken-gpu"]
    assert len(served.lists()) <= 3 + PATIENCE + 1


async def test_versions_that_all_fail_are_tried_ever_more_rarely(server: ApiServer) -> None:
    served = ServedVersions(server, v1=404, v1beta2=404)
    async with WatchedCluster(replace(FAST, between_lists=0.0, least=0.001, most=0.002)).running() as watched:
        await until(lambda: server.watching["devicetaintrules"])
        served.change(v1=404, v1beta2=404, v1alpha3=500)
        await until(lambda: served.lists().count("v1alpha3") > 100)
        assert [*watched.sink.devices.rules] == ["broken-gpu"]
        assert served.lists().count("v1beta2") <= 7


@pytest.mark.parametrize("resource", ["nodes", "pods"])
async def test_every_cluster_has_nodes_and_pods(server: ApiServer, resource: str) -> None:
    server.missing = {resource}
    async with WatchedCluster().running(synced=False) as watched:
        await until(lambda: len(server.asked(resource, "list")) == 5)
        assert watched.cluster.reason() == (
            f"the cluster is not read yet: {resource}: the API server answers 404: Not Found"
        )


async def test_objects_outlive_a_server_that_does_not_know_their_kind_yet(
    server: ApiServer,
) -> None:
    server.store("streamshostpools", pool())
    async with WatchedCluster().running() as watched:
        await watching(server)
        server.answers["streamshostpools", "look"].append(lambda: status(404))
        server.answers["streamshostpools", "list"].append(lambda: status(404))
        await server.stop()
        await server.start()
        await until(lambda: len(server.asked("streamshostpools", "list")) == 3)
        assert watched.sink.pools


async def test_objects_of_a_kind_that_was_removed_go(server: ApiServer) -> None:
    server.store("streamshostpools", pool())
    async with WatchedCluster().running() as watched:
        await watching(server)
        server.missing = {"streamshostpools"}
        await server.stop()
        await server.start()
        await until(lambda: not watched.sink.pools)
    assert len(server.asked("streamshostpools", "look", "list")) >= 1 + 3


async def test_a_storm_costs_no_time(server: ApiServer) -> None:
    server.stuck = True
    for resource in PATHS:
        server.answers[resource, "list"].append(lambda: status(410))
    connection = Connection(find_configuration())
    async with WatchedCluster(Pace(), connection=connection).running(synced=False):
        await asyncio.sleep(0.2)
        before = time.process_time()
        await asyncio.sleep(1.0)
        assert (
            time.process_time() - before < 0.6
        )  # a loop would take all of it; of this the server, in the same process, is most
    assert all(len(server.asked(resource, "list")) <= 2 for resource in PATHS)
