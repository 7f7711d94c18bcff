"""What is said of a pool: its status, and the Events that go with a change of it."""

from typing import Any, Literal

import msgspec
import pytest
from msgspec.structs import replace

from kubeapi.client.errors import ApiError, Cause
from tests.apiserver.direct import DirectClient
from tests.apiserver.paths import pool_path
from tests.apiserver.storage import Storage
from tests.builders import bound_pod, cluster, node, nodes, pool, selector, sleeper
from tests.controller.controller_process import FaultyApi, RecordedEvents
from webhook.controller.events.event import EventText
from webhook.controller.hostpools import pool_status
from webhook.controller.hostpools.pool_object import StoredPool, read_pool
from webhook.controller.hostpools.pool_reports import PoolReports, news, stranger
from webhook.controller.hostpools.pool_status import State, status_of
from webhook.placement.inventory.guests import Guests
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.pod import Guest
from webhook.placement.objects.pool import Phase, Pool, PoolHost
from webhook.placement.pools.pool_plan import plan
from webhook.placement.text import keys

Json = dict[str, Any]

NOW, THEN = "2026-02-02T00:00:00Z", "2026-01-01T00:00:00Z"
SECONDS = 1769990400.0
"""``NOW`` in seconds since 1970."""

HOSTS = (PoolHost(0, "node-a", "u-a"), PoolHost(1, "node-b", "u-b"))
READY = State(Phase.READY, "HostsAssigned", "it has 2 hosts", hosts=HOSTS, ready=2, eligible=3)


def stored(status: Any = None, **spec: Any) -> StoredPool:
    metadata = {"name": "p", "namespace": "default", "uid": "u", "resourceVersion": "7", "generation": 3}
    return read_pool(msgspec.json.encode({"metadata": metadata, "spec": spec or {"size": 2}, "status": status}))


def written(state: State, before: Any = None, now: str = NOW) -> Json:
    patch = status_of(stored(before), state, now)
    assert patch is not None
    found: Json = patch["status"]
    return found


def conditions(state: State, before: Any = None) -> dict[str, Json]:
    return {found["type"]: found for found in written(state, before)["conditions"]}


