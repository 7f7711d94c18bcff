"""What a controller remembers of nodes and pools, for how long, and that it forgets."""

import asyncio

import pytest
from msgspec import structs

from tests.builders import cluster, node, nodes, pool
from tests.controller.virtual_time import clock
from webhook.controller.concurrency import gather_or_cancel
from webhook.controller.hostpools.host_choice import Dismissals, NodeExclusions
from webhook.controller.hostpools.pool_status import State
from webhook.controller.hostpools.status_cache import StatusCache
from webhook.controller.hostpools.strangers import TaintGracePeriod
from webhook.controller.hostpools.triggers import Debounce
from webhook.controller.reconciler_settings import Replacement
from webhook.controller.workqueue.queue import Queue
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.pool import Phase, Pool, PoolHost

NAME = ("default", "p")
A, B = PoolHost(0, "node-a"), PoolHost(1, "node-b")


class TestBarred:
    async def test_a_node_is_barred_for_a_while(self) -> None:
        excluded = NodeExclusions(clock, duration=10)
        excluded.add(NAME, ["node-a"])
        await asyncio.sleep(4)
        excluded.add(NAME, ["node-b"])
        first = excluded.of(NAME)
        await asyncio.sleep(7)
        assert (first, excluded.of(NAME)) == ({"node-a": 6, "node-b": 10}, {"node-b": 3})

    async def test_for_one_pool_alone(self) -> None:
        excluded = NodeExclusions(clock)
        excluded.add(NAME, ["node-a"])
        assert excluded.of(("default", "other")) == {}

    async def test_nothing_is_left_in_the_end(self) -> None:
        excluded = NodeExclusions(clock, duration=10)
        excluded.add(NAME, ["node-a"])
        excluded.add(("default", "q"), ["node-a"])
        excluded.add(("default", "r"), [])
        excluded.end(NAME)
        await asyncio.sleep(11)
        assert (excluded.of(NAME), excluded.of(("default", "q")), vars(excluded)["_until"]) == ({}, {}, {})


class TestSettling:
    async def test_hosts_settle_from_when_they_were_marked(self) -> None:
        settling = TaintGracePeriod(clock)
        settling.begin(NAME, [A])
        await asyncio.sleep(0.4)
        settling.begin(NAME, [B])
        assert (round(settling.left(NAME, [A, B]), 3), round(settling.left(NAME, [A]), 3)) == (1.0, 0.6)

    async def test_hosts_whose_grace_period_has_not_begun_are_unseen(self) -> None:
        settling = TaintGracePeriod(clock)
        before = settling.unseen(NAME, [A, B])
        settling.begin(NAME, [A])
        assert (before, settling.unseen(NAME, [A, B]), settling.unseen(("default", "q"), [A])) == ([A, B], [B], [A])

    async def test_those_that_are_marked_again_settle_again(self) -> None:
        settling = TaintGracePeriod(clock)
        settling.begin(NAME, [A])
        await asyncio.sleep(0.7)
        settling.begin(NAME, [A])
        assert settling.left(NAME, [A]) == 1.0

    async def test_in_the_end_they_have_settled(self) -> None:
        settling = TaintGracePeriod(clock)
        settling.begin(NAME, [A])
        await asyncio.sleep(1.5)
        assert settling.left(NAME, [A]) == 0

    async def test_without_hosts_there_is_nothing_to_wait_for(self) -> None:
        assert TaintGracePeriod(clock).left(NAME, []) == 0

    async def test_nothing_is_left_in_the_end(self) -> None:
        settling = TaintGracePeriod(clock)
        settling.begin(NAME, [A, B])
        settling.left(NAME, [A])
        between = {name: set(hosts) for name, hosts in vars(settling)["_since"].items()}
        settling.end(NAME)
        assert (between, vars(settling)["_since"]) == ({NAME: {"node-a"}}, {})


class TestDismissals:
    CORDONED = (Taint("node.kubernetes.io/unschedulable", effect="NoSchedule"),)
    ASKED = pool(name="p", size=2, tags=["ib"], assigned=["node-a", "node-b"])

    def inventory(self, *, cordoned: bool = True, tagged: bool = True) -> Inventory:
        labels = {"streams.ibm.com/hostpool": "ib"}
        found = node("node-a", taints=self.CORDONED if cordoned else (), labels=labels if tagged else {})
        return cluster([found, node("node-b", labels=labels)], [self.ASKED])

    @pytest.mark.parametrize(
        ("rules", "expected"),
        [
            pytest.param(Replacement(), (set(), None), id="never"),
            pytest.param(Replacement(60), (set(), 60), id="later"),
            pytest.param(Replacement(unlabelled=True), ({0}, None), id="at once, without the tag"),
            pytest.param(Replacement(60, unlabelled=True), ({0}, 60), id="both"),
        ],
    )
    async def test_hosts_are_dismissed_as_the_administrator_wants(
        self, rules: Replacement, expected: tuple[set[int], float | None]
    ) -> None:
        assert Dismissals(rules, clock).of(self.ASKED, self.inventory(tagged=False)) == expected

    async def test_time_counts_from_when_the_trouble_was_seen_first(self) -> None:
        dismissals, found = Dismissals(Replacement(60), clock), []
        for _ in range(3):
            found.append(dismissals.of(self.ASKED, self.inventory()))
            await asyncio.sleep(40)
        assert found == [(set(), 60), (set(), 20), ({0}, None)]

    async def test_from_the_beginning_when_it_passed_meanwhile(self) -> None:
        dismissals, found = Dismissals(Replacement(60), clock), []
        for cordoned in (True, False, True):
            found.append(dismissals.of(self.ASKED, self.inventory(cordoned=cordoned))[1])
            await asyncio.sleep(40)
        assert found == [60, None, 60]

    async def test_other_troubles_do_not_count(self) -> None:
        gone = pool(name="p", size=1, assigned=["node-z"])
        assert Dismissals(Replacement(60, unlabelled=True), clock).of(gone, cluster(nodes(1))) == (set(), None)

    async def test_nothing_is_left_in_the_end(self) -> None:
        dismissals = Dismissals(Replacement(60), clock)
        dismissals.of(self.ASKED, self.inventory())
        dismissals.end(NAME)
        assert vars(dismissals)["_since"] == {}


