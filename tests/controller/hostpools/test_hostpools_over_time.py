"""Pools that are deleted, controllers that end, statuses that people edit, and long times in which nothing happens."""

import asyncio
from typing import Any

import pytest

from kubeapi.client.errors import ApiError, Cause
from tests.apiserver.paths import node_path, pod_path, pool_path
from tests.controller.controlled_cluster import LABEL, TAINT, ControlledCluster
from webhook.controller.reconciler_settings import Replacement
from webhook.placement.text import keys


class TestAPoolThatIsDeleted:
    async def test_lets_go_of_its_hosts_and_of_itself(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=2, mode="Exclusive")
        await controlled.lead()
        controlled.kube.delete(pool_path("p"))
        await asyncio.sleep(1)
        assert (pool_path("p") in controlled.kube.objects, controlled.label("node-a"), controlled.taints("node-a")) == (
            False,
            None,
            [],
        )
        assert controlled.said[-1] == ("Released", "its hosts are free again")

    async def test_waits_for_its_pods(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=2)
        await controlled.lead()
        controlled.pod("own", "node-a", placement="host(p)")
        await asyncio.sleep(1)
        controlled.kube.delete(pool_path("p"))
        await asyncio.sleep(60)
        assert (controlled.status()["phase"], controlled.condition(), controlled.label("node-b")) == (
            "Releasing",
            ("False", "PodsLeft", "pods of the pool still run on 1 host"),
            "1",
        )
        controlled.kube.delete(pod_path("own"))
        await asyncio.sleep(2)
        assert (pool_path("p") in controlled.kube.objects, controlled.label("node-b")) == (False, None)

    async def test_waits_for_pods_that_no_cache_knows_yet(self, controlled: ControlledCluster) -> None:
        controlled.pool(job="job", size=2)
        controlled.delays = {"/api/v1/pods": 20.0}
        await controlled.lead()
        controlled.pod("own", "node-a", placement="host(p)")
        controlled.kube.delete(pool_path("p"))
        await asyncio.sleep(1)
        assert controlled.status()["phase"] == "Releasing"
        controlled.kube.delete(pod_path("own"))
        await asyncio.sleep(60)
        assert pool_path("p") not in controlled.kube.objects

    async def test_while_no_controller_leads_is_released_by_the_next_one(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=2, mode="Exclusive")
        await controlled.lead()
        await controlled.end()
        controlled.kube.delete(pool_path("p"))
        await controlled.lead()
        assert (pool_path("p") in controlled.kube.objects, controlled.taints("node-a")) == (False, [])

    async def test_while_others_hold_it_as_well_gives_its_hosts_back(self, controlled: ControlledCluster) -> None:
        controlled.kube.create(pool_path("p"), metadata={"finalizers": ["example.com/other"]}, spec={"size": 1})
        await controlled.lead()
        controlled.kube.delete(pool_path("p"))
        await asyncio.sleep(1)
        finalizers = controlled.kube.pool("p")["metadata"]["finalizers"]
        assert (finalizers, controlled.label("node-a")) == (["example.com/other"], None)

    async def test_is_released_although_its_spec_cannot_be_read(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=1, mode="Exclusive")
        await controlled.lead()
        await controlled.end()
        controlled.kube.change(pool_path("p"), {"spec": {"size": "none"}})
        controlled.kube.delete(pool_path("p"))
        await controlled.lead()
        assert (pool_path("p") in controlled.kube.objects, controlled.taints("node-a"), controlled.label("node-a")) == (
            False,
            [],
            None,
        )

    async def test_although_it_lost_its_finalizer_leaves_nothing_behind(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=2, mode="Exclusive")
        await controlled.lead()
        controlled.kube.change(pool_path("p"), {"metadata": {"finalizers": None}})
        controlled.kube.delete(pool_path("p"))
        await asyncio.sleep(5)
        assert (controlled.taints("node-a"), controlled.label("node-a"), controlled.label("node-b")) == ([], None, None)

    async def test_between_a_claim_and_its_publication_leaves_nothing_behind(
        self, controlled: ControlledCluster
    ) -> None:
        controlled.pool(size=2, mode="Exclusive")
        await controlled.lead(0.5)
        before = controlled.label("node-a")
        controlled.kube.delete(pool_path("p"))
        await asyncio.sleep(2)
        assert (before, pool_path("p") in controlled.kube.objects, controlled.taints("node-a")) == ("0", False, [])


