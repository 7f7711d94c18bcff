"""What happens between an answer and the pods: late watches, lost answers, other leaders, searches that take time."""

import asyncio

import pytest

from kubeapi.client.errors import ApiError, Cause
from tests.controller.admissionchecks.checked_cluster import APART, GROUP, CheckedCluster, condition, pod_set
from tests.controller.controlled_cluster import Json
from tests.controller.controller_process import ControllerProcess
from webhook.cluster.queries.job_verdicts import AtOnce
from webhook.controller.admissionchecks.workload_slice import REPLACES
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.placement.inventory.policy import Policy
from webhook.placement.text import keys

WORKLOADS = f"{GROUP}/workloads"
FULL = pod_set(count=3, cpu="8")
"""All of the cluster."""


async def asked(checked: CheckedCluster, name: str, pods: Json = FULL, seconds: float = 1.0) -> str:
    """The state of the check of another Workload."""
    checked.workload(name, pods)
    await checked.answered(seconds)
    return checked.answer(name)[0]


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
    assert await asked(checked, "second", seconds=10) == "Retry"


async def test_what_was_promised_by_an_answer_that_was_lost_is_kept(checked: CheckedCluster) -> None:
    await checked.lead()
    line = checked.candidate.line
    line.after = lambda _: line.lost.append(ApiError(Cause.UNREACHABLE, "no answer"))
    checked.workload("first", FULL)
    await asyncio.sleep(0.015)
    line.after = lambda _: None
    assert await asked(checked, "second") == "Retry"
    assert checked.answer("first")[0] == "Ready"


# Leaders


async def test_a_new_leader_knows_what_was_promised_before_its_watch_brings_it(checked: CheckedCluster) -> None:
    checked.latency = 0.5
    await checked.lead()
    standby = ControllerProcess(checked.kube, rules=checked.rules, delays={WORKLOADS: 5.0})
    former = checked.candidate.line
    former.ends, former.obeyed_at_the_end = former.requests + 2, True
    checked.workload("first", FULL)
    checked.workload("second", FULL)
    await asyncio.sleep(5.5)
    assert (checked.answer("first")[0], checked.answer("second")[0]) == ("Ready", "Pending")
    standby.begin()
    await asyncio.sleep(5)
    assert checked.answer("second")[0] == "Retry"
    await standby.end()


async def test_a_new_leader_keeps_room_for_the_pods_that_have_no_node_yet(checked: CheckedCluster) -> None:
    await checked.lead()
    assert await asked(checked, "first") == "Ready"
    checked.admit("first")
    for node in ("node-a", "node-b"):
        checked.run(f"pod-{node}", node, cpu="8", labels={keys.JOB: "sets"})
    await checked.lead()
    assert checked.planned("first") == ["node-c"]
    assert await asked(checked, "second", pod_set(cpu="8")) == "Retry"


async def test_a_clock_of_kueue_that_is_ahead_ends_no_promise(checked: CheckedCluster) -> None:
    await checked.lead()
    assert await asked(checked, "first") == "Ready"
    checked.admit("first", ahead=30)
    await checked.lead()
    assert await asked(checked, "second") == "Retry"


async def test_a_new_leader_finds_nodes_for_all_together(checked: CheckedCluster) -> None:
    """Where the first one could take what only the second one can use."""
    checked.relabel("node-a", disk="fast")
    checked.occupy("node-b")
    await checked.lead()
    picky = pod_set(cpu="8", job="picky", nodeSelector={"disk": "fast"})
    assert await asked(checked, "picky", picky) == "Ready"
    assert await asked(checked, "any", pod_set(cpu="8", job="any")) == "Ready"
    for name in ("any", "picky"):  # in this order they are listed
        stored = checked.stored(name)
        del checked.kube.objects[checked.path(name)]
        checked.kube.objects[checked.path(name)] = stored
    await checked.lead()
    assert (checked.planned("picky"), checked.planned("any")) == (["node-a"], ["node-c"])
    assert await asked(checked, "next", pod_set(cpu="8")) == "Retry"


async def test_where_workloads_cannot_be_listed_those_that_are_known_are_read(checked: CheckedCluster) -> None:
    await checked.lead()
    assert await asked(checked, "first", pod_set(cpu="8", job="first")) == "Ready"
    assert await asked(checked, "second", pod_set(count=2, cpu="8", job="second")) == "Ready"
    await checked.end()
    checked.latency = 0.5
    begun = asyncio.create_task(checked.lead())
    await asyncio.sleep(0.1)
    checked.candidate.line.failures += [ApiError(Cause.UNREADABLE, "no"), ApiError(Cause.UNREACHABLE, "no")]
    await begun
    await checked.answered(3)
    assert (len(checked.planned("first")), len(checked.planned("second"))) == (0, 2)
    assert await asked(checked, "third", pod_set(count=2, cpu="8"), 5) == "Retry"


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
    assert await asked(slow, "fourth", pod_set(cpu="8", job="fourth")) == "Retry"


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
