"""Pools are given their hosts, and keep them."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from kubeapi.client.errors import ApiError, Cause
from tests.apiserver.paths import POOLS, node_path, pod_path, pool_path
from tests.controller.controlled_cluster import LABEL, TAINT, ControlledCluster
from webhook.controller.hostpools.claims import Claims
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.quota import Quota
from webhook.placement.objects.pool import PoolHost
from webhook.placement.text import keys

OTHER = {"key": keys.EXCLUSIVE, "value": "nobody.x", "effect": "NoSchedule"}


class TestAPoolThatIsCreated:
    async def test_gets_its_hosts(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=2)
        await controlled.lead()
        assert (controlled.status()["phase"], controlled.hosts(), controlled.condition()) == (
            "Ready",
            ["0:node-a", "1:node-b"],
            ("True", "HostsAssigned", "it has 2 hosts"),
        )

    async def test_its_hosts_carry_their_index(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=2)
        await controlled.lead()
        assert [controlled.label(name) for name in ("node-a", "node-b", "node-c")] == ["0", "1", None]

    async def test_is_counted(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=2)
        await controlled.lead()
        assert (
            controlled.status()["readyHosts"],
            controlled.status()["eligible"],
            controlled.status()["observedGeneration"],
        ) == (
            2,
            3,
            1,
        )

    async def test_is_held(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=2)
        await controlled.lead()
        assert controlled.kube.pool("p")["metadata"]["finalizers"] == ["streams.ibm.com/hosts"]

    async def test_people_hear_of_its_hosts_once(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=2)
        await controlled.lead(2000)
        assert controlled.said == [("HostsAssigned", "2 hosts: node-a, node-b")]

    async def test_a_literal_one_has_what_it_lists(self, controlled: ControlledCluster) -> None:
        controlled.node("node-d", address="10.0.0.4")
        controlled.pool(hosts=["10.0.0.4", "node-a"])
        await controlled.lead()
        assert (controlled.hosts(), controlled.label("node-d")) == (["0:node-d", "1:node-a"], "0")

    async def test_an_exclusive_one_closes_its_hosts(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=1, mode="Exclusive")
        await controlled.lead()
        assert (controlled.taints("node-a"), controlled.taints("node-b")) == ([TAINT], [])

    async def test_an_exclusive_one_waits_a_second_for_strangers(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=1, mode="Exclusive")
        await controlled.lead(0.9)
        assert (controlled.status()["phase"], controlled.condition(), controlled.label("node-a")) == (
            "Pending",
            ("False", "Settling", "1 host marked; assigned next, unless another pod is found there"),
            "0",
        )

    async def test_an_unsized_one_counts_its_nodes(self, controlled: ControlledCluster) -> None:
        controlled.node("node-d", **{keys.TAG: "ib"})
        controlled.pool(tags=["ib"])
        await controlled.lead()
        assert (controlled.status()["eligible"], controlled.condition(), "readyHosts" in controlled.status()) == (
            1,
            ("True", "Unsized", "its hosts are the nodes that carry its tags and labels"),
            False,
        )

    async def test_an_unsized_one_without_tags_has_all_nodes(self, controlled: ControlledCluster) -> None:
        controlled.pool()
        await controlled.lead()
        assert controlled.condition() == ("True", "Unsized", "all nodes are its hosts")

    async def test_one_that_breaks_rules_has_failed(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=-1)
        await controlled.lead()
        fault = "spec.size: -1 is not between 1 and 5000"
        assert (controlled.status()["phase"], controlled.condition(), controlled.said) == (
            "Failed",
            ("False", "Invalid", fault),
            [("Invalid", fault)],
        )


class TestAPoolWithoutEnoughNodes:
    async def test_has_failed_and_marks_nothing(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=4)
        await controlled.lead()
        reason = "it needs 4 hosts and 3 nodes are eligible"
        assert (controlled.status()["phase"], controlled.condition(), controlled.said, controlled.label("node-a")) == (
            "Failed",
            ("False", "NotEnoughNodes", reason),
            [("NotEnoughNodes", reason)],
            None,
        )

    async def test_gets_its_hosts_as_soon_as_there_is_a_node(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=4)
        await controlled.lead()
        controlled.node("node-d")
        await asyncio.sleep(2)
        assert controlled.hosts() == ["0:node-a", "1:node-b", "2:node-c", "3:node-d"]

    async def test_waits_if_it_is_elastic(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=4, elastic=True)
        await controlled.lead()
        assert (controlled.status()["phase"], controlled.condition()[1], controlled.said) == (
            "Pending",
            "WaitingForNodes",
            [],
        )

    async def test_waits_if_the_installation_is_elastic(self) -> None:
        controlled = ControlledCluster("node-a", policy=Policy(elastic=True))
        controlled.pool(size=4)
        await controlled.lead()
        assert controlled.status()["phase"] == "Pending"
        await controlled.end()

    async def test_waits_once_it_is_made_elastic_and_fails_when_it_is_so_no_more(
        self, controlled: ControlledCluster
    ) -> None:
        controlled.pool(size=4)
        await controlled.lead()
        phases = []
        for elastic in (True, False):
            controlled.kube.change(pool_path("p"), {"spec": {"elastic": elastic}})
            await asyncio.sleep(1)
            phases.append((controlled.status()["phase"], controlled.status()["observedGeneration"]))
        assert phases == [("Pending", 2), ("Failed", 3)]

    async def test_of_two_exclusive_ones_one_gets_the_node(self) -> None:
        controlled = ControlledCluster("node-a")
        for name in ("p", "q"):
            controlled.pool(name, size=1, mode="Exclusive")
        await controlled.lead()
        assert (controlled.hosts("p"), controlled.hosts("q"), controlled.status("q")["phase"]) == (
            ["0:node-a"],
            [],
            "Failed",
        )
        controlled.kube.delete(pool_path("p"))
        await asyncio.sleep(5)
        assert (controlled.hosts("q"), [taint["value"] for taint in controlled.taints("node-a")]) == (
            ["0:node-a"],
            ["default.q"],
        )
        await controlled.end()


class TestALiteralPoolAndOthers:
    async def test_it_does_not_get_what_is_exclusive_to_another(self, controlled: ControlledCluster) -> None:
        controlled.retaint("node-a", OTHER)
        controlled.pool(hosts=["node-a", "node-b"])
        await controlled.lead()
        assert (
            controlled.status()["phase"],
            controlled.condition(),
            controlled.condition("Degraded"),
            controlled.label("node-b"),
        ) == (
            "Failed",
            (
                "False",
                "NotEnoughNodes",
                "it lists 2 hosts and finds 1 node, as 1 host is exclusive to another HostPool",
            ),
            ("True", "HostsInTrouble", 'hosts[0]: "node-a" is exclusive to another HostPool'),
            None,
        )
        controlled.retaint("node-a")
        await asyncio.sleep(2)
        assert (controlled.hosts(), controlled.condition("Degraded")[0]) == (["0:node-a", "1:node-b"], "False")

    async def test_it_is_ready_no_more_when_all_of_its_hosts_are_taken_and_again_when_one_is_free(
        self, controlled: ControlledCluster
    ) -> None:
        controlled.pool(hosts=["node-a", "node-b"])
        await controlled.lead()
        found = []
        for size in (2, 3, 0):
            if size:
                controlled.pool(f"takes-{size}", size=size, mode="Exclusive")
            await asyncio.sleep(5)
            found.append((controlled.status()["phase"], controlled.condition()[1], controlled.status()["readyHosts"]))
            assert (controlled.hosts(), controlled.label("node-a")) == (["0:node-a", "1:node-b"], "0")
            if size:
                controlled.kube.delete(pool_path(f"takes-{size}"))
                await asyncio.sleep(5)
        assert found == [("Ready", "HostsAssigned", 1), ("Failed", "HostsTaken", 0), ("Ready", "HostsAssigned", 2)]
        assert ("HostsTaken", "it has 2 hosts, all of which are exclusive to another HostPool") in controlled.said

    async def test_while_all_are_taken_nothing_is_written(self, controlled: ControlledCluster) -> None:
        controlled.pool(hosts=["node-a"])
        await controlled.lead()
        controlled.pool("takes", size=3, mode="Exclusive")
        await asyncio.sleep(5)
        before = controlled.kube.pool("p")["metadata"]["resourceVersion"], controlled.said.count(controlled.said[-1])
        controlled.node("node-d")
        await asyncio.sleep(60)
        assert controlled.status()["phase"] == "Failed"
        assert (
            controlled.kube.pool("p")["metadata"]["resourceVersion"],
            controlled.said.count(controlled.said[-1]),
        ) == before


class TestTooManyPools:
    @pytest.fixture
    async def small(self) -> AsyncIterator[ControlledCluster]:
        """Two pools may be in a namespace."""
        controlled = ControlledCluster("node-a", "node-b", "node-c", policy=Policy(pool_quota=Quota(2)))
        yield controlled
        await controlled.end()

    async def test_of_a_namespace_those_created_last_get_no_hosts(self, small: ControlledCluster) -> None:
        for name in ("p", "q", "r"):
            small.pool(name, size=1)
        await small.lead()
        assert [small.status(name)["phase"] for name in ("p", "q", "r")] == ["Ready", "Ready", "Failed"]
        assert (small.condition(name="r"), small.hosts("r")) == (
            (
                "False",
                "TooManyPools",
                "namespace default may have 2 HostPools, and already has that many besides this one",
            ),
            [],
        )

    async def test_they_get_them_when_another_one_goes(self, small: ControlledCluster) -> None:
        for name in ("p", "q", "r"):
            small.pool(name, size=1)
        await small.lead()
        small.kube.delete(pool_path("p"))
        await asyncio.sleep(5)
        assert (small.status("r")["phase"], small.hosts("r")) == ("Ready", ["0:node-a"])

    async def test_so_do_those_without_hosts_of_their_own(self, small: ControlledCluster) -> None:
        for name in ("p", "q", "r"):
            small.pool(name)
        await small.lead()
        before = small.status("r")["phase"]
        small.kube.delete(pool_path("p"))
        await asyncio.sleep(5)
        assert (before, small.condition(name="r")[1]) == ("Failed", "Unsized")

    async def test_who_has_hosts_keeps_them_when_fewer_are_allowed(self, small: ControlledCluster) -> None:
        for name in ("p", "q"):
            small.pool(name, size=1)
        await small.lead()
        small.rules = ReconcilerSettings(Policy(pool_quota=Quota(1)))
        await small.lead()
        assert [small.status(name)["phase"] for name in ("p", "q")] == ["Ready", "Ready"]

    async def test_who_is_deleted_goes(self, small: ControlledCluster) -> None:
        for name in ("p", "q", "r"):
            small.pool(name, size=1)
        await small.lead()
        small.kube.delete(pool_path("r"))
        await asyncio.sleep(3)
        assert [each["metadata"]["name"] for each in small.kube.all(POOLS)] == ["p", "q"]


class TestStrangers:
    async def test_a_node_where_another_pod_has_started_is_not_assigned(self, controlled: ControlledCluster) -> None:
        controlled.delays = {"/api/v1/pods": 60.0}
        controlled.pool(size=1, mode="Exclusive")
        await controlled.lead(0.5)
        controlled.pod("stranger", "node-a")
        await asyncio.sleep(3)
        assert (controlled.hosts(), controlled.label("node-a"), controlled.taints("node-a")) == (["0:node-b"], None, [])
        what = "a processing element of another pool or job runs there already; choosing another node"
        assert controlled.said[0] == ("StrangerFound", f"node-a: {what}")

    @pytest.mark.parametrize(
        ("spared", "expected"),
        [(None, "0:node-a"), (frozenset[str](), "0:node-b"), (frozenset({"default"}), "0:node-a")],
        ids=["only of jobs", "of all pods", "of all other namespaces"],
    )
    async def test_an_ordinary_pod_that_slipped_in_counts_if_all_do(
        self, spared: frozenset[str] | None, expected: str
    ) -> None:
        controlled = ControlledCluster("node-a", "node-b", policy=Policy(spared=spared))
        controlled.delays = {"/api/v1/pods": 60.0}
        controlled.pool(size=1, mode="Exclusive")
        await controlled.lead(0.5)
        controlled.pod("web", "node-a", job="")
        await asyncio.sleep(3)
        assert controlled.hosts() == [expected]
        await controlled.end()

    async def test_an_ordinary_pod_is_in_the_way_until_it_has_gone_if_all_count(self) -> None:
        controlled = ControlledCluster("node-a", policy=Policy(spared=frozenset()))
        controlled.pod("web", "node-a", job="")
        controlled.pool(size=1, mode="Exclusive")
        await controlled.lead()
        before = controlled.status()["phase"], controlled.taints("node-a")
        controlled.kube.delete(pod_path("web"))
        await asyncio.sleep(5)
        assert (before, controlled.hosts()) == (("Failed", []), ["0:node-a"])
        await controlled.end()

    async def test_an_ordinary_pod_that_comes_later_is_reported_if_all_count(self) -> None:
        controlled = ControlledCluster("node-a", policy=Policy(spared=frozenset()))
        controlled.pool(size=1, mode="Exclusive")
        await controlled.lead()
        controlled.pod("web", "node-a", job="")
        await asyncio.sleep(1)
        during = controlled.condition("Degraded")
        controlled.kube.delete(pod_path("web"))
        await asyncio.sleep(1)
        assert (during, controlled.condition("Degraded")) == (
            ("True", "HostsInTrouble", "host 0 (node-a) runs an unrelated pod"),
            ("False", "HostsServe", ""),
        )
        await controlled.end()

    async def test_its_own_pods_are_none(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=1, mode="Exclusive")
        await controlled.lead(0.5)
        controlled.pod("own", "node-a", placement="host(p)")
        await asyncio.sleep(3)
        assert controlled.hosts() == ["0:node-a"]

    async def test_the_only_node_is_tried_again_when_the_stranger_has_gone(self) -> None:
        controlled = ControlledCluster("node-a")
        controlled.pool(size=1, mode="Exclusive")
        await controlled.lead(0.5)
        controlled.pod("stranger", "node-a")
        await asyncio.sleep(2)
        before = controlled.status()["phase"]
        controlled.kube.delete(pod_path("stranger"))
        await asyncio.sleep(12)
        assert (before, controlled.hosts()) == ("Failed", ["0:node-a"])
        await controlled.end()

    async def test_one_that_comes_later_is_reported(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=1, mode="Exclusive")
        await controlled.lead()
        controlled.pod("stranger", "node-a")
        await asyncio.sleep(1)
        sentence = "host 0 (node-a) runs a processing element of another pool or job"
        assert (controlled.hosts(), controlled.condition("Degraded"), controlled.said[-1]) == (
            ["0:node-a"],
            ("True", "HostsInTrouble", sentence),
            ("Degraded", sentence),
        )
        controlled.kube.delete(pod_path("stranger"))
        await asyncio.sleep(1)
        assert controlled.condition("Degraded") == ("False", "HostsServe", "")


class TestAHostThatChanges:
    @pytest.mark.parametrize("mark", ["label", "taint"])
    async def test_is_marked_again(self, controlled: ControlledCluster, mark: str) -> None:
        controlled.pool(size=1, mode="Exclusive")
        await controlled.lead()
        if mark == "label":
            controlled.relabel("node-a", **{LABEL: None})
        else:
            controlled.retaint("node-a")
        await asyncio.sleep(0.5)
        assert (controlled.label("node-a"), controlled.taints("node-a")) == ("0", [TAINT])

    async def test_gets_its_index_back(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=1)
        await controlled.lead()
        controlled.relabel("node-a", **{LABEL: "7"})
        await asyncio.sleep(0.5)
        assert controlled.label("node-a") == "0"

    async def test_is_replaced_in_its_place_when_it_is_gone(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=2)
        await controlled.lead()
        controlled.kube.delete(node_path("node-a"))
        await asyncio.sleep(1)
        assert (controlled.hosts(), controlled.label("node-c"), controlled.said[-1]) == (
            ["0:node-c", "1:node-b"],
            "0",
            ("HostReplaced", "host 0: node-c takes the place of node-a"),
        )

    async def test_is_another_host_when_it_is_made_again(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=3)
        await controlled.lead()
        old = controlled.status()["hosts"][0]["uid"]
        controlled.kube.delete(node_path("node-a"))
        new = controlled.node("node-a")["metadata"]["uid"]
        await asyncio.sleep(1)
        assert (controlled.status()["hosts"][0], controlled.label("node-a"), old == new) == (
            {"index": 0, "name": "node-a", "uid": new},
            "0",
            False,
        )

    async def test_leaves_an_empty_place_where_there_is_no_other(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=3)
        await controlled.lead()
        controlled.kube.delete(node_path("node-b"))
        await asyncio.sleep(1)
        sentence = "it needs 3 hosts and 2 nodes are eligible, so a host that is gone has not been replaced"
        assert (controlled.hosts(), controlled.status()["phase"], controlled.condition("Degraded")[2]) == (
            ["0:node-a", "2:node-c"],
            "Ready",
            sentence,
        )
        controlled.node("node-d")
        await asyncio.sleep(2)
        assert (controlled.hosts(), controlled.said[-1]) == (
            ["0:node-a", "1:node-d", "2:node-c"],
            ("HostReplaced", "host 1: node-d takes an empty place"),
        )

    async def test_that_stood_alone_leaves_a_pool_that_has_failed_and_comes_back(self) -> None:
        controlled = ControlledCluster("node-a")
        controlled.pool(size=1)
        await controlled.lead()
        controlled.kube.delete(node_path("node-a"))
        await asyncio.sleep(1)
        before = controlled.status()["phase"], controlled.hosts()
        controlled.node("node-b")
        await asyncio.sleep(2)
        assert (before, controlled.status()["phase"], controlled.hosts()) == (("Failed", []), "Ready", ["0:node-b"])
        await controlled.end()

    async def test_of_a_literal_pool_has_its_place_again_when_it_comes_back(
        self, controlled: ControlledCluster
    ) -> None:
        controlled.pool(hosts=["node-a", "node-b"])
        await controlled.lead()
        controlled.kube.delete(node_path("node-a"))
        await asyncio.sleep(1)
        before = controlled.hosts()
        controlled.node("node-a")
        await asyncio.sleep(2)
        assert (before, controlled.hosts(), controlled.label("node-a")) == (["1:node-b"], ["0:node-a", "1:node-b"], "0")

    async def test_is_given_up_when_it_is_closed_in_another_name(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=1, mode="Exclusive")
        await controlled.lead()
        controlled.retaint("node-a", OTHER)
        await asyncio.sleep(3)
        assert (controlled.hosts(), controlled.label("node-a")) == (["0:node-b"], None)

    async def test_of_a_shared_pool_stays_when_an_exclusive_one_takes_it(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=1)
        controlled.pool("other", size=3, mode="Exclusive")
        await controlled.lead()
        assert (controlled.hosts(), controlled.condition("Degraded")[2], controlled.status()["readyHosts"]) == (
            ["0:node-a"],
            "host 0 (node-a) belongs to an exclusive HostPool",
            0,
        )

    async def test_is_not_replaced_because_of_a_cache_that_is_late(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=1)
        await controlled.lead()
        controlled.kube.delete(node_path("node-a"))
        controlled.delays = {"/api/v1/nodes": 5.0}
        await controlled.lead(0.0)
        new = controlled.node("node-a")["metadata"]["uid"]
        controlled.kube.change(pool_path("p"), {"status": {"hosts": [{"index": 0, "name": "node-a", "uid": new}]}})
        await asyncio.sleep(4)
        assert (controlled.hosts(), controlled.label("node-b")) == (["0:node-a"], None)
        await asyncio.sleep(30)
        assert (controlled.hosts(), controlled.label("node-a")) == (["0:node-a"], "0")


class TestMarksOfOthers:
    async def test_foreign_taints_and_labels_stay(self, controlled: ControlledCluster) -> None:
        foreign = {"key": "dedicated", "value": "x", "effect": "PreferNoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}
        controlled.node("node-0", taints=[foreign], zone="a")
        controlled.pool(size=1, mode="Exclusive", selector={"matchLabels": {"zone": "a"}})
        await controlled.lead()
        assert (controlled.taints("node-0"), controlled.kube.node("node-0")["metadata"]["labels"]["zone"]) == (
            [foreign, TAINT],
            "a",
        )

    @pytest.mark.parametrize("label", ["0", "7", "yes", ""])
    async def test_a_label_on_a_node_that_is_not_a_host_is_taken_off(
        self, controlled: ControlledCluster, label: str
    ) -> None:
        controlled.pool(size=1)
        await controlled.lead()
        controlled.relabel("node-c", **{LABEL: label})
        await asyncio.sleep(1)
        assert (controlled.label("node-c"), controlled.hosts()) == (None, ["0:node-a"])

    async def test_a_taint_without_a_label_is_taken_off_too(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=1, mode="Exclusive")
        await controlled.lead()
        controlled.retaint("node-c", TAINT)
        await asyncio.sleep(1)
        assert controlled.taints("node-c") == []

    async def test_marks_of_an_unsized_pool_are_taken_off(self, controlled: ControlledCluster) -> None:
        controlled.pool()
        await controlled.lead()
        controlled.relabel("node-c", **{LABEL: "0"})
        controlled.retaint("node-b", TAINT)
        await asyncio.sleep(1)
        assert (controlled.label("node-c"), controlled.taints("node-b")) == (None, [])

    async def test_a_shared_pool_opens_a_host_that_is_closed_in_its_name(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=1)
        await controlled.lead()
        controlled.retaint("node-a", TAINT)
        await asyncio.sleep(1)
        assert (controlled.taints("node-a"), controlled.label("node-a")) == ([], "0")


class TestTrouble:
    async def test_a_status_that_another_client_wrote_meanwhile_is_written_again(
        self, controlled: ControlledCluster
    ) -> None:
        controlled.pool(size=1)
        await controlled.lead(0.0)
        controlled.candidate.line.failures += [ApiError(Cause.CONFLICT, "changed")]
        await asyncio.sleep(1)
        assert controlled.hosts() == ["0:node-a"]

    async def test_a_node_that_a_shared_pool_has_got_unseen_is_the_last_choice(
        self, controlled: ControlledCluster
    ) -> None:
        """The shared pool is about to publish the hosts that a leader has claimed for it before this one leads."""
        controlled.delays = {"/api/v1/nodes": 20.0}
        controlled.pool("shared", size=2, tags=["absent"])
        await controlled.lead()
        for name in ("node-a", "node-b"):
            controlled.relabel(name, **{keys.membership("default", "shared"): "0"})
        controlled.pool(size=2, mode="Exclusive")
        await asyncio.sleep(3)
        assert controlled.hosts() == ["0:node-c", "1:node-a"]

    async def test_a_node_that_a_shared_pool_gets_while_it_is_claimed_is_the_last_choice(
        self, controlled: ControlledCluster, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The watch tells of the other pool's label after the choice, and before the node is read for the claim."""
        controlled.pool("shared", size=2, tags=["absent"])
        await controlled.lead()

        async def meanwhile(*_: object) -> list[PoolHost]:
            for name in ("node-a", "node-b"):
                controlled.relabel(name, **{keys.membership("default", "shared"): "0"})
            await asyncio.sleep(0.5)
            return []

        monkeypatch.setattr(Claims, "standing", meanwhile)
        controlled.pool(size=2, mode="Exclusive")
        await asyncio.sleep(5)
        assert controlled.hosts() == ["0:node-c", "1:node-a"]

    async def test_a_node_that_others_take_all_the_time_is_left_alone_for_a_while(
        self, controlled: ControlledCluster
    ) -> None:
        """The caches are too late to know that all three nodes have been taken."""
        controlled.delays = {"/api/v1/nodes": 5.0}
        controlled.pool(size=3)
        await controlled.lead(0.0)
        controlled.kube.delete(node_path("node-a"))
        await asyncio.sleep(3)
        assert (controlled.status()["phase"], controlled.condition()[2], controlled.label("node-b")) == (
            "Failed",
            "it needs 3 hosts and 2 nodes are eligible",
            None,
        )

    async def test_after_five_choices_in_vain_there_is_a_pause(self) -> None:
        names = [f"node-{number}" for number in range(8)]
        controlled = ControlledCluster(*names)
        controlled.delays = {"/api/v1/nodes": 60.0}
        controlled.pool(size=1, mode="Exclusive")
        await controlled.lead(0.0)
        for name in names[:6]:
            controlled.retaint(name, OTHER)
        await asyncio.sleep(3)
        assert controlled.hosts() == ["0:node-6"]
        await controlled.end()

    async def test_a_pool_that_cannot_be_found_although_it_is_known_is_looked_for_again(
        self, controlled: ControlledCluster
    ) -> None:
        controlled.pool(size=1)
        await controlled.lead(0.0)
        controlled.candidate.line.failures += [ApiError(Cause.MISSING, "an API server that has just begun")]
        await asyncio.sleep(4)
        before = controlled.status()
        await asyncio.sleep(4)
        assert (before, controlled.hosts()) == ({}, ["0:node-a"])

    async def test_what_fails_is_tried_again(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=1)
        await controlled.lead(0.0)
        controlled.candidate.line.failures += [ApiError(Cause.BROKEN, "etcd")] * 5
        await asyncio.sleep(2)
        assert controlled.hosts() == ["0:node-a"]