class TestTheNextController:
    @pytest.mark.parametrize("requests", range(1, 12))
    @pytest.mark.parametrize("obeyed", [False, True], ids=["before it is obeyed", "after it was obeyed"])
    async def test_goes_on_where_the_last_one_ended(
        self, controlled: ControlledCluster, requests: int, *, obeyed: bool
    ) -> None:
        controlled.pool(size=2, mode="Exclusive")
        await controlled.lead(0.0)
        line = controlled.candidate.line
        line.ends, line.obeyed_at_the_end = requests, obeyed
        await asyncio.sleep(5)
        await controlled.lead()
        assert (controlled.hosts(), controlled.taints("node-b"), controlled.taints("node-c")) == (
            ["0:node-a", "1:node-b"],
            [TAINT],
            [],
        )

    async def test_keeps_the_hosts_that_were_marked_though_others_are_better_by_now(
        self, controlled: ControlledCluster
    ) -> None:
        controlled.pool(size=1, mode="Exclusive")
        await controlled.lead(0.5)
        controlled.node("node-0")
        await controlled.lead()
        assert controlled.hosts() == ["0:node-a"]

    async def test_waits_a_second_itself(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=1, mode="Exclusive")
        await controlled.lead(0.9)
        await controlled.lead(0.9)
        assert controlled.status()["phase"] == "Pending"

    async def test_of_two_nodes_with_one_index_keeps_the_first_by_name(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=1)
        for name in ("node-b", "node-c"):
            controlled.relabel(name, **{LABEL: "0"})
        await controlled.lead()
        assert (controlled.hosts(), controlled.label("node-c")) == (["0:node-b"], None)

    async def test_closes_a_node_that_carries_the_label_and_not_the_taint(self, controlled: ControlledCluster) -> None:
        controlled.relabel("node-b", **{LABEL: "0"})
        controlled.pool(size=1, mode="Exclusive")
        await controlled.lead()
        assert (controlled.hosts(), controlled.taints("node-b")) == (["0:node-b"], [TAINT])

    async def test_says_nothing_again(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=2)
        controlled.pool("q", size=9)
        await controlled.lead()
        await controlled.lead(2000)
        assert (controlled.said, controlled.candidate.line.writes) == ([], [])


class TestAStatusThatPeopleEdit:
    @pytest.mark.parametrize(
        "status",
        [
            pytest.param({"phase": "Bogus"}, id="no phase"),
            pytest.param({"phase": "Failed", "hosts": []}, id="failed"),
            pytest.param({"phase": "Releasing"}, id="releasing"),
            pytest.param({"hosts": [{"index": 0, "name": "x"}, {"index": 1, "name": "x"}]}, id="one node twice"),
            pytest.param({"hosts": [{"index": "none"}]}, id="no host"),
            pytest.param({"phase": 7, "hosts": 7}, id="of other types"),
        ],
    )
    async def test_is_put_right(self, controlled: ControlledCluster, status: Any) -> None:
        controlled.pool(size=2, mode="Exclusive")
        await controlled.lead()
        right = controlled.status()
        controlled.kube.change(pool_path("p"), {"status": status})
        await asyncio.sleep(3)
        assert (controlled.hosts(), controlled.status()["phase"], right["phase"]) == (
            ["0:node-a", "1:node-b"],
            "Ready",
            "Ready",
        )

    async def test_keeps_the_conditions_of_others(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=1)
        audited = {"type": "Audited", "status": "True"}
        controlled.kube.change(pool_path("p"), {"status": {"conditions": [audited]}})
        await controlled.lead()
        assert controlled.status()["conditions"][0] == audited


