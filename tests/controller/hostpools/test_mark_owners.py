"""Marks on nodes, and which changes make a controller look at what."""

import asyncio
from typing import Any

import pytest

from tests.builders import bound_pod, node, pool, sleeper
from tests.controller.virtual_time import clock
from webhook.controller.hostpools.marks import MarkOwners, PoolMark
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.controller.hostpools.triggers import Triggers
from webhook.controller.workqueue.queue import Queue
from webhook.placement.inventory.guests import Guests
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import Guest
from webhook.placement.objects.pool import Phase, Pool
from webhook.placement.text import keys

LABEL, NOBODYS = keys.membership("default", "p"), keys.membership("default", "gone")
OWN, GONE = Taint(keys.EXCLUSIVE, "default.p", "NoSchedule"), Taint(keys.EXCLUSIVE, "default.gone", "NoSchedule")
NAME = ("default", "p")


class TriggersScenario:
    """A cluster that is listened to; :meth:`due` empties the queues after some time."""

    def __init__(self, inventory: Inventory | None = None) -> None:
        self.watched = ObservedInventory(inventory or Inventory())
        self.whose = MarkOwners(self.watched)
        self.pools: Queue[Name] = Queue(clock=clock)
        self.nodes: Queue[str] = Queue(clock=clock)
        self.triggers = Triggers(self.watched, self.whose, self.pools, self.nodes)

    async def due(self, seconds: float = 0.0) -> tuple[list[str], list[str]]:
        """Names of pools and of nodes that are to be looked at."""
        await asyncio.sleep(seconds)
        found: tuple[list[str], list[str]] = [], []
        while self.pools.depth:
            name = await self.pools.take()
            found[0].append(name[1])
            self.pools.done(name)
        while self.nodes.depth:
            node = await self.nodes.take()
            found[1].append(node)
            self.nodes.done(node)
        return found

    async def lead(self) -> None:
        self.triggers.begin()
        await self.due(60)


@pytest.fixture
async def scenario() -> TriggersScenario:
    return TriggersScenario()


def host(name: str = "node-a", **labels: str) -> Node:
    return node(name, labels={LABEL: "0", **labels})


@pytest.mark.parametrize(
    ("found", "pools", "nobodys"),
    [
        pytest.param(None, set(), [], id="no node"),
        pytest.param(node(), set(), [], id="no mark"),
        pytest.param(host(), {NAME}, [], id="a label"),
        pytest.param(node(taints=[OWN]), {NAME}, [], id="a taint"),
        pytest.param(node(labels={NOBODYS: "0"}), set(), [PoolMark(NOBODYS, "")], id="nobody's label"),
        pytest.param(node(taints=[GONE]), set(), [PoolMark("", "default.gone")], id="nobody's taint"),
        pytest.param(
            node(labels={LABEL: "0"}, taints=[GONE]), {NAME}, [PoolMark("", "default.gone")], id="one of each"
        ),
    ],
)
async def test_marks_have_a_pool_or_none(
    scenario: TriggersScenario, found: Node | None, pools: set[Name], nobodys: list[PoolMark]
) -> None:
    scenario.watched.set_pool(pool(name="p", size=1))
    assert (scenario.whose.pools(found), scenario.whose.orphaned(found)) == (pools, nobodys)


async def test_marks_have_no_pool_once_theirs_is_gone(scenario: TriggersScenario) -> None:
    scenario.watched.set_pool(pool(name="p", size=1))
    scenario.watched.remove_pool(*NAME)
    assert scenario.whose.orphaned(node(labels={LABEL: "0"}, taints=[OWN])) == [
        PoolMark(LABEL, ""),
        PoolMark("", "default.p"),
    ]


class TestWhoeverDoesNotLead:
    async def test_only_listens(self, scenario: TriggersScenario) -> None:
        scenario.watched.set_node(node(labels={LABEL: "0", NOBODYS: "0"}))
        scenario.watched.set_pool(pool(name="p", size=1))
        scenario.watched.set_pod(bound_pod())
        assert await scenario.due(60) == ([], [])

    async def test_looks_at_everything_when_he_does(self, scenario: TriggersScenario) -> None:
        scenario.watched.set_node(node("node-a", labels={NOBODYS: "0"}))
        scenario.watched.set_node(host("node-b"))
        scenario.watched.set_pool(pool(name="p", size=1))
        scenario.triggers.begin()
        assert await scenario.due() == (["p"], ["node-a"])


