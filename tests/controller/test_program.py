"""The controller as a whole, against a server that keeps objects, lists and watches."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from kubeapi.client.errors import ApiError
from kubeapi.leaderelection.lease_hold import LostError
from kubeapi.leaderelection.lease_timing import LeaseTiming
from tests.apiserver.paths import node_path, pool_path
from tests.apiserver.server import ApiServer
from tests.builders import Json
from webhook.controller.program import TIMING, Controller, LeaseRef
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.placement.inventory.policy import Policy

pytestmark = pytest.mark.integration

LEASE = "/apis/coordination.k8s.io/v1/namespaces/streams/leases/controller"
QUICK = LeaseTiming(lease=1, deadline=0.7, retry=0.1)


@pytest.fixture
async def server() -> AsyncIterator[ApiServer]:
    """Two nodes and a pool."""
    async with ApiServer().running() as server:
        for name in ("node-a", "node-b"):
            server.storage.create(
                node_path(name), metadata={"labels": {}}, spec={}, status={"allocatable": {"cpu": "8"}}
            )
        server.storage.create(pool_path("p"), spec={"size": 1})
        yield server


def controller(server: ApiServer, **more: Any) -> Controller:
    rules, place = ReconcilerSettings(Policy()), LeaseRef("streams", "controller")
    return Controller(server.configuration(), rules, place, **{"timing": QUICK, **more})


@contextlib.asynccontextmanager
async def running(server: ApiServer, **more: Any) -> AsyncIterator[tuple[Controller, "asyncio.Task[None]"]]:
    one = controller(server, **more)
    task = asyncio.create_task(one.run())
    try:
        yield one, task
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError, LostError, ApiError, ZeroDivisionError):
            await task


async def until(what: Callable[[], object], seconds: float = 20.0) -> None:
    async with asyncio.timeout(seconds):
        while not what():  # noqa: ASYNC110 -- seen from outside
            await asyncio.sleep(0.01)


def phase(server: ApiServer) -> str | None:
    found: str | None = (server.storage.pool("p").get("status") or {}).get("phase")
    return found


def holder(server: ApiServer) -> str | None:
    found: Json = server.objects.get(LEASE, {"spec": {}})["spec"]
    holder: str | None = found.get("holderIdentity")
    return holder


async def test_pools_get_their_hosts_and_people_hear_of_it(server: ApiServer) -> None:
    async with running(server):
        await until(lambda: phase(server) == "Ready")
        await until(lambda: any("/events/" in path for path in server.objects))
    [event] = [found for path, found in server.objects.items() if "/events/" in path]
    assert (event["reason"], event["note"], event["regarding"]["name"]) == ("HostsAssigned", "1 host: node-a", "p")


async def test_a_change_is_seen_by_a_watch(server: ApiServer) -> None:
    async with running(server):
        await until(lambda: phase(server) == "Ready")
        server.storage.delete(node_path("node-a"))
        await until(lambda: server.storage.pool("p")["status"]["hosts"][0]["name"] == "node-b")


async def test_whoever_is_told_to_stop_gives_the_lease_back(server: ApiServer) -> None:
    async with running(server) as (one, _):
        await until(lambda: one.election.leading)
        assert holder(server) == one.election.identity
    assert holder(server) == ""


def test_a_lead_ends_before_another_one_can_begin_though_a_clock_runs_slow() -> None:
    assert (TIMING.lease, TIMING.lease / TIMING.deadline) == (12, LeaseTiming().lease / LeaseTiming().deadline)


async def test_one_of_several_leads(server: ApiServer) -> None:
    async with running(server) as (first, _), running(server) as (second, _):
        await until(lambda: phase(server) == "Ready")
        await asyncio.sleep(0.3)
        assert [first.election.leading, second.election.leading].count(True) == 1


async def test_whoever_stands_by_sees_at_once_that_the_lease_is_free(server: ApiServer) -> None:
    slow = LeaseTiming(lease=600, deadline=400, retry=100)
    async with running(server, timing=slow) as (_, first):
        await until(lambda: phase(server) == "Ready")
        async with running(server, timing=slow) as (second, _):
            await until(lambda: server.watching["leases"] == 1)
            await asyncio.sleep(0.3)
            first.cancel()
            await until(lambda: second.election.leading, seconds=10)
            await until(lambda: server.watching["leases"] == 0)


async def test_a_lead_that_is_lost_ends_it(server: ApiServer) -> None:
    async with running(server) as (one, task):
        await until(lambda: one.election.leading)
        lease = server.objects[LEASE]
        server.put(LEASE, {**lease, "spec": {**lease["spec"], "holderIdentity": "somebody"}})
        with pytest.raises(LostError, match="^the lease streams/controller is not ours any more$"):
            await asyncio.wait_for(asyncio.shield(task), 10)


async def test_caches_that_are_too_old_end_it_and_another_may_lead(server: ApiServer) -> None:
    async with running(server, limit=0.5) as (one, task):
        await until(lambda: one.election.leading and one.cluster.synced)
        server.fail_lists()
        with pytest.raises(ApiError, match="^the cached state of the cluster is stale: ") as failure:
            await asyncio.wait_for(asyncio.shield(task), 10)
    assert (holder(server), "nodes: " in str(failure.value)) == ("", True)


async def test_no_reconciler_acts_before_everything_is_known(server: ApiServer) -> None:
    server.fail_lists()
    async with running(server) as (one, _):
        await until(lambda: one.election.leading)
        await asyncio.sleep(0.5)
        assert (one.cluster.synced, phase(server), str(one.reason())[:28]) == (
            False,
            None,
            "the cluster is not read yet:",
        )
        server.fail_lists(failing=False)
        await until(lambda: phase(server) == "Ready")
        assert one.reason() is None


async def test_whoever_cannot_read_the_cluster_lets_another_one_lead(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webhook.controller.program._FILLING", 0.3)
    server.fail_lists()
    async with running(server) as (_, task):
        with pytest.raises(ApiError, match="^the cluster is not read yet: nodes: "):
            await asyncio.wait_for(asyncio.shield(task), 10)
    assert holder(server) == ""


async def test_whoever_stands_by_watches_nothing_and_is_ready(server: ApiServer) -> None:
    async with running(server) as (first, _):
        await until(lambda: phase(server) == "Ready")
        async with running(server) as (second, _):
            await asyncio.sleep(1.5)
            assert (first.election.leading, second.cluster.synced, second.reason()) == (True, False, None)


async def test_whoever_stands_by_watches_before_it_takes_over(server: ApiServer) -> None:
    async with running(server) as (_, task):
        await until(lambda: phase(server) == "Ready")
        async with running(server) as (second, _):
            await asyncio.sleep(0.3)
            server.fail_lists()
            task.cancel()
            await until(lambda: holder(server) == "")
            await asyncio.sleep(0.3)
            assert (second.election.leading, str(second.reason())[:28]) == (False, "the cluster is not read yet:")
            server.fail_lists(failing=False)
            await until(lambda: second.election.leading)
            assert second.cluster.synced


async def test_a_fault_of_the_watching_itself_ends_it(server: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("webhook.cluster.watch.reflector.Reflector.run", broken)
    async with running(server) as (_, task):
        with pytest.raises(ZeroDivisionError):
            await asyncio.wait_for(asyncio.shield(task), 10)


async def test_pools_that_break_rules_are_told_of(server: ApiServer) -> None:
    told: list[str] = []
    server.storage.create(pool_path("broken"), spec={"size": -1})
    async with running(server, tell=lambda what: told.append(str(what))):
        await until(lambda: (server.storage.pool("broken").get("status") or {}).get("phase") == "Failed")
    assert "HostPool default/broken: spec.size: -1 is not between 1 and 5000" in told


async def test_a_candidate_that_does_not_watch_has_no_old_cache(server: ApiServer) -> None:
    async with running(server) as (first, _):
        await until(lambda: phase(server) == "Ready")
        async with running(server) as (second, _):
            await asyncio.sleep(0.2)
            assert (0 < first.cache_age < 60, second.cache_age) == (True, 0)
