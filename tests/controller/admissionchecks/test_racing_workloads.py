"""What happens between an answer and the pods: late watches, lost answers, other leaders, searches that take time."""

import asyncio

import pytest

from kubeapi.client.errors import ApiError, Cause
from tests.controller.admissionchecks.checked_cluster import APART, WORKLOADS, CheckedCluster, asked, condition, pod_set
from webhook.cluster.queries.job_verdicts import AtOnce
from webhook.controller.admissionchecks import promised_room
from webhook.controller.admissionchecks.workload_slice import REPLACES
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.placement.inventory.policy import Policy
from webhook.placement.text import keys

FULL = pod_set(count=3, cpu="8")
"""All of the cluster."""


# Watches and answers


@pytest.mark.parametrize("change", ["queued again", "made again"])
async def test_what_was_before_the_answer_does_not_end_what_it_promised(checked: CheckedCluster, change: str) -> None:
    """Although the watch brings it later."""
    checked.delays = {WORKLOADS: 5.0}
    await checked.lead()
    checked.workload("first", FULL)
    await asyncio.sleep(4)
    if change == "queued again":
        checked.evict("first")
        checked.reserve("first")
    else:
        checked.kube.remove(checked.path("first"))
        checked.workload("first", FULL)
    await asyncio.sleep(6)
    assert checked.answer("first")[0] == "Ready"
    assert await asked(checked, "second", FULL, seconds=10) == "Retry"


async def test_what_was_promised_by_an_answer_that_was_lost_is_kept(checked: CheckedCluster) -> None:
    await checked.lead()
    line = checked.candidate.line
    line.after = lambda _: line.lost.append(ApiError(Cause.UNREACHABLE, "no answer"))
    checked.workload("first", FULL)
    await asyncio.sleep(0.015)
    line.after = lambda _: None
    assert await asked(checked, "second", FULL) == "Retry"
    assert checked.answer("first")[0] == "Ready"


# Jobs that grow


async def test_pods_of_one_that_a_larger_one_replaces_keep_their_room(checked: CheckedCluster) -> None:
    """They are to be made, as those of the larger one."""
    owner = [{"uid": "uid-job", "controller": True}]
    await checked.lead()
    assert await asked(checked, "first", pod_set(count=2, cpu="8", placement=APART)) == "Ready"
    checked.admit("first")
    checked.kube.change(checked.path("first"), {"metadata": {"ownerReferences": owner}})
    checked.workload("larger", pod_set(count=2, cpu="8", placement=APART), conditions=[])
    said = {"annotations": {REPLACES: "default/first"}, "ownerReferences": owner}
    checked.kube.change(checked.path("larger"), {"metadata": said})
    checked.kube.change(checked.path("larger"), {"status": {"conditions": [condition("QuotaReserved")]}})
    ended = {**condition("Finished"), "reason": "WorkloadSliceReplaced"}
    checked.kube.change(
        checked.path("first"),
        {"status": {"conditions": [condition("QuotaReserved"), condition("Admitted"), ended]}},
    )
    await checked.answered()
    assert checked.answer("larger") == ("Ready", "")
    assert await asked(checked, "other", pod_set(count=2, cpu="8", job="other")) == "Retry"
    assert await asked(checked, "small", pod_set(count=1, cpu="8", job="small")) == "Ready"


# Searches that take time


class SlowSearch(AtOnce):
    """A search that lets others work for some hundredths of a second, again and again."""

    async def rest(self) -> None:
        await asyncio.sleep(0.01)


@pytest.fixture
def slow(checked: CheckedCluster) -> CheckedCluster:
    checked.rules = ReconcilerSettings(Policy(), kueue=True, solving=SlowSearch)
    return checked