class TestReplacement:
    @pytest.fixture
    async def replacing(self) -> Any:
        controlled = ControlledCluster("node-a", "node-b", replacement=Replacement(30.0, unlabelled=True))
        yield controlled
        await controlled.end()

    async def test_a_host_that_is_cordoned_is_kept_for_a_while(self, replacing: ControlledCluster) -> None:
        replacing.pool(size=1)
        await replacing.lead()
        replacing.kube.change(node_path("node-a"), {"spec": {"unschedulable": True}})
        await asyncio.sleep(25)
        before = replacing.hosts(), replacing.condition("Degraded")[2]
        await asyncio.sleep(10)
        assert (before, replacing.hosts(), replacing.label("node-a")) == (
            (["0:node-a"], "host 0 (node-a) is cordoned"),
            ["0:node-b"],
            None,
        )

    async def test_a_host_that_has_lost_its_tag_is_replaced_at_once(self, replacing: ControlledCluster) -> None:
        for name in ("node-a", "node-b"):
            replacing.relabel(name, **{keys.TAG: "ib"})
        replacing.pool(size=1, tags=["ib"])
        await replacing.lead()
        replacing.relabel("node-a", **{keys.TAG: None})
        await asyncio.sleep(1)
        assert replacing.hosts() == ["0:node-b"]

    async def test_a_host_stays_while_pods_of_the_pool_run_there(self, replacing: ControlledCluster) -> None:
        replacing.pool(size=1)
        await replacing.lead()
        replacing.pod("own", "node-a", placement="host(p)")
        replacing.kube.change(node_path("node-a"), {"spec": {"unschedulable": True}})
        await asyncio.sleep(60)
        before = replacing.hosts()
        replacing.kube.delete(pod_path("own"))
        await asyncio.sleep(1)
        assert (before, replacing.hosts()) == (["0:node-a"], ["0:node-b"])

    async def test_a_host_stays_and_nothing_is_written_while_there_is_no_other(
        self, replacing: ControlledCluster
    ) -> None:
        replacing.pool(size=2, mode="Exclusive")
        await replacing.lead()
        replacing.kube.change(node_path("node-a"), {"spec": {"unschedulable": True}})
        await asyncio.sleep(60)
        written = len(replacing.candidate.line.writes)
        await asyncio.sleep(300)
        assert (replacing.hosts(), len(replacing.candidate.line.writes) - written) == (["0:node-a", "1:node-b"], 0)
        replacing.node("node-c")
        await asyncio.sleep(10)
        assert replacing.hosts() == ["0:node-c", "1:node-b"]

    async def test_a_host_keeps_its_marks_until_another_one_is_published(self, replacing: ControlledCluster) -> None:
        replacing.pool(size=1, mode="Exclusive")
        await replacing.lead()
        replacing.kube.change(node_path("node-a"), {"spec": {"unschedulable": True}})
        await asyncio.sleep(30.7)
        between = replacing.hosts(), replacing.label("node-a"), replacing.label("node-b")
        await asyncio.sleep(2)
        assert (between, replacing.hosts(), replacing.label("node-a")) == ((["0:node-a"], "0", "0"), ["0:node-b"], None)

    async def test_hosts_of_a_literal_pool_are_what_it_lists(self, replacing: ControlledCluster) -> None:
        replacing.pool(hosts=["node-a"])
        await replacing.lead()
        replacing.kube.change(node_path("node-a"), {"spec": {"unschedulable": True}})
        await asyncio.sleep(60)
        assert replacing.hosts() == ["0:node-a"]