class TestAStatus:
    def test_says_all_of_it_at_the_version_that_was_read(self) -> None:
        assert status_of(stored(), READY, NOW) == {
            "metadata": {"resourceVersion": "7"},
            "status": {
                "name": "p",
                "phase": "Ready",
                "hosts": [
                    {"index": 0, "name": "node-a", "uid": "u-a"},
                    {"index": 1, "name": "node-b", "uid": "u-b"},
                ],
                "readyHosts": 2,
                "eligible": 3,
                "conditions": [
                    {
                        "type": "Ready",
                        "status": "True",
                        "reason": "HostsAssigned",
                        "message": "it has 2 hosts",
                        "lastTransitionTime": NOW,
                        "observedGeneration": 3,
                    },
                    {
                        "type": "Degraded",
                        "status": "False",
                        "reason": "HostsServe",
                        "message": "",
                        "lastTransitionTime": NOW,
                        "observedGeneration": 3,
                    },
                ],
                "observedGeneration": 3,
            },
        }

    def test_that_says_it_already_is_not_written(self) -> None:
        assert status_of(stored(written(READY, now=THEN)), READY, NOW) is None

    def test_without_numbers_is_the_same_as_without_the_fields(self) -> None:
        state = State(Phase.READY, "Unsized", "all nodes are its hosts")
        before = {name: value for name, value in written(state).items() if value not in (None, [])}
        assert status_of(stored(before), state, NOW) is None

    def test_keeps_the_time_of_a_condition_that_did_not_turn(self) -> None:
        state = State(Phase.READY, "HostsAssigned", "it has 1 host", degraded=["one is gone"])
        found = conditions(state, written(READY, now=THEN))
        assert [found[name]["lastTransitionTime"] for name in ("Ready", "Degraded")] == [THEN, NOW]

    def test_gives_a_condition_a_time_that_has_none(self) -> None:
        before = {"conditions": [{"type": "Ready", "status": "True"}]}
        assert conditions(READY, before)["Ready"]["lastTransitionTime"] == NOW

    @pytest.mark.parametrize(
        "there", [[{"type": "X", "status": "True"}], [7, {"type": "X", "status": "True"}]], ids=str
    )
    def test_keeps_the_conditions_of_others(self, there: list[Any]) -> None:
        assert written(READY, {"conditions": there})["conditions"][0] == {"type": "X", "status": "True"}

    def test_says_what_is_wrong_with_hosts(self) -> None:
        state = State(Phase.READY, "HostsAssigned", "it has 2 hosts", degraded=["a is gone", "b is gone"])
        found = conditions(state)["Degraded"]
        assert (found["status"], found["reason"], found["message"]) == (
            "True",
            "HostsInTrouble",
            "a is gone; b is gone",
        )

    def test_says_who_else_runs_on_exclusive_hosts(self) -> None:
        alone = State(Phase.READY, "HostsAssigned", "it has 2 hosts", guests=())
        shared = State(Phase.READY, "HostsAssigned", "it has 2 hosts", guests=("DaemonSet a/x", "Pod b/y"))
        found = [conditions(state)["Exclusive"] for state in (alone, shared)]
        assert [(one["status"], one["reason"], one["message"]) for one in found] == [
            ("True", "NobodyElse", ""),
            (
                "False",
                "OthersTolerate",
                "these tolerate its taint and run on its hosts: DaemonSet a/x, Pod b/y",
            ),
        ]

    def test_names_twenty_of_them(self) -> None:
        many = tuple(f"Pod a/{number}" for number in range(22))
        message = conditions(State(Phase.READY, "x", "", guests=many))["Exclusive"]["message"]
        assert message.endswith("Pod a/18, Pod a/19 and 2 more")

    def test_says_nothing_of_that_where_no_host_is_exclusive(self) -> None:
        assert "Exclusive" not in conditions(READY)

    def test_is_short_enough_to_read(self) -> None:
        message = conditions(State(Phase.FAILED, "x", "y" * 5000))["Ready"]["message"]
        assert message == "y" * 2045 + "..."


def inventory(*given: Pool, **tweaks: Any) -> Inventory:
    return cluster(nodes(3, **tweaks), given)


