"""Nodes are claimed and released, whoever comes in between."""

import asyncio
from collections.abc import Collection
from typing import Any

import pytest

from kubeapi.client.errors import ApiError, Cause
from tests.apiserver.direct import DirectClient
from tests.apiserver.paths import node_path
from tests.apiserver.storage import Storage
from tests.builders import node, pool
from tests.controller.controller_process import FaultyApi
from tests.controller.virtual_time import clock
from webhook.controller.hostpools.claims import AT_A_TIME, Claimed, Claims
from webhook.controller.hostpools.marks import PoolMark, mark_of
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.node import Node
from webhook.placement.objects.pool import PoolHost

MARK = mark_of(pool(name="p1", size=1, mode="Exclusive"), Policy())
OWN = {"key": "streams.ibm.com/exclusive", "value": "default.p1", "effect": "NoSchedule"}
OTHERS = {**OWN, "value": "default.p2"}
SHARED = mark_of(pool(name="p2", size=1), Policy())
LISTED = mark_of(pool(name="p3", hosts=("node-a",), mode="Exclusive"), Policy())


class ClaimsScenario:
    """Two nodes, and claims to them; ``learned`` is what the cache is told."""

    def __init__(self) -> None:
        self.kube = Storage()
        for name in ("node-a", "node-b"):
            self.kube.create(node_path(name), metadata={"labels": {}}, spec={})
        self.line = FaultyApi(self.kube)
        self.learned: list[bytes] = []
        self.cached: dict[str, Node] = {}
        self.claims = Claims(self.line, self.learned.append)

    async def claim_all(self, hosts: Collection[PoolHost], mark: PoolMark = MARK) -> Claimed:
        return await self.claims.claim_all(hosts, mark, self.cached.get)

    def host(self, name: str = "node-a", index: int = 0, uid: str = "") -> PoolHost:
        return PoolHost(index, name, uid or self.kube.node(name)["metadata"]["uid"])

    def change(self, spec: Any) -> None:
        self.kube.change(node_path("node-a"), {"spec": spec})


@pytest.fixture
async def scenario() -> ClaimsScenario:
    return ClaimsScenario()


async def test_what_is_claimed_carries_the_mark(scenario: ClaimsScenario) -> None:
    hosts = [scenario.host("node-a", 0), scenario.host("node-b", 1)]
    assert await scenario.claim_all(hosts) == Claimed(hosts, [], [])
    assert [scenario.kube.node(host.name)["metadata"]["labels"] for host in hosts] == [
        {MARK.label: "0"},
        {MARK.label: "1"},
    ]
    assert scenario.kube.node("node-b")["spec"] == {"taints": [OWN]}


async def test_a_claim_is_one_write(scenario: ClaimsScenario) -> None:
    await scenario.claim_all([scenario.host()])
    assert len(scenario.line.writes) == 1


async def test_what_carries_the_mark_already_is_not_written_to(scenario: ClaimsScenario) -> None:
    await scenario.claim_all([scenario.host()])
    assert await scenario.claim_all([scenario.host()]) == Claimed([], [], [])
    assert len(scenario.line.writes) == 1


async def test_what_is_read_or_written_is_learned(scenario: ClaimsScenario) -> None:
    for _ in range(2):
        await scenario.claim_all([scenario.host()])
    assert [body == DirectClient(scenario.kube).read(node_path("node-a")) for body in scenario.learned] == [True, True]


async def test_a_node_that_is_gone_is_lost(scenario: ClaimsScenario) -> None:
    gone = PoolHost(0, "node-z", "uid")
    assert await scenario.claim_all([gone, scenario.host()]) == Claimed([scenario.host()], [gone], [])


async def test_another_node_of_that_name_is_lost(scenario: ClaimsScenario) -> None:
    old = scenario.host(uid="old")
    assert (await scenario.claim_all([old]), scenario.line.writes) == (Claimed([], [old], []), [])


async def test_another_pools_node_is_lost(scenario: ClaimsScenario) -> None:
    scenario.change({"taints": [OTHERS]})
    assert (await scenario.claim_all([scenario.host()]), scenario.line.writes) == (
        Claimed([], [scenario.host()], []),
        [],
    )


async def test_a_node_that_another_pool_has_got_unseen_is_not_closed_to_it(scenario: ClaimsScenario) -> None:
    scenario.cached["node-a"] = node("node-a")
    scenario.kube.change(node_path("node-a"), {"metadata": {"labels": {SHARED.label: "0"}}})
    assert await scenario.claim_all([scenario.host()]) == Claimed([], [], [scenario.host()])
    assert (scenario.line.writes, scenario.learned) == ([], [DirectClient(scenario.kube).read(node_path("node-a"))])