def waiting(name: str, **tweaks: Any) -> Pool:
    return pool(name=name, size=1, **{"phase": Phase.PENDING, **tweaks})


class TestAPool:
    async def test_is_looked_at_when_it_changes(self, scenario: TriggersScenario) -> None:
        await scenario.lead()
        scenario.watched.set_pool(pool(name="p", size=1))
        assert await scenario.due() == (["p"], [])

    async def test_that_lets_go_of_hosts_wakes_those_that_wait(self, scenario: TriggersScenario) -> None:
        scenario.watched.set_pool(waiting("w"))
        scenario.watched.set_pool(pool(name="p", size=1, assigned=["node-a"]))
        await scenario.lead()
        scenario.watched.set_pool(pool(name="p", size=1, assigned=["node-b"]))
        assert [await scenario.due(), await scenario.due(1.1)] == [(["p"], []), (["w"], [])]

    async def test_that_is_gone_leaves_nodes_to_look_at(self, scenario: TriggersScenario) -> None:
        scenario.watched.set_node(host())
        scenario.watched.set_node(node("node-b", taints=[OWN]))
        scenario.watched.set_pool(pool(name="p", size=1))
        await scenario.lead()
        scenario.watched.remove_pool(*NAME)
        assert await scenario.due() == (["p"], ["node-a", "node-b"])


class TestASleeper:
    async def test_that_comes_or_goes_is_the_business_of_exclusive_pools_with_hosts(
        self, scenario: TriggersScenario
    ) -> None:
        scenario.watched.set_pool(pool(name="p", size=1, mode="Exclusive", assigned=["node-a"]))
        scenario.watched.set_pool(pool(name="shared", size=1, assigned=["node-b"]))
        scenario.watched.set_pool(waiting("w", mode="Exclusive"))
        await scenario.lead()
        scenario.watched.set_pod(sleeper())
        assert [await scenario.due(1), await scenario.due(10)] == [([], []), (["p"], [])]
        scenario.watched.remove_pod("uid-of-sleeper")
        assert await scenario.due(11) == (["p"], [])


class TestANode:
    @pytest.mark.parametrize(
        "after",
        [
            pytest.param(node(), id="loses the label"),
            pytest.param(host(), id="loses the taint"),
            pytest.param(node(labels={LABEL: "1"}, taints=[OWN]), id="gets another index"),
            pytest.param(None, id="is gone"),
        ],
    )
    async def test_that_loses_a_mark_is_its_pools_business_at_once(
        self, scenario: TriggersScenario, after: Node | None
    ) -> None:
        scenario.watched.set_pool(pool(name="p", size=1, assigned=["node-a"]))
        scenario.watched.set_node(node(labels={LABEL: "0"}, taints=[OWN]))
        await scenario.lead()
        if after is None:
            scenario.watched.remove_node("node-a")
        else:
            scenario.watched.set_node(after)
        assert await scenario.due() == (["p"], [])

    async def test_that_changes_otherwise_is_so_soon(self, scenario: TriggersScenario) -> None:
        scenario.watched.set_pool(pool(name="p", size=1, assigned=["node-a"]))
        scenario.watched.set_node(host())
        await scenario.lead()
        scenario.watched.set_node(host(zone="a"))
        assert [await scenario.due(), await scenario.due(0.2)] == [([], []), (["p"], [])]

    async def test_with_the_mark_of_no_pool_is_looked_at(self, scenario: TriggersScenario) -> None:
        await scenario.lead()
        scenario.watched.set_node(node(taints=[GONE]))
        assert await scenario.due() == ([], ["node-a"])

    @pytest.mark.parametrize(
        ("found", "seconds"),
        [
            pytest.param(waiting("w"), 1, id="pending"),
            pytest.param(waiting("w", phase=Phase.FAILED), 1, id="failed"),
            pytest.param(waiting("w", phase=Phase.RELEASING), 1, id="releasing"),
            pytest.param(waiting("w", phase=Phase.READY), 1, id="with an empty place"),
            pytest.param(pool(name="w", hosts=["a"]), 1, id="a literal one with an empty place"),
            pytest.param(pool(name="w"), 10, id="unsized"),
        ],
    )
    async def test_matters_to_pools_that_wait_or_count(
        self, scenario: TriggersScenario, found: Pool, seconds: float
    ) -> None:
        scenario.watched.set_pool(found)
        await scenario.lead()
        scenario.watched.set_node(node())
        assert [await scenario.due(seconds - 0.1), await scenario.due(0.2)] == [([], []), (["w"], [])]

    @pytest.mark.parametrize(
        "found",
        [
            pytest.param(waiting("w", phase=Phase.READY, assigned=["node-z"]), id="a complete one"),
            pytest.param(Pool("default", "w", "", phase=Phase.FAILED), id="one that nobody can read"),
        ],
    )
    async def test_does_not_matter_to_others(self, scenario: TriggersScenario, found: Pool) -> None:
        scenario.watched.set_pool(found)
        await scenario.lead()
        scenario.watched.set_node(node())
        assert await scenario.due(60) == ([], [])