class TestTold:
    P = pool(name="p", size=1)
    STATE = State(Phase.READY, "HostsAssigned", "it has 1 host", hosts=(A,), ready=1, eligible=3)

    async def test_what_was_said_need_not_be_said_for_ten_minutes(self) -> None:
        told = StatusCache(clock)
        told.note(self.P, self.STATE)
        await asyncio.sleep(100)
        before = told.left(self.P, self.STATE)
        await asyncio.sleep(600)
        assert (before, told.left(self.P, self.STATE)) == (500, 0)

    @pytest.mark.parametrize(
        ("found", "state", "left"),
        [
            pytest.param(pool(name="p", size=2), STATE, 0, id="another spec"),
            pytest.param(P, State(Phase.FAILED, "x", "y"), 0, id="another state"),
            pytest.param(P, State(Phase.READY, "HostsAssigned", "it has 1 host", (A,), 1, 9), 600, id="more nodes"),
            pytest.param(pool(name="q", size=1), STATE, 0, id="another pool"),
        ],
    )
    async def test_anything_else_has_to_be_said(self, found: Pool, state: State, left: float) -> None:
        told = StatusCache(clock)
        told.note(self.P, self.STATE)
        assert told.left(found, state) == left

    async def test_for_a_pool_without_hosts_the_number_of_nodes_counts(self) -> None:
        told = StatusCache(clock)
        told.note(self.P, State(Phase.READY, "Unsized", "", eligible=1))
        assert told.left(self.P, State(Phase.READY, "Unsized", "", eligible=2)) == 0

    WAITS = State(Phase.PENDING, "WaitingForNodes", "it needs 9 hosts and 1 node is eligible", ready=0, eligible=1)
    MORE = State(Phase.PENDING, "WaitingForNodes", "it needs 9 hosts and 2 nodes are eligible", ready=0, eligible=2)

    async def test_of_a_pool_that_waits_the_number_of_nodes_is_said_some_seconds_later(self) -> None:
        told = StatusCache(clock)
        told.note(self.P, self.WAITS)
        await asyncio.sleep(4)
        found = [told.left(self.P, self.WAITS), told.left(self.P, self.MORE)]
        await asyncio.sleep(10)
        assert [*found, told.left(self.P, self.MORE)] == [596, 10, 0]

    async def test_that_it_has_failed_is_said_at_once(self) -> None:
        told = StatusCache(clock)
        told.note(self.P, self.WAITS)
        failed = State(Phase.FAILED, "NotEnoughNodes", self.WAITS.message, ready=0, eligible=1)
        assert told.left(self.P, failed) == 0

    async def test_so_is_what_is_wrong_with_what_it_lists(self) -> None:
        told = StatusCache(clock)
        told.note(self.P, self.WAITS)
        assert told.left(self.P, structs.replace(self.WAITS, degraded=["hosts[0]: x"])) == 0

    async def test_whether_a_pool_waits_still_can_be_asked_without_a_count(self) -> None:
        told = StatusCache(clock)
        unknown = told.roughly(self.P)
        told.note(self.P, self.WAITS)
        await asyncio.sleep(4)
        assert (unknown, told.roughly(self.P), told.roughly(pool(name="p", size=2))) == (0, 6, 0)
        await asyncio.sleep(7)
        assert told.roughly(self.P) == 0

    async def test_that_it_is_so_still_is_good_for_some_seconds_more(self) -> None:
        told = StatusCache(clock)
        told.note(self.P, self.WAITS)
        await asyncio.sleep(20)
        told.left(self.P, self.WAITS)
        assert told.roughly(self.P) == 10

    async def test_a_pool_that_has_hosts_does_not_wait(self) -> None:
        told = StatusCache(clock)
        told.note(self.P, self.STATE)
        assert told.roughly(self.P) == 0

    async def test_nothing_is_left_in_the_end(self) -> None:
        told = StatusCache(clock)
        told.note(self.P, self.STATE)
        told.end(NAME)
        assert told.left(self.P, self.STATE) == 0


