"""Pools that are deleted, controllers that end, statuses that people edit, and long times in which nothing happens."""

import asyncio
from typing import Any

import pytest

from tests.controller.controlled_cluster import LABEL, TAINT, Stage
from tests.controller.kube import node_path, pod_path, pool_path
from webhook.cluster.client.errors import ApiError, Cause
from webhook.controller.hostpools.host_choice import Replacement
from webhook.placement.text import keys


class TestAPoolThatIsDeleted:
    async def test_lets_go_of_its_hosts_and_of_itself(self, stage: Stage) -> None:
        stage.pool(size=2, mode="Exclusive")
        await stage.lead()
        stage.kube.delete(pool_path("p"))
        await asyncio.sleep(1)
        assert (pool_path("p") in stage.kube.objects, stage.label("node-a"), stage.taints("node-a")) == (
            False,
            None,
            [],
        )
        assert stage.said[-1] == ("Released", "its hosts are free again")

    async def test_waits_for_its_pods(self, stage: Stage) -> None:
        stage.pool(size=2)
        await stage.lead()
        stage.pod("own", "node-a", placement="host(p)")
        await asyncio.sleep(1)
        stage.kube.delete(pool_path("p"))
        await asyncio.sleep(60)
        assert (stage.status()["phase"], stage.condition(), stage.label("node-b")) == (
            "Releasing",
            ("False", "PodsLeft", "pods of the pool still run on 1 host"),
            "1",
        )
        stage.kube.delete(pod_path("own"))
        await asyncio.sleep(2)
        assert (pool_path("p") in stage.kube.objects, stage.label("node-b")) == (False, None)

    async def test_waits_for_pods_that_no_cache_knows_yet(self, stage: Stage) -> None:
        stage.pool(job="job", size=2)
        stage.delays = {"/api/v1/pods": 20.0}
        await stage.lead()
        stage.pod("own", "node-a", placement="host(p)")
        stage.kube.delete(pool_path("p"))
        await asyncio.sleep(1)
        assert stage.status()["phase"] == "Releasing"
        stage.kube.delete(pod_path("own"))
        await asyncio.sleep(60)
        assert pool_path("p") not in stage.kube.objects

    async def test_while_no_controller_leads_is_released_by_the_next_one(self, stage: Stage) -> None:
        stage.pool(size=2, mode="Exclusive")
        await stage.lead()
        await stage.end()
        stage.kube.delete(pool_path("p"))
        await stage.lead()
        assert (pool_path("p") in stage.kube.objects, stage.taints("node-a")) == (False, [])

    async def test_while_others_hold_it_as_well_gives_its_hosts_back(self, stage: Stage) -> None:
        stage.kube.create(pool_path("p"), metadata={"finalizers": ["example.com/other"]}, spec={"size": 1})
        await stage.lead()
        stage.kube.delete(pool_path("p"))
        await asyncio.sleep(1)
        finalizers = stage.kube.pool("p")["metadata"]["finalizers"]
        assert (finalizers, stage.label("node-a")) == (["example.com/other"], None)

    async def test_is_released_although_nobody_can_read_what_it_was(self, stage: Stage) -> None:
        stage.pool(size=1, mode="Exclusive")
        await stage.lead()
        await stage.end()
        stage.kube.change(pool_path("p"), {"spec": {"size": "none"}})
        stage.kube.delete(pool_path("p"))
        await stage.lead()
        assert (pool_path("p") in stage.kube.objects, stage.taints("node-a"), stage.label("node-a")) == (
            False,
            [],
            None,
        )

    async def test_although_it_lost_its_finalizer_leaves_nothing_behind(self, stage: Stage) -> None:
        stage.pool(size=2, mode="Exclusive")
        await stage.lead()
        stage.kube.change(pool_path("p"), {"metadata": {"finalizers": None}})
        stage.kube.delete(pool_path("p"))
        await asyncio.sleep(5)
        assert (stage.taints("node-a"), stage.label("node-a"), stage.label("node-b")) == ([], None, None)

    async def test_between_a_claim_and_its_publication_leaves_nothing_behind(self, stage: Stage) -> None:
        stage.pool(size=2, mode="Exclusive")
        await stage.lead(0.5)
        before = stage.label("node-a")
        stage.kube.delete(pool_path("p"))
        await asyncio.sleep(2)
        assert (before, pool_path("p") in stage.kube.objects, stage.taints("node-a")) == ("0", False, [])