class TestAPod:
    async def test_on_a_host_is_its_pools_business_soon(self, scenario: TriggersScenario) -> None:
        scenario.watched.set_pool(pool(name="p", size=1, assigned=["node-a"]))
        scenario.watched.set_node(host())
        await scenario.lead()
        scenario.watched.set_pod(bound_pod())
        assert [await scenario.due(), await scenario.due(0.2)] == [([], []), (["p"], [])]

    async def test_of_others_is_left_alone(self, scenario: TriggersScenario) -> None:
        scenario.watched.set_pool(pool(name="p", size=1, assigned=["node-a"]))
        scenario.watched.set_node(host())
        await scenario.lead()
        scenario.watched.set_pod(bound_pod(job=""))
        assert await scenario.due(60) == ([], [])

    async def test_of_others_is_its_pools_business_where_all_are_strangers(self) -> None:
        scenario = TriggersScenario(Inventory([]))
        scenario.watched.set_pool(pool(name="p", size=1, assigned=["node-a"]))
        scenario.watched.set_node(host())
        await scenario.lead()
        scenario.watched.set_pod(bound_pod(job="", uid="u"))
        first = await scenario.due(60)
        scenario.watched.remove_pod("u")
        assert [first, await scenario.due(60)] == [(["p"], []), (["p"], [])]

    async def test_that_tolerates_its_taint_is_its_pools_business(self) -> None:
        scenario = TriggersScenario(Inventory(guests=Guests(())))
        scenario.watched.set_pool(pool(name="p", size=1, assigned=["node-a"]))
        scenario.watched.set_node(host())
        await scenario.lead()
        scenario.watched.set_pod(bound_pod(job="", uid="u", guest=Guest("DaemonSet/agent", ("NoSchedule",))))
        first = await scenario.due(60)
        scenario.watched.remove_pod("u")
        assert [first, await scenario.due(60)] == [(["p"], []), (["p"], [])]

    async def test_that_ends_makes_room_for_pools_that_wait(self, scenario: TriggersScenario) -> None:
        scenario.watched.set_pool(waiting("w"))
        scenario.watched.set_pod(bound_pod())
        await scenario.lead()
        scenario.watched.set_pod(bound_pod(terminating=True))
        first = await scenario.due(1.1)
        scenario.watched.remove_pod("uid-of-parallel-parallel-1-node-a")
        assert [first, await scenario.due(1.1)] == [(["w"], []), (["w"], [])]

    async def test_that_begins_does_not(self, scenario: TriggersScenario) -> None:
        scenario.watched.set_pool(waiting("w"))
        await scenario.lead()
        scenario.watched.set_pod(bound_pod())
        assert await scenario.due(60) == ([], [])


async def test_pools_of_one_node_are_looked_at_in_the_order_of_their_names(scenario: TriggersScenario) -> None:
    """What they do depends on that order, and would else be another thing in each process."""
    names = [f"p{number}" for number in range(9)]
    for name in reversed(names):
        scenario.watched.set_pool(pool(name=name, size=1))
    marked = node(labels={keys.membership("default", name): "0" for name in reversed(names)})
    await scenario.lead()
    scenario.watched.set_node(marked)
    of_node, of_round = await scenario.due(), await scenario.due(5)
    scenario.watched.set_pod(bound_pod("node-a"))
    of_pod = await scenario.due(0.5)
    assert (of_node[0], of_round[0], of_pod[0]) == (names, names, names)