class TestAState:
    def test_of_an_unsized_pool_counts_tags_and_selector(self) -> None:
        found = cluster([node("node-a", labels={"a": "1", "streams.ibm.com/hostpool": "ib"}), node("node-b")])
        asked = pool(tags=["ib"], selector=selector("a", "Exists"))
        assert pool_status.unsized(asked, found).eligible == 1

    @pytest.mark.parametrize(
        ("elastic", "policy", "expected"),
        [
            (False, Policy(), (Phase.FAILED, "NotEnoughNodes")),
            (True, Policy(), (Phase.PENDING, "WaitingForNodes")),
            (False, Policy(elastic=True), (Phase.PENDING, "WaitingForNodes")),
        ],
    )
    def test_of_a_pool_without_enough_nodes(
        self, policy: Policy, expected: tuple[Phase, str], *, elastic: bool
    ) -> None:
        asked = pool(size=9, elastic=elastic, phase=Phase.PENDING)
        found = pool_status.short(asked, plan(asked, inventory(asked), policy), inventory(asked), policy)
        assert (found.phase, found.reason, found.message, found.eligible, found.ready) == (
            *expected,
            "it needs 9 hosts and 3 nodes are eligible",
            3,
            0,
        )

    @pytest.mark.parametrize(
        ("word", "expected"),
        [
            ("not-ready", (Phase.PENDING, "WaitingForNodes")),
            ("unschedulable", (Phase.FAILED, "NotEnoughNodes")),
        ],
    )
    def test_of_a_pool_whose_nodes_only_have_to_recover(self, word: str, expected: tuple[Phase, str]) -> None:
        there = inventory(taints=[Taint(f"node.kubernetes.io/{word}", "", "NoSchedule")])
        asked = pool(size=3, phase=Phase.PENDING)
        found = pool_status.short(asked, plan(asked, there, Policy()), there, Policy())
        assert (found.phase, found.reason, found.message) == (*expected, "it needs 3 hosts and 0 nodes are eligible")

    def test_of_a_pool_whose_hosts_settle(self) -> None:
        asked = pool(size=2, phase=Phase.PENDING)
        assert pool_status.settling(plan(asked, inventory(asked), Policy())).message == (
            "2 hosts marked; assigned next, unless another pod is found there"
        )

    def test_of_a_pool_counts_hosts_that_serve(self) -> None:
        cordoned = node("node-a", taints=[Taint("node.kubernetes.io/unschedulable", effect="NoSchedule")])
        asked = pool(size=2, assigned=["node-a", "node-b"])
        found = cluster([cordoned, node("node-b")], [asked])
        state = pool_status.ready(asked, plan(asked, found, Policy()), found, Policy())
        assert (state.ready, state.degraded) == (1, ("host 0 (node-a) is cordoned",))

    @pytest.mark.parametrize(
        ("taken", "expected"),
        [
            (0, (Phase.READY, "HostsAssigned", "it has 3 hosts", 3)),
            (
                1,
                (Phase.READY, "HostsAssigned", "it has 3 hosts, 1 of which is exclusive to another HostPool", 2),
            ),
            (
                2,
                (Phase.READY, "HostsAssigned", "it has 3 hosts, 2 of which are exclusive to another HostPool", 1),
            ),
            (
                3,
                (Phase.FAILED, "HostsTaken", "it has 3 hosts, all of which are exclusive to another HostPool", 0),
            ),
        ],
    )
    def test_of_a_pool_whose_hosts_are_others_counts_them(
        self, taken: int, expected: tuple[Phase, str, str, int]
    ) -> None:
        names = ["node-a", "node-b", "node-c"]
        theirs = Taint(keys.EXCLUSIVE, "secret.tenant", "NoSchedule")
        own = {keys.membership("default", "mypool"): "0"}
        there = [node(name, labels=own, taints=[theirs] if at < taken else []) for at, name in enumerate(names)]
        asked = pool(size=None, hosts=names, assigned=names)
        found = cluster(there, [asked])
        state = pool_status.ready(asked, plan(asked, found, Policy()), found, Policy())
        assert (state.phase, state.reason, state.message, state.ready) == expected
        assert list(state.degraded) == [
            f"host {at} ({name}) belongs to an exclusive HostPool" for at, name in enumerate(names[:taken])
        ]

    def test_of_a_pool_whose_only_host_is_another_s(self) -> None:
        own = {keys.membership("default", "mypool"): "0"}
        theirs = node("node-a", labels=own, taints=[Taint(keys.EXCLUSIVE, "secret.tenant", "NoSchedule")])
        asked = pool(size=1, assigned=["node-a"])
        found = cluster([theirs], [asked])
        state = pool_status.ready(asked, plan(asked, found, Policy()), found, Policy())
        assert (state.phase, state.message) == (
            Phase.FAILED,
            "it has 1 host, which is exclusive to another HostPool",
        )

    def test_of_a_literal_pool_names_the_entries_that_are_no_hosts(self) -> None:
        theirs = node("node-a", taints=[Taint(keys.EXCLUSIVE, "secret.tenant", "NoSchedule")])
        asked = pool(size=None, hosts=["node-a", "node-b", "gone"], phase=Phase.PENDING)
        found = cluster([theirs, node("node-b")], [asked])
        state = pool_status.short(asked, plan(asked, found, Policy()), found, Policy())
        assert (state.phase, state.message, list(state.degraded)) == (
            Phase.FAILED,
            "it lists 3 hosts and finds 1 node, as 1 host is exclusive to another HostPool",
            ['hosts[0]: "node-a" is exclusive to another HostPool', 'hosts[2]: "gone" is not a node'],
        )

    def test_of_one_too_many_says_so(self) -> None:
        state = pool_status.surplus("namespace x may have 0 HostPools")
        assert (state.phase, state.reason, state.message, state.hosts) == (
            Phase.FAILED,
            "TooManyPools",
            "namespace x may have 0 HostPools",
            (),
        )

    def test_of_a_pool_with_an_empty_place_says_why(self) -> None:
        asked = pool(size=4, assigned=["node-a", "node-b", "node-c", "gone"])
        found = inventory(asked)
        assert pool_status.ready(asked, plan(asked, found, Policy()), found, Policy()).degraded == (
            "it needs 4 hosts and 3 nodes are eligible, so a host that is gone has not been replaced",
        )

    @pytest.mark.parametrize(("busy", "words"), [(1, "1 host"), (2, "2 hosts")])
    def test_of_a_pool_that_goes_counts_hosts_in_use(self, busy: int, words: str) -> None:
        state = pool_status.releasing(pool(size=1, assigned=["node-a"]), busy)
        assert (state.message, state.hosts, state.ready) == (
            f"pods of the pool still run on {words}",
            (PoolHost(0, "node-a", "uid-of-node-a"),),
            1,
        )

    def test_of_an_exclusive_pool_names_strangers(self) -> None:
        asked = pool(size=1, mode="Exclusive", assigned=["node-a"])
        found = cluster(nodes(1), [asked], [bound_pod("node-a")])
        assert pool_status.ready(asked, plan(asked, found, Policy()), found, Policy()).degraded == (
            "host 0 (node-a) runs a processing element of another pool or job",
        )

    @pytest.mark.parametrize(
        ("policy", "message", "count"),
        [
            (Policy(), "it has 1 host; 1 pending pod tolerates its taint and may be bound to its hosts", 1),
            (Policy(guard_bindings=True), "it has 1 host", 0),
        ],
        ids=["which may come", "which nobody would bind there"],
    )
    def test_of_an_exclusive_pool_counts_sleepers(self, policy: Policy, message: str, count: int) -> None:
        asked = pool(size=1, mode="Exclusive", assigned=["node-a"])
        found = cluster(nodes(1), [asked], [sleeper()])
        state = pool_status.ready(asked, plan(asked, found, policy), found, policy)
        assert (state.message, state.sleepers) == (message, count)

    @pytest.mark.parametrize(("mode", "expected"), [("Exclusive", ("DaemonSet logging/agent",)), ("Shared", None)])
    def test_names_guests_of_an_exclusive_pool(
        self, mode: Literal["Exclusive", "Shared"], expected: tuple[str, ...] | None
    ) -> None:
        asked = pool(size=1, mode=mode, assigned=["node-a"])
        guest = Guest("DaemonSet/agent", ("NoSchedule",))
        there = bound_pod("node-a", job="", pe="", namespace="logging", guest=guest)
        found = cluster(nodes(1), [asked], [there], guests=Guests(()))
        assert pool_status.ready(asked, plan(asked, found, Policy()), found, Policy()).guests == expected