@pytest.mark.parametrize("mark", [SHARED, LISTED], ids=["shared", "listed"])
async def test_a_node_is_shared_by_pools_that_may_share_it(scenario: ClaimsScenario, mark: PoolMark) -> None:
    scenario.cached["node-a"] = node("node-a")
    scenario.kube.change(node_path("node-a"), {"metadata": {"labels": {MARK.label: "0"}}})
    assert await scenario.claim_all([scenario.host()], mark) == Claimed([scenario.host()], [], [])


async def test_a_node_of_another_pool_is_claimed_if_it_was_chosen_as_such(scenario: ClaimsScenario) -> None:
    scenario.cached["node-a"] = node("node-a", labels={SHARED.label: "0"})
    scenario.kube.change(node_path("node-a"), {"metadata": {"labels": {SHARED.label: "0"}}})
    assert await scenario.claim_all([scenario.host()]) == Claimed([scenario.host()], [], [])


async def test_a_node_that_is_ours_stays_ours_whoever_wants_it(scenario: ClaimsScenario) -> None:
    await scenario.claim_all([scenario.host()])
    scenario.change({"taints": [OWN, {**OTHERS, "effect": "NoExecute"}]})
    assert await scenario.claim_all([scenario.host()]) == Claimed([], [], [])


async def test_a_concurrent_change_is_kept(scenario: ClaimsScenario) -> None:
    foreign = {"key": "dedicated", "effect": "NoSchedule"}
    comes = iter([lambda: scenario.change({"taints": [foreign]})])
    scenario.line.before = lambda _: next(comes, lambda: None)()
    await scenario.claim_all([scenario.host()])
    assert scenario.kube.node("node-a")["spec"]["taints"] == [foreign, OWN]


async def test_a_node_that_keeps_changing_is_given_up(scenario: ClaimsScenario) -> None:
    number = iter(range(1000))
    scenario.line.before = lambda _: scenario.change({"podCIDR": str(next(number))})
    with pytest.raises(ApiError, match="^node node-a keeps being changed by other clients$") as failure:
        await scenario.claim_all([scenario.host()])
    assert (failure.value.cause, next(number)) == (Cause.BUSY, 40)


async def test_the_first_failure_ends_it(scenario: ClaimsScenario) -> None:
    scenario.line.failures.append(ApiError(Cause.FORBIDDEN, "no"))
    with pytest.raises(ApiError, match="^no$"):
        await scenario.claim_all([scenario.host("node-a"), scenario.host("node-b")])
    requests = scenario.line.requests
    await asyncio.sleep(1)
    assert scenario.line.requests == requests


async def test_so_many_are_asked_at_a_time(scenario: ClaimsScenario) -> None:
    begun = clock()
    await scenario.claim_all([PoolHost(number, f"node-{number}") for number in range(64)])
    assert round(clock() - begun, 3) == 4 * 0.005


async def test_what_is_released_carries_the_mark_no_more(scenario: ClaimsScenario) -> None:
    await scenario.claim_all([scenario.host()])
    await scenario.claims.release_all(["node-a", "node-b", "node-z"], MARK)
    assert (scenario.kube.node("node-a")["metadata"]["labels"], scenario.kube.node("node-a")["spec"]) == (
        {},
        {"taints": []},
    )
    assert len(scenario.line.writes) == 2


async def test_hosts_stand_whose_nodes_are_there(scenario: ClaimsScenario) -> None:
    hosts = [scenario.host("node-a"), scenario.host("node-b", uid="old"), PoolHost(2, "node-z")]
    assert (await scenario.claims.standing(hosts), scenario.line.writes) == ([scenario.host("node-a")], [])


async def test_without_hosts_no_request_is_sent(scenario: ClaimsScenario) -> None:
    assert (await scenario.claim_all([]), scenario.line.requests) == (Claimed([], [], []), 0)


async def test_no_pool_waits_for_the_nodes_of_another() -> None:
    """Of each so many nodes are asked for at a time, and the few of one come before the hundreds of another."""

    class Slow:
        def __init__(self) -> None:
            self.asked: list[str] = []

        async def read(self, path: str) -> bytes:
            self.asked.append(path.rpartition("/")[2])
            await asyncio.sleep(1)
            raise ApiError(Cause.MISSING, "gone")

        async def merge_patch(self, path: str, body: object) -> bytes:
            raise NotImplementedError(path, body)

    nodes = Slow()
    claims = Claims(nodes, lambda _: None)
    many = asyncio.create_task(claims.release_all([f"many-{number}" for number in range(320)], MARK))
    await asyncio.sleep(0.5)
    at_once, begun = len(nodes.asked), clock()
    await claims.release_all(["few"], MARK)
    assert (at_once, round(clock() - begun, 3)) == (AT_A_TIME, 1)
    await many