class TestRounds:
    async def arrivals(self, count: int, asks: int) -> list[float]:
        queue: Queue[Name] = Queue(clock=clock)
        rounds = Debounce(queue, 2.0)
        for number in range(count):
            rounds.join(("default", str(number)))
        begun, found = clock(), []
        for _ in range(asks):
            rounds.ask()
            await asyncio.sleep(0.5)
        await asyncio.sleep(30)
        while queue.depth:
            found.append(round(30 + asks * 0.5 - queue.oldest, 1))
            await queue.take()
        assert clock() > begun
        return found

    async def test_all_are_looked_at_some_time_after_the_first_question(self) -> None:
        assert await self.arrivals(3, 2) == [2.0, 2.0, 2.0]

    async def test_the_more_they_are_the_later(self) -> None:
        assert set(await self.arrivals(250, 1)) == {5.0}

    async def test_without_a_pool_nothing_is_looked_at(self) -> None:
        assert await self.arrivals(0, 1) == []

    async def test_at_most_once_in_so_many_seconds(self) -> None:
        queue: Queue[Name] = Queue(clock=clock)
        rounds = Debounce(queue, 2.0)
        rounds.join(NAME)
        for _ in range(10):
            rounds.ask()
            await asyncio.sleep(1)
            if queue.depth:
                queue.done(await queue.take())
        assert queue.added == 5

    async def times(self, *spaces: tuple[str, int]) -> dict[str, float]:
        """After how many seconds the pools of namespaces are looked at, so many of each."""
        queue: Queue[Name] = Queue(clock=clock)
        rounds, begun, found = Debounce(queue, 1.0), clock(), dict[str, float]()
        for space, count in spaces:
            for number in range(count):
                rounds.join((space, str(number)))
        rounds.ask()
        for _ in range(sum(count for _, count in spaces)):
            space, _ = await queue.take()
            found[space] = round(clock() - begun, 1)
        return found

    async def test_who_has_few_does_not_wait_for_who_has_many(self) -> None:
        assert await self.times(("many", 300), ("few", 2)) == {"few": 1.0, "many": 6.0}

    async def test_however_many_namespaces_there_are_the_looks_stay_as_many(self) -> None:
        found = await self.times(*((f"team-{number}", 2) for number in range(200)))
        assert set(found.values()) == {200 * 2 / 100}

    async def test_who_has_left_is_not_looked_at(self) -> None:
        queue: Queue[Name] = Queue(clock=clock)
        rounds = Debounce(queue, 2.0)
        for name in (("a", "x"), ("a", "y"), ("b", "x")):
            rounds.join(name)
        rounds.ask()
        for name in (("a", "x"), ("b", "x"), ("c", "x")):
            rounds.leave(name)
        await asyncio.sleep(3)
        assert [await queue.take(), queue.depth] == [("a", "y"), 0]

    async def test_who_comes_later_is_looked_at_when_it_is_asked_for(self) -> None:
        queue: Queue[Name] = Queue(clock=clock)
        rounds = Debounce(queue, 2.0)
        rounds.join(("a", "x"))
        rounds.ask()
        rounds.leave(("a", "x"))
        rounds.join(("b", "x"))
        rounds.ask()
        await asyncio.sleep(3)
        assert [await queue.take(), queue.depth] == [("b", "x"), 0]

    async def test_who_is_to_be_looked_at_already_is_not_put_off(self) -> None:
        queue: Queue[Name] = Queue(clock=clock)
        rounds, found = Debounce(queue, 2.0), list[Name]()
        rounds.join(("a", "x"))
        rounds.ask()
        await asyncio.sleep(1)
        rounds.join(("b", "x"))
        rounds.ask()
        for seconds in (1.5, 1):
            await asyncio.sleep(seconds)
            found.append(await queue.take())
        assert (found, queue.depth) == ([("a", "x"), ("b", "x")], 0)

    async def test_a_namespace_whose_pools_have_left_can_come_again_before_its_time(self) -> None:
        queue: Queue[Name] = Queue(clock=clock)
        rounds = Debounce(queue, 2.0)
        rounds.join(NAME)
        rounds.leave(NAME)
        rounds.join(NAME)
        rounds.ask()
        await asyncio.sleep(3)
        assert queue.depth == 1


class TestTogether:
    async def test_results_come_in_the_order_of_the_questions(self) -> None:
        async def after(seconds: float) -> float:
            await asyncio.sleep(seconds)
            return seconds

        assert await gather_or_cancel(after(seconds) for seconds in (3, 1, 2)) == [3, 1, 2]

    async def test_the_first_failure_is_raised_when_all_have_ended(self) -> None:
        ended = []

        async def work(seconds: float) -> None:
            try:
                await asyncio.sleep(seconds)
                raise ValueError(seconds)
            finally:
                ended.append(seconds)

        with pytest.raises(ValueError, match="^1$"):
            await gather_or_cancel(work(seconds) for seconds in (3, 1, 2))
        assert sorted(ended) == [1, 2, 3]