def told(before: Pool | None, state: State) -> list[EventText]:
    return list(news(before, state))


class TestNews:
    def test_a_failure_is_a_warning(self) -> None:
        assert told(pool(size=1), State(Phase.FAILED, "NotEnoughNodes", "none")) == [
            EventText("Warning", "NotEnoughNodes", "none")
        ]

    def test_the_first_hosts_are_named(self) -> None:
        assert told(pool(size=2, phase=Phase.PENDING), READY) == [
            EventText("Normal", "HostsAssigned", "2 hosts: node-a, node-b")
        ]

    def test_sleepers_are_told_of_with_new_hosts_and_not_again(self) -> None:
        state = replace(READY, sleepers=2)
        [_, piece] = told(pool(size=2, phase=Phase.PENDING), state)
        said = "2 pending pods tolerate its taint and may be bound to its hosts: only the setting strict keeps them off"
        assert piece == EventText("Warning", "SleepersWait", said)
        assert told(replace(pool(size=2, phase=Phase.READY), assigned=HOSTS), state) == []

    def test_of_many_ten_are(self) -> None:
        hosts = tuple(PoolHost(index, f"n{index}") for index in range(12))
        [piece] = told(pool(size=12, phase=Phase.FAILED), State(Phase.READY, "HostsAssigned", "", hosts=hosts))
        assert piece.note == "12 hosts: n0, n1, n2, n3, n4, n5, n6, n7, n8, n9 and 2 more"

    def test_a_replacement_names_both(self) -> None:
        assert told(pool(size=2, assigned=["old"]), READY) == [
            EventText("Normal", "HostReplaced", "host 0: node-a takes the place of old"),
            EventText("Normal", "HostReplaced", "host 1: node-b takes an empty place"),
        ]

    def test_of_many_replacements_ten_are_told(self) -> None:
        hosts = tuple(PoolHost(index, f"n{index}") for index in range(12))
        found = told(pool(size=12, assigned=["x"]), State(Phase.READY, "HostsAssigned", "", hosts=hosts))
        assert (len(found), found[-1]) == (11, EventText("Normal", "HostsReplaced", "2 more hosts were replaced"))

    def test_trouble_is_a_warning(self) -> None:
        before = pool(size=1, assigned=["node-a"])
        state = State(Phase.READY, "HostsAssigned", "", hosts=before.assigned, degraded=["x is gone", "y is gone"])
        assert told(before, state) == [EventText("Warning", "Degraded", "x is gone; y is gone")]

    def test_guests_are_told_of(self) -> None:
        before = pool(size=1, assigned=["node-a"])
        state = State(Phase.READY, "HostsAssigned", "", hosts=before.assigned, guests=("DaemonSet a/x",))
        said = "these tolerate its taint and run on its hosts: DaemonSet a/x"
        assert told(before, state) == [EventText("Normal", "OthersTolerate", said)]

    @pytest.mark.parametrize("before", [pool(), None], ids=["unsized", "unreadable"])
    def test_of_a_pool_without_hosts_there_are_none(self, before: Pool | None) -> None:
        assert told(before, State(Phase.READY, "Unsized", "all nodes are its hosts")) == []

    def test_waiting_is_none(self) -> None:
        assert told(pool(size=1), State(Phase.PENDING, "Settling", "")) == []


