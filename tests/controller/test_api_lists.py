"""Questions that are put to the API server itself: who is on a host, who uses a pool, which pools there are."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from kubeapi.client.access import Access
from kubeapi.client.configuration import Configuration
from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError, Cause
from kubeapi.client.object_client import ObjectClient
from tests.apiserver.kubeconfig import Given
from tests.apiserver.paths import pod_path, pool_path
from tests.apiserver.storage import Storage
from tests.builders import cluster, pool
from tests.controller.controller_process import FaultyApi
from tests.controller.virtual_time import clock
from webhook.cluster.watch.lists import listed
from webhook.controller.hostpools.orphans import PoolNames
from webhook.controller.hostpools.strangers import hosts_in_use, strangers_on
from webhook.placement.objects.pool import PoolHost
from webhook.placement.text import keys

ASKED = pool("P", name="p", size=2, mode="Exclusive")
HOSTS = [PoolHost(0, "node-a"), PoolHost(1, "node-b")]
CLUSTER = cluster([], [ASKED])
DAEMON_SET = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "logs", "controller": True}


class ListsScenario:
    """Pods on two nodes."""

    def __init__(self) -> None:
        self.kube = Storage()
        self.line = FaultyApi(self.kube)
        self.cluster = CLUSTER
        self._number = 0

    def pod(self, on: str = "node-a", *, placement: str = "", phase: str = "Running", **metadata: Any) -> None:
        self._number += 1
        namespace = metadata.pop("namespace", "default")
        labels = metadata.pop("labels", {keys.JOB: "job"})
        said = {keys.PLACEMENT: placement} if placement else {}
        spec = {"nodeName": on, "containers": []} if on else {"containers": []}
        self.kube.create(
            pod_path(f"pod-{self._number}", namespace),
            metadata={"labels": labels, "annotations": said, **metadata},
            spec=spec,
            status={"phase": phase},
        )

    async def strangers(self) -> list[str]:
        return [host.name for host in await strangers_on(HOSTS, ASKED, self.cluster, self.line)]

    async def in_use(self, **tweaks: Any) -> int:
        asked = pool("P", name="p", size=2, **tweaks)
        return await hosts_in_use(asked, cluster([], [asked]), self.line)


@pytest.fixture
async def scenario() -> ListsScenario:
    return ListsScenario()


class TestStrangers:
    async def test_are_processing_elements_of_others(self, scenario: ListsScenario) -> None:
        scenario.pod("node-b")
        assert await scenario.strangers() == ["node-b"]

    @pytest.mark.parametrize(
        "pod",
        [
            pytest.param({"placement": "host(P)"}, id="its own"),
            pytest.param({"labels": {}}, id="no processing elements"),
            pytest.param({"phase": "Succeeded"}, id="those that have ended"),
            pytest.param({"on": "node-z"}, id="those elsewhere"),
            pytest.param({"annotations": 7}, id="what nobody can read"),
            pytest.param({"name": ""}, id="what has no name"),
        ],
    )
    async def test_are_not(self, scenario: ListsScenario, pod: dict[str, Any]) -> None:
        scenario.pod(**pod)
        assert await scenario.strangers() == []

    @pytest.mark.parametrize(
        ("pod", "expected"),
        [
            pytest.param({"labels": {}}, ["node-a"], id="ordinary ones"),
            pytest.param({}, ["node-a"], id="processing elements"),
            pytest.param({"labels": {}, "placement": "host(P)"}, [], id="its own"),
            pytest.param({"labels": {}, "namespace": "kube-system"}, [], id="those of excluded namespaces"),
            pytest.param({"labels": {}, "ownerReferences": [DAEMON_SET]}, [], id="those of DaemonSets"),
            pytest.param(
                {"labels": {}, "ownerReferences": [{**DAEMON_SET, "apiVersion": "example.com/v1"}]},
                ["node-a"],
                id="those that say they were of one",
            ),
        ],
    )
    async def test_are_where_all_pods_count(
        self, scenario: ListsScenario, pod: dict[str, Any], expected: list[str]
    ) -> None:
        scenario.cluster = cluster([], [ASKED], spared=["kube-system"])
        scenario.pod(**pod)
        assert await scenario.strangers() == expected

    async def test_are_those_about_to_end_as_well(self, scenario: ListsScenario) -> None:
        scenario.pod(deletionTimestamp="2026-01-01T00:00:00Z")
        assert await scenario.strangers() == ["node-a"]

    async def test_are_found_behind_a_hundred_others(self, scenario: ListsScenario) -> None:
        for _ in range(250):
            scenario.pod(placement="host(P)")
        scenario.pod()
        assert (await scenario.strangers(), scenario.line.requests) == (["node-a"], 4)

    async def test_are_looked_for_on_so_many_hosts_at_a_time(self, scenario: ListsScenario) -> None:
        hosts = [PoolHost(number, f"node-{number}") for number in range(64)]
        begun = clock()
        await strangers_on(hosts, ASKED, CLUSTER, scenario.line)
        assert round(clock() - begun, 3) == 4 * 0.01


class TestHostsInUse:
    async def test_run_pods_that_name_the_pool(self, scenario: ListsScenario) -> None:
        for on in ("node-a", "node-a", "node-b"):
            scenario.pod(on, placement="host(P)")
        assert await scenario.in_use() == 2

    @pytest.mark.parametrize(
        "pod",
        [
            pytest.param({"placement": "host(Q)"}, id="of another pool"),
            pytest.param({"placement": "host(P)", "on": ""}, id="that wait"),
            pytest.param({"placement": "host(P)", "phase": "Failed"}, id="that have ended"),
            pytest.param({"placement": "host(P)", "namespace": "other"}, id="of another namespace"),
        ],
    )
    async def test_are_not_those_with_pods(self, scenario: ListsScenario, pod: dict[str, Any]) -> None:
        scenario.pod(**pod)
        assert await scenario.in_use() == 0

    async def test_run_pods_of_no_job_that_name_it(self, scenario: ListsScenario) -> None:
        scenario.pod(placement="host(P)", labels={})
        assert await scenario.in_use() == 1

    @pytest.mark.parametrize(("job", "expected"), [("job", 1), ("another", 0)])
    async def test_of_a_jobs_own_pool_are_that_jobs(self, scenario: ListsScenario, job: str, expected: int) -> None:
        scenario.pod(placement="host(P)")
        assert await scenario.in_use(job=job) == expected


class TestNames:
    async def test_are_those_of_all_pools(self, scenario: ListsScenario) -> None:
        for number in range(12):
            scenario.kube.create(pool_path(f"p{number}", "team"), spec={})
        found = await PoolNames(scenario.line, clock).since(clock())
        assert (set(found), scenario.line.requests) == ({("team", f"p{number}") for number in range(12)}, 3)

    async def test_are_asked_for_again_only_if_the_last_answer_is_too_old(self, scenario: ListsScenario) -> None:
        names = PoolNames(scenario.line, clock)
        moment = clock()
        await asyncio.sleep(1)
        for since in (moment, moment, clock()):
            await names.since(since)
            await asyncio.sleep(1)
        assert scenario.line.requests == 2


class Pages:
    """An API server that has one collection, and tells of every request."""

    def __init__(self) -> None:
        self.queries: list[dict[str, str]] = []
        self.body = ""
        self.url = ""

    async def answer(self, request: web.Request) -> web.Response:
        self.queries.append(dict(request.query))
        following = {} if "continue" in request.query else {"continue": "a+b/c=&d%"}
        return web.Response(text=self.body or json.dumps({"metadata": following, "items": [{"n": len(self.queries)}]}))


@pytest.fixture
async def server() -> AsyncIterator[Pages]:
    pages = Pages()
    app = web.Application()
    app.router.add_get("/api/v1/pods", pages.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.01)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    pages.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield pages
    await runner.cleanup()
    await asyncio.sleep(0.01)


async def asked(server: Pages) -> list[str]:
    async with Connection(Configuration(Given(Access(server=server.url)))) as connection:
        selectors = {"labelSelector": "streams.ibm.com/job", "fieldSelector": "spec.nodeName=a,status.phase!=Failed"}
        return [bytes(item).decode() async for item in listed(ObjectClient(connection), "/api/v1/pods", selectors)]


@pytest.mark.integration
async def test_selectors_and_tokens_arrive_as_they_are(server: Pages) -> None:
    assert await asked(server) == ['{"n": 1}', '{"n": 2}']
    first = {
        "labelSelector": "streams.ibm.com/job",
        "fieldSelector": "spec.nodeName=a,status.phase!=Failed",
        "limit": "100",
    }
    assert server.queries == [first, {**first, "continue": "a+b/c=&d%"}]


@pytest.mark.integration
async def test_what_is_not_a_list_is_a_failure(server: Pages) -> None:
    server.body = "[]"
    with pytest.raises(ApiError, match="^the list cannot be read: expected `object`, got `array`$") as failure:
        await asked(server)
    assert failure.value.cause is Cause.UNREADABLE