class TestTheNextController:
    @pytest.mark.parametrize("requests", range(1, 12))
    @pytest.mark.parametrize("obeyed", [False, True], ids=["before it is obeyed", "after it was obeyed"])
    async def test_goes_on_where_the_last_one_ended(self, stage: Stage, requests: int, *, obeyed: bool) -> None:
        stage.pool(size=2, mode="Exclusive")
        await stage.lead(0.0)
        line = stage.candidate.line
        line.ends, line.obeyed_at_the_end = requests, obeyed
        await asyncio.sleep(5)
        await stage.lead()
        assert (stage.hosts(), stage.taints("node-b"), stage.taints("node-c")) == (
            ["0:node-a", "1:node-b"],
            [TAINT],
            [],
        )

    async def test_keeps_the_hosts_that_were_marked_though_others_are_better_by_now(self, stage: Stage) -> None:
        stage.pool(size=1, mode="Exclusive")
        await stage.lead(0.5)
        stage.node("node-0")
        await stage.lead()
        assert stage.hosts() == ["0:node-a"]

    async def test_waits_a_second_itself(self, stage: Stage) -> None:
        stage.pool(size=1, mode="Exclusive")
        await stage.lead(0.9)
        await stage.lead(0.9)
        assert stage.status()["phase"] == "Pending"

    async def test_of_two_nodes_with_one_index_keeps_the_first_by_name(self, stage: Stage) -> None:
        stage.pool(size=1)
        for name in ("node-b", "node-c"):
            stage.relabel(name, **{LABEL: "0"})
        await stage.lead()
        assert (stage.hosts(), stage.label("node-c")) == (["0:node-b"], None)

    async def test_closes_a_node_that_carries_the_label_and_not_the_taint(self, stage: Stage) -> None:
        stage.relabel("node-b", **{LABEL: "0"})
        stage.pool(size=1, mode="Exclusive")
        await stage.lead()
        assert (stage.hosts(), stage.taints("node-b")) == (["0:node-b"], [TAINT])

    async def test_says_nothing_again(self, stage: Stage) -> None:
        stage.pool(size=2)
        stage.pool("q", size=9)
        await stage.lead()
        await stage.lead(2000)
        assert (stage.said, stage.candidate.line.writes) == ([], [])


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
    async def test_is_put_right(self, stage: Stage, status: Any) -> None:
        stage.pool(size=2, mode="Exclusive")
        await stage.lead()
        right = stage.status()
        stage.kube.change(pool_path("p"), {"status": status})
        await asyncio.sleep(3)
        assert (stage.hosts(), stage.status()["phase"], right["phase"]) == (["0:node-a", "1:node-b"], "Ready", "Ready")

    async def test_keeps_the_conditions_of_others(self, stage: Stage) -> None:
        stage.pool(size=1)
        audited = {"type": "Audited", "status": "True"}
        stage.kube.change(pool_path("p"), {"status": {"conditions": [audited]}})
        await stage.lead()
        assert stage.status()["conditions"][0] == audited


class TestReplacement:
    @pytest.fixture
    async def replacing(self) -> Any:
        stage = Stage("node-a", "node-b", replacement=Replacement(30.0, unlabelled=True))
        yield stage
        await stage.end()

    async def test_a_host_that_is_cordoned_is_kept_for_a_while(self, replacing: Stage) -> None:
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

    async def test_a_host_that_has_lost_its_tag_is_replaced_at_once(self, replacing: Stage) -> None:
        for name in ("node-a", "node-b"):
            replacing.relabel(name, **{keys.TAG: "ib"})
        replacing.pool(size=1, tags=["ib"])
        await replacing.lead()
        replacing.relabel("node-a", **{keys.TAG: None})
        await asyncio.sleep(1)
        assert replacing.hosts() == ["0:node-b"]

    async def test_a_host_stays_while_pods_of_the_pool_run_there(self, replacing: Stage) -> None:
        replacing.pool(size=1)
        await replacing.lead()
        replacing.pod("own", "node-a", placement="host(p)")
        replacing.kube.change(node_path("node-a"), {"spec": {"unschedulable": True}})
        await asyncio.sleep(60)
        before = replacing.hosts()
        replacing.kube.delete(pod_path("own"))
        await asyncio.sleep(1)
        assert (before, replacing.hosts()) == (["0:node-a"], ["0:node-b"])

    async def test_a_host_stays_and_nothing_is_written_while_there_is_no_other(self, replacing: Stage) -> None:
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

    async def test_a_host_keeps_its_marks_until_another_one_is_published(self, replacing: Stage) -> None:
        replacing.pool(size=1, mode="Exclusive")
        await replacing.lead()
        replacing.kube.change(node_path("node-a"), {"spec": {"unschedulable": True}})
        await asyncio.sleep(30.7)
        between = replacing.hosts(), replacing.label("node-a"), replacing.label("node-b")
        await asyncio.sleep(2)
        assert (between, replacing.hosts(), replacing.label("node-a")) == ((["0:node-a"], "0", "0"), ["0:node-b"], None)

    async def test_hosts_of_a_literal_pool_are_what_it_lists(self, replacing: Stage) -> None:
        replacing.pool(hosts=["node-a"])
        await replacing.lead()
        replacing.kube.change(node_path("node-a"), {"spec": {"unschedulable": True}})
        await asyncio.sleep(60)
        assert replacing.hosts() == ["0:node-a"]