async def test_a_pod_that_is_bound_during_a_search_leaves_no_room_free(slow: CheckedCluster) -> None:
    await slow.lead()
    assert await asked(slow, "first", pod_set(cpu="8", job="first")) == "Ready"
    (planned,) = slow.planned("first")
    slow.workload("second", pod_set(cpu="8", job="second"))
    await asyncio.sleep(0.05)
    assert slow.answer("second")[0] == "Pending"
    free = next(node for node in ("node-c", "node-b", "node-a") if node != planned)
    slow.run("pod-first", free, cpu="8", labels={keys.JOB: "first"})
    await slow.answered()
    assert slow.answer("second")[0] == "Ready"
    assert await asked(slow, "third", pod_set(cpu="8", job="third")) == "Ready"
    assert await asked(slow, "fourth", pod_set(cpu="8", job="fourth"), seconds=5) == "Retry"


async def test_where_all_is_promised_a_pod_that_comes_during_a_search_leaves_no_room(slow: CheckedCluster) -> None:
    await slow.lead()
    for name in ("first", "second", "third"):
        assert await asked(slow, name, pod_set(cpu="8", job=name)) == "Ready"
    (other,) = slow.planned("second")
    slow.workload("fourth", pod_set(cpu="8", job="fourth"))
    await asyncio.sleep(0.03)
    slow.run("pod-first", other, cpu="8", labels={keys.JOB: "first"})
    await slow.answered(5)
    assert slow.answer("fourth")[0] == "Retry"


async def test_one_whose_own_nodes_are_taken_during_the_search_is_judged_again(slow: CheckedCluster) -> None:
    """By pods that ask for no placement."""
    await slow.lead()
    slow.workload("first", pod_set(cpu="8"))
    await asyncio.sleep(0.05)
    assert slow.answer("first")[0] == "Pending"
    slow.occupy("node-a", "node-b", "node-c")
    await slow.answered(5)
    assert slow.answer("first")[0] == "Retry"


# Time that runs out


async def test_what_is_not_decided_in_time_is_told_to_retry_three_times(checked: CheckedCluster) -> None:
    """A busy machine is no reason to let it pass, and a hard question no reason to keep it out for ever."""
    checked.rules = ReconcilerSettings(Policy(), kueue=True, solving=lambda: AtOnce(0))
    await checked.lead()
    checked.workload("hard", pod_set())
    found = []
    for retried in range(1, 5):
        await checked.answered()
        found.append(checked.answer("hard"))
        checked.evict("hard", retried=retried)
        checked.reserve("hard")
    assert found[:3] == [("Retry", "no decision in time on whether all pods can run at the same time")] * 3
    assert found[3] == (
        "Ready",
        "no decision in time on whether all components can run at the same time: some of their pods may have to wait",
    )


# While room is looked for


@pytest.fixture
async def displaced(slow: CheckedCluster) -> CheckedCluster:
    """Room of the first one is looked for, because others have taken it, before the second one is judged."""
    slow.node("node-d")
    await slow.lead()
    assert await asked(slow, "first", pod_set(cpu="8", job="first")) == "Ready"
    slow.occupy(*slow.planned("first"))
    slow.workload("second", pod_set(cpu="8", job="second"))
    await asyncio.sleep(0.05)
    assert slow.planned("first") == []
    return slow


async def count_ready(checked: CheckedCluster) -> int:
    """How many of some more Workloads that take a node each are let pass."""
    states = [await asked(checked, f"more-{number}", pod_set(cpu="8", job=f"more-{number}")) for number in range(3)]
    return states.count("Ready")


@pytest.mark.parametrize("looks", [1, promised_room.LOOKS])
async def test_its_pod_comes(displaced: CheckedCluster, monkeypatch: pytest.MonkeyPatch, looks: int) -> None:
    monkeypatch.setattr(promised_room, "LOOKS", looks)
    displaced.run("pod-first", "node-d", cpu="8", labels={keys.JOB: "first"})
    await displaced.answered()
    assert displaced.answer("second")[0] == "Ready"
    assert await count_ready(displaced) == 1


async def test_it_is_deleted(displaced: CheckedCluster) -> None:
    displaced.kube.remove(displaced.path("first"))
    await displaced.answered()
    assert displaced.answer("second")[0] == "Ready"
    assert await count_ready(displaced) == 2


async def test_nothing_happens(displaced: CheckedCluster) -> None:
    await displaced.answered()
    assert displaced.answer("second")[0] == "Ready"
    assert await count_ready(displaced) == 1