class TestAQuietTime:
    async def test_every_pool_is_read_every_ten_minutes_and_nothing_written(
        self, controlled: ControlledCluster
    ) -> None:
        controlled.pool("p", size=1)
        controlled.pool("q", size=9)
        controlled.pool("r")
        await controlled.lead()
        line = controlled.candidate.line
        requests, writes = line.requests, len(line.writes)
        await asyncio.sleep(6010)
        assert (line.requests - requests, len(line.writes) - writes) == (30, 0)

    async def test_changes_that_matter_to_no_pool_cost_nothing(self, controlled: ControlledCluster) -> None:
        controlled.pool("p", size=1)
        controlled.pool("q", size=9)
        await controlled.lead(20)
        requests = controlled.candidate.line.requests
        for number in range(50):
            controlled.retaint(
                "node-c", {"key": "example.com/soft", "value": str(number), "effect": "PreferNoSchedule"}
            )
            controlled.retaint(
                "node-a", {"key": "example.com/soft", "value": str(number), "effect": "PreferNoSchedule"}
            )
            await asyncio.sleep(0.5)
        assert controlled.candidate.line.requests == requests

    async def test_pods_of_the_pool_cost_nothing(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=1, mode="Exclusive")
        await controlled.lead(20)
        requests = controlled.candidate.line.requests
        for number in range(50):
            controlled.pod(f"own-{number}", "node-a", placement="host(p)")
            await asyncio.sleep(0.5)
        assert controlled.candidate.line.requests == requests

    async def test_a_pool_that_is_released_is_not_read_at_every_turn(self, controlled: ControlledCluster) -> None:
        controlled.pool(size=1)
        await controlled.lead()
        controlled.pod("own", "node-a", placement="host(p)")
        controlled.kube.delete(pool_path("p"))
        await asyncio.sleep(5)
        requests = controlled.candidate.line.requests
        for number in range(20):
            controlled.pod(f"other-{number}", "node-b")
            await asyncio.sleep(0.5)
            controlled.kube.delete(pod_path(f"other-{number}"))
        assert controlled.candidate.line.requests == requests

    async def test_the_count_of_an_unsized_pool_follows(self, controlled: ControlledCluster) -> None:
        controlled.pool()
        await controlled.lead()
        controlled.node("node-d")
        await asyncio.sleep(11)
        assert controlled.status()["eligible"] == 4

    async def test_a_finalizer_that_was_taken_off_by_hand_is_back_after_ten_minutes(
        self, controlled: ControlledCluster
    ) -> None:
        controlled.pool(size=1)
        await controlled.lead()
        controlled.kube.change(pool_path("p"), {"metadata": {"finalizers": None}})
        await asyncio.sleep(600)
        assert controlled.kube.pool("p")["metadata"]["finalizers"] == ["streams.ibm.com/hosts"]


async def test_an_old_leader_changes_nothing_any_more(controlled: ControlledCluster) -> None:
    controlled.pool(size=1, mode="Exclusive")
    await controlled.lead(0.0)
    controlled.candidate.depose()
    await asyncio.sleep(5)
    assert (controlled.candidate.ended, controlled.candidate.line.writes) == (True, [])


@pytest.mark.parametrize("requests", range(1, 12))
async def test_what_an_old_leader_had_in_hand_comes_too_late(controlled: ControlledCluster, requests: int) -> None:
    controlled.pool(size=1, mode="Exclusive")
    await controlled.lead(0.0)
    old = controlled.candidate
    old.line.stalls = requests
    await asyncio.sleep(2)
    controlled.forget()
    old.depose()
    await controlled.lead()
    right, written = dict(controlled.kube.objects), len(old.line.writes)
    old.line.going.set()
    await asyncio.sleep(2)
    assert (controlled.kube.objects, len(old.line.writes), controlled.hosts()) == (right, written, ["0:node-a"])
    await old.end()


async def test_a_read_that_fails_leaves_the_others_alone(controlled: ControlledCluster) -> None:
    controlled.pool(size=3)
    await controlled.lead(0.03)
    controlled.candidate.line.failures += [ApiError(Cause.UNREACHABLE, "gone")]
    await asyncio.sleep(2)
    assert controlled.hosts() == ["0:node-a", "1:node-b", "2:node-c"]