class TestReports:
    @pytest.fixture
    async def scenario(self) -> tuple[Storage, FaultyApi, RecordedEvents, PoolReports]:
        kube, said = Storage(), RecordedEvents()
        kube.create(pool_path("p"), spec={"size": 2})
        line = FaultyApi(kube)
        return kube, line, said, PoolReports(line, said, now=lambda: SECONDS)

    async def test_what_is_new_is_written_and_told(
        self, scenario: tuple[Storage, FaultyApi, RecordedEvents, PoolReports]
    ) -> None:
        kube, _, said, reports = scenario
        first = await reports.say(read_pool(DirectClient(kube).read(pool_path("p"))), READY)
        again = await reports.say(read_pool(DirectClient(kube).read(pool_path("p"))), READY)
        assert (first, again, kube.pool("p")["status"]["phase"], said.all) == (
            True,
            False,
            "Ready",
            [("HostsAssigned", "2 hosts: node-a, node-b")],
        )

    async def test_what_could_not_be_written_is_not_told(
        self, scenario: tuple[Storage, FaultyApi, RecordedEvents, PoolReports]
    ) -> None:
        kube, line, said, reports = scenario
        line.failures.append(ApiError(Cause.CONFLICT, "changed"))
        with pytest.raises(ApiError, match="^changed$"):
            await reports.say(read_pool(DirectClient(kube).read(pool_path("p"))), READY)
        assert said.all == []

    async def test_a_stranger_is_told_of(
        self, scenario: tuple[Storage, FaultyApi, RecordedEvents, PoolReports]
    ) -> None:
        *_, said, reports = scenario
        reports.tell(stored(), stranger("node-a", "an unrelated pod"))
        what = "an unrelated pod runs there already; choosing another node"
        assert said.all == [("StrangerFound", f"node-a: {what}")]
