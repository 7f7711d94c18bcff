"""A live cluster says what it knows, how old that is, and why nothing can be decided yet."""

import asyncio
import re

import pytest
from msgspec.structs import replace

from kubeapi.client.configuration import find_configuration
from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError
from tests.apiserver.paths import PATHS
from tests.apiserver.server import ApiServer, status
from tests.cluster.live.watched_cluster import FAST, WatchedCluster, until
from tests.cluster.objects import (
    Recorder,
    claim_template,
    device_class,
    intent,
    job,
    namespace,
    node,
    node_topology,
    pod,
    pool,
    resource_claim,
    resource_slice,
    taint_rule,
)
from webhook.cluster.objects.kinds import NODES
from webhook.cluster.objects.report import Finding, Report
from webhook.cluster.watch.backoff import Pace
from webhook.cluster.watch.live import STALE, LiveCluster
from webhook.placement.inventory.inventory import Inventory

pytestmark = pytest.mark.integration


@pytest.mark.usefixtures("server")
async def test_before_it_runs_nothing_is_known() -> None:
    cluster = WatchedCluster().cluster
    assert (cluster.synced, cluster.reason()) == (
        False,
        (
            "the cluster is not read yet: nodes: being listed; pods: being listed; streamshostpools: being listed; "
            "streamsjobs: being listed; streamshpaintents: being listed; namespaces: being listed; "
            "deviceclasses: being listed; resourceslices: being listed; resourceclaims: being listed; "
            "resourceclaimtemplates: being listed; devicetaintrules: being listed; "
            "noderesourcetopologies: being listed; limitranges: being listed; runtimeclasses: being listed; "
            "priorityclasses: being listed"
        ),
    )


@pytest.mark.usefixtures("server")
async def test_it_is_ready_when_every_kind_is_listed() -> None:
    async with WatchedCluster().running() as watched:
        assert (watched.cluster.synced, watched.cluster.reason()) == (True, None)


async def test_one_kind_that_is_not_listed_is_enough_not_to_be_ready(server: ApiServer) -> None:
    server.stuck = True
    server.answers["pods", "list"].append(lambda: status(500, "etcd"))
    async with WatchedCluster().running(synced=False) as watched:
        await until(lambda: all(server.watching[resource] for resource in PATHS if resource != "pods"))
        await until(lambda: watched.failures)
        assert watched.cluster.reason() == ("the cluster is not read yet: pods: the API server answers 500: etcd")


async def test_it_stays_ready_while_something_is_listed_again(server: ApiServer) -> None:
    server.answers["nodes", "watch"].append(lambda: status(410))
    async with WatchedCluster().running() as watched:
        server.stuck = True
        server.answers["nodes", "list"].append(lambda: status(500))
        await until(lambda: len(server.asked("nodes", "list")) > 3)
        assert watched.cluster.reason() is None


async def test_it_feeds_an_inventory(server: ApiServer) -> None:
    server.store("nodes", node())
    server.store("pods", pod())
    inventory = Inventory()
    watched = WatchedCluster()
    watched.cluster = cluster = LiveCluster(Connection(find_configuration()), inventory, pace=FAST)
    async with watched.running():
        assert (cluster.inventory is inventory, inventory.nodes.capacity.used("cpu", 0)) == (True, 1000)


async def test_it_feeds_only_the_kinds_that_are_wanted(server: ApiServer) -> None:
    watched = WatchedCluster()
    watched.cluster = LiveCluster(Connection(find_configuration()), Recorder(), kinds=(NODES,), pace=FAST)
    async with watched.running():
        assert {request.resource for request in server.seen} == {"nodes"}


# Reports


async def test_the_report_is_told_when_all_is_known(server: ApiServer) -> None:
    server.store("nodes", node())
    server.store("pods", pod())
    server.store("streamshostpools", pool())
    server.store("streamsjobs", job())
    server.store("streamshpaintents", intent())
    server.store("namespaces", namespace())
    server.store("deviceclasses", device_class())
    server.store("resourceslices", resource_slice())
    server.store("resourceclaims", resource_claim())
    server.store("resourceclaimtemplates", claim_template())
    server.store("devicetaintrules", taint_rule())
    server.store("noderesourcetopologies", node_topology())
    async with WatchedCluster().running() as watched:
        assert [str(told) for told in watched.told] == [
            (
                "1 Node, 1 Pod, 1 HostPool, 1 Job, 1 HPAIntent, 1 Namespace, 1 DeviceClass, 1 ResourceSlice, "
                "1 ResourceClaim, 1 ResourceClaimTemplate, 1 DeviceTaintRule, 1 NodeResourceTopology; 0 finished, "
                "0 skipped, 0 ignored"
            )
        ]