class TestAQuietTime:
    async def test_every_pool_is_read_every_ten_minutes_and_nothing_written(self, stage: Stage) -> None:
        stage.pool("p", size=1)
        stage.pool("q", size=9)
        stage.pool("r")
        await stage.lead()
        line = stage.candidate.line
        requests, writes = line.requests, len(line.writes)
        await asyncio.sleep(6000)
        assert (line.requests - requests, len(line.writes) - writes) == (30, 0)

    async def test_changes_that_matter_to_no_pool_cost_nothing(self, stage: Stage) -> None:
        stage.pool("p", size=1)
        stage.pool("q", size=9)
        await stage.lead(20)
        requests = stage.candidate.line.requests
        for number in range(50):
            stage.retaint("node-c", {"key": "example.com/soft", "value": str(number), "effect": "PreferNoSchedule"})
            stage.retaint("node-a", {"key": "example.com/soft", "value": str(number), "effect": "PreferNoSchedule"})
            await asyncio.sleep(0.5)
        assert stage.candidate.line.requests == requests

    async def test_pods_of_the_pool_cost_nothing(self, stage: Stage) -> None:
        stage.pool(size=1, mode="Exclusive")
        await stage.lead(20)
        requests = stage.candidate.line.requests
        for number in range(50):
            stage.pod(f"own-{number}", "node-a", placement="host(p)")
            await asyncio.sleep(0.5)
        assert stage.candidate.line.requests == requests

    async def test_a_pool_that_is_released_is_not_read_at_every_turn(self, stage: Stage) -> None:
        stage.pool(size=1)
        await stage.lead()
        stage.pod("own", "node-a", placement="host(p)")
        stage.kube.delete(pool_path("p"))
        await asyncio.sleep(5)
        requests = stage.candidate.line.requests
        for number in range(20):
            stage.pod(f"other-{number}", "node-b")
            await asyncio.sleep(0.5)
            stage.kube.delete(pod_path(f"other-{number}"))
        assert stage.candidate.line.requests == requests

    async def test_the_count_of_an_unsized_pool_follows(self, stage: Stage) -> None:
        stage.pool()
        await stage.lead()
        stage.node("node-d")
        await asyncio.sleep(11)
        assert stage.status()["eligible"] == 4

    async def test_a_finalizer_that_was_taken_off_by_hand_is_back_after_ten_minutes(self, stage: Stage) -> None:
        stage.pool(size=1)
        await stage.lead()
        stage.kube.change(pool_path("p"), {"metadata": {"finalizers": None}})
        await asyncio.sleep(600)
        assert stage.kube.pool("p")["metadata"]["finalizers"] == ["streams.ibm.com/hosts"]


async def test_an_old_leader_changes_nothing_any_more(stage: Stage) -> None:
    stage.pool(size=1, mode="Exclusive")
    await stage.lead(0.0)
    stage.candidate.depose()
    await asyncio.sleep(5)
    assert (stage.candidate.ended, stage.candidate.line.writes) == (True, [])


@pytest.mark.parametrize("requests", range(1, 12))
async def test_what_an_old_leader_had_in_hand_comes_too_late(stage: Stage, requests: int) -> None:
    stage.pool(size=1, mode="Exclusive")
    await stage.lead(0.0)
    old = stage.candidate
    old.line.stalls = requests
    await asyncio.sleep(2)
    stage.forget()
    old.depose()
    await stage.lead()
    right, written = dict(stage.kube.objects), len(old.line.writes)
    old.line.going.set()
    await asyncio.sleep(2)
    assert (stage.kube.objects, len(old.line.writes), stage.hosts()) == (right, written, ["0:node-a"])
    await old.end()


async def test_a_read_that_fails_leaves_the_others_alone(stage: Stage) -> None:
    stage.pool(size=3)
    await stage.lead(0.03)
    stage.candidate.line.failures += [ApiError(Cause.UNREACHABLE, "gone")]
    await asyncio.sleep(2)
    assert stage.hosts() == ["0:node-a", "1:node-b", "2:node-c"]