async def test_the_report_is_told_again_after_another_list(server: ApiServer) -> None:
    server.answers["nodes", "watch"].append(lambda: status(410))
    async with WatchedCluster().running() as watched:
        await until(lambda: server.watching["nodes"])
        assert [type(told) for told in watched.told].count(Report) == len(server.asked("nodes", "list"))


async def test_a_kind_that_stays_away_is_reported_once(server: ApiServer) -> None:
    server.missing = {"streamsjobs"}
    async with WatchedCluster().running() as watched:
        await until(lambda: len(server.asked("streamsjobs", "list")) == 4)
        assert [type(told) for told in watched.told].count(Report) == 1


async def test_the_report_names_what_is_wrong_now(server: ApiServer) -> None:
    server.store("nodes", node("node-a", status={"addresses": 5}))
    server.store("nodes", node("node-b", spec={"taints": [{}]}))
    async with WatchedCluster().running() as watched:
        report = watched.cluster.report
        assert (report.skipped_count, report.skipped, report.noted_count, report.noted) == (
            1,
            (Finding("", "Node node-a", "status.addresses: expected `array | null`, got `int`"),),
            1,
            (Finding("", "Node node-b", "spec.taints[0].key: missing, the taint is left out"),),
        )
        server.remove("nodes", "node-a")
        server.remove("nodes", "node-b")
        await until(lambda: not watched.sink.nodes)
        assert (watched.cluster.report.skipped, watched.cluster.report.noted_count) == ((), 0)


# Age


@pytest.mark.usefixtures("server")
async def test_every_resource_has_an_age() -> None:
    async with WatchedCluster().running() as watched:
        ages = watched.cluster.ages()
        assert ([*ages], max(ages.values()) < 1.0) == ([*PATHS], True)


async def test_ages_grow_while_nothing_is_heard(server: ApiServer) -> None:
    async with WatchedCluster().running() as watched:
        await until(lambda: server.watching["nodes"])
        await server.stop()
        await asyncio.sleep(0.2)
        assert min(watched.cluster.ages().values()) > 0.15


async def test_a_bookmark_makes_it_young(server: ApiServer) -> None:
    async with WatchedCluster().running() as watched:
        await until(lambda: server.watching["nodes"])
        await asyncio.sleep(0.2)
        server.bookmark("nodes")
        await until(lambda: watched.cluster.ages()["nodes"] < 0.1)


async def test_what_is_too_old_is_not_a_ground_to_decide_on(server: ApiServer) -> None:
    async with WatchedCluster(limit=0.4).running() as watched:
        await until(lambda: all(server.watching[resource] for resource in PATHS))
        for resource in PATHS:
            server.bookmark(resource)
        await until(lambda: watched.cluster.reason() is None)
        await server.stop()
        words = r"the cached state of the cluster is stale: nodes: \d+ s old \(the API server does not answer"
        # Other resources may be too old before nodes are.
        await until(lambda: re.match(words, watched.cluster.reason() or ""))


@pytest.mark.usefixtures("server")
async def test_silence_alone_makes_it_too_old() -> None:
    watched = WatchedCluster(limit=0.2)
    watched.cluster = LiveCluster(Connection(find_configuration()), Recorder(), kinds=(NODES,), pace=FAST, limit=0.2)
    async with watched.running():
        await until(watched.cluster.reason)
        assert watched.cluster.reason() == (
            "the cached state of the cluster is stale: nodes: 0 s old (no update since)"
        )


async def test_it_is_ready_again_when_the_api_server_is_back(server: ApiServer) -> None:
    server.watch_seconds = 0.1
    async with WatchedCluster(limit=0.5).running() as watched:
        await server.stop()
        await until(watched.cluster.reason)
        await server.start()
        await until(lambda: watched.cluster.reason() is None)


def test_by_default_five_minutes_are_too_old() -> None:
    assert Pace().horizon == STALE == 300.0


# The end


@pytest.mark.usefixtures("server")
async def test_a_fault_of_this_program_ends_it() -> None:
    def tell(_: Report | Finding | ApiError) -> None:
        raise ZeroDivisionError("out of order")

    cluster = LiveCluster(Connection(find_configuration()), Recorder(), pace=replace(FAST), tell=tell)
    with pytest.raises(ZeroDivisionError, match="^out of order$"):
        await asyncio.wait_for(cluster.run(), 5.0)


async def test_when_it_is_cancelled_it_lets_go_of_the_api_server(server: ApiServer) -> None:
    async with WatchedCluster().running():
        await until(lambda: server.watching["nodes"])
    await until(lambda: not any(server.watching.values()))
