"""Room of Workloads that passed is kept until their pods are bound, for a minute at most."""

import asyncio
import gc
from collections.abc import Callable

import pytest

from tests.controller.admissionchecks.checked_cluster import APART, CheckedCluster, condition, pod_set
from tests.controller.controlled_cluster import Json
from tests.controller.controller_process import wall_clock
from webhook.placement.jobs.whole_application import PodsToJudge
from webhook.placement.kube.timestamps import timestamp
from webhook.placement.text import keys

FULL = pod_set(count=3, cpu="8")
"""All of the cluster."""

READY = ("Ready", "3 pods can run at the same time")


async def second(checked: CheckedCluster, name: str = "second", pods: Json = FULL, namespace: str = "default") -> str:
    """The state of the check of another Workload."""
    checked.workload(name, pods, namespace=namespace)
    await checked.answered()
    return checked.answer(name, namespace)[0]


async def test_two_at_the_same_moment_are_not_promised_the_same_room(checked: CheckedCluster) -> None:
    await checked.lead()
    checked.workload("first", FULL)
    checked.workload("second", FULL, namespace="elsewhere")
    await checked.answered()
    states = sorted((checked.answer("first")[0], checked.answer("second", "elsewhere")[0]))
    assert states == ["Ready", "Retry"]


async def test_a_token_of_the_same_job_is_kept_as_well(checked: CheckedCluster) -> None:
    await checked.lead()
    assert await second(checked, "first", pod_set(count=2, placement=APART)) == "Ready"
    assert await second(checked, pods=pod_set(count=2, placement=APART)) == "Retry"
    assert await second(checked, "third", pod_set(count=1, placement=APART)) == "Ready"


async def test_the_room_is_given_back_a_minute_after_kueue_has_admitted_it(checked: CheckedCluster) -> None:
    await checked.lead()
    assert await second(checked, "first") == "Ready"
    checked.admit("first")
    await asyncio.sleep(50)
    assert await second(checked) == "Retry"
    await asyncio.sleep(15)
    assert await second(checked, "third") == "Ready"


async def test_until_then_it_is_kept(checked: CheckedCluster) -> None:
    """However long other checks take, or Kueue: pods are made only after that."""
    await checked.lead()
    assert await second(checked, "first") == "Ready"
    await asyncio.sleep(300)
    assert await second(checked) == "Retry"
    checked.admit("first")
    await asyncio.sleep(50)
    assert await second(checked, "third") == "Retry"
    await asyncio.sleep(15)
    assert await second(checked, "fourth") == "Ready"


@pytest.mark.parametrize(
    "end",
    [
        {"status": {"conditions": [condition("QuotaReserved", "False")]}},
        {"status": {"conditions": [condition("QuotaReserved"), condition("Evicted")]}},
        {"status": {"conditions": [condition("QuotaReserved"), condition("Finished")]}},
        {"spec": {"active": False}},
        None,
    ],
    ids=["no quota", "evicted", "finished", "deactivated", "deleted"],
)
async def test_the_room_of_one_that_will_not_run_is_given_back(checked: CheckedCluster, end: Json | None) -> None:
    await checked.lead()
    assert await second(checked, "first") == "Ready"
    if end is None:
        checked.kube.remove(checked.path("first"))
    else:
        checked.kube.change(checked.path("first"), end)
    assert await second(checked) == "Ready"


async def test_one_that_is_made_again_under_its_name_has_nothing_promised(checked: CheckedCluster) -> None:
    await checked.lead()
    assert await second(checked, "first") == "Ready"
    checked.kube.remove(checked.path("first"))
    checked.workload("first", FULL, conditions=[condition("QuotaReserved")], checks=[{"name": "x", "state": "Ready"}])
    assert await second(checked) == "Ready"


async def test_a_pod_takes_the_place_of_its_stand_in(checked: CheckedCluster) -> None:
    """Wherever the scheduler binds it: nothing counts twice."""
    await checked.lead()
    assert await second(checked, "first", pod_set(count=2, cpu="6")) == "Ready"
    for node in ("node-a", "node-b"):
        checked.run(f"pod-{node}", node, cpu="6", labels={keys.JOB: "sets"})
    await checked.answered()
    assert await second(checked, pods=pod_set(cpu="8")) == "Ready"
    assert await second(checked, "third", pod_set(cpu="2", count=3)) == "Retry"
    assert await second(checked, "fourth", pod_set(cpu="2", count=2)) == "Ready"


async def test_pods_that_share_a_node_take_the_places_of_as_many(checked: CheckedCluster) -> None:
    """One after the other, on whichever node."""
    await checked.lead()
    assert await second(checked, "first", pod_set(count=6, cpu="4")) == "Ready"
    for number, node in enumerate(("node-a", "node-a", "node-b", "node-b", "node-c")):
        checked.run(f"pod-{number}", node, cpu="4", labels={keys.JOB: "sets"})
        await checked.answered()
    assert await second(checked, pods=pod_set(cpu="4")) == "Retry"
    checked.kube.remove("/api/v1/namespaces/default/pods/pod-0")
    assert await second(checked, "third", pod_set(cpu="4")) == "Ready"


@pytest.mark.parametrize(
    "other",
    [
        {"namespace": "elsewhere", "labels": {keys.JOB: "sets"}},
        {"labels": {keys.JOB: "another"}},
        {"labels": {keys.JOB: "sets"}, "cpu": "1m"},
    ],
    ids=["namespace", "job", "requests"],
)
async def test_a_pod_of_something_else_does_not(checked: CheckedCluster, other: Json) -> None:
    await checked.lead()
    assert await second(checked, "first", pod_set(cpu="7")) == "Ready"
    checked.occupy("node-b", "node-c", cpu="7")
    checked.run("other", "node-c", **{"cpu": "10m", **other})
    await checked.answered()
    assert await second(checked, pods=pod_set(cpu="7")) == "Retry"


async def test_a_pod_that_ran_before_does_not(checked: CheckedCluster) -> None:
    checked.run("before", "node-a", cpu="4", labels={keys.JOB: "sets"})
    await checked.lead()
    assert await second(checked, "first", pod_set(cpu="4", count=5)) == "Ready"
    checked.kube.change("/api/v1/namespaces/default/pods/before", {"metadata": {"labels": {"streams.ibm.com/pe": "1"}}})
    await checked.answered()
    assert await second(checked, pods=pod_set(cpu="4")) == "Retry"


async def test_what_a_former_controller_promised_is_kept(checked: CheckedCluster) -> None:
    await checked.lead()
    assert await second(checked, "first") == "Ready"
    await checked.lead(100)
    assert await second(checked) == "Retry"
    checked.admit("first")
    await checked.lead(50)
    assert await second(checked, "later") == "Retry"
    await checked.lead(10)
    assert await second(checked, "third") == "Ready"


async def test_of_one_that_cannot_be_found_again_nothing_is_kept(checked: CheckedCluster) -> None:
    """It was deleted, or its pods run already and need no more room."""
    ready = [{"name": "placement", "state": "Ready", "message": "", "lastTransitionTime": timestamp(wall_clock())}]
    checked.workload("gone", FULL, checks=ready)
    checked.latency = 0.5
    await checked.lead(0.25)  # the list of Workloads is on its way
    checked.kube.remove(checked.path("gone"))
    checked.workload("second", FULL)
    await checked.answered(5)
    assert checked.answer("second") == READY


async def test_one_that_runs_already_keeps_nothing_after_a_restart(checked: CheckedCluster) -> None:
    await checked.lead()
    assert await second(checked, "first", pod_set(count=3, cpu="5")) == "Ready"
    for node in ("node-a", "node-b", "node-c"):
        checked.run(f"pod-{node}", node, cpu="5", labels={keys.JOB: "sets"})
    await checked.lead(1)
    assert await second(checked, pods=pod_set(cpu="3", count=3)) == "Ready"


def job_of(checked: CheckedCluster, cpu: str) -> Callable[[], tuple[str, str]]:
    """A Job of Streams with one processing element; the result tells its phase and what is said of Satisfiable."""
    path = "/apis/streams.ibm.com/v1/namespaces/default/streamsjobs/j"
    containers = [{"name": "main", "image": "i", "resources": {"requests": {"cpu": cpu}}}]
    elements = [{"name": "only", "template": {"spec": {"containers": containers}}}]
    checked.kube.create(path, spec={"processingElements": elements})

    def found() -> tuple[str, str]:
        status = checked.kube.objects[path]["status"]
        said = {one["type"]: one["message"] for one in status["conditions"]}
        return status["phase"], said["Satisfiable"].partition(".")[0]

    return found


def kept(name: str) -> list[PodsToJudge]:
    """What is in memory of the pod set with that name, to be judged."""
    gc.collect()
    return [one for one in gc.get_objects() if isinstance(one, PodsToJudge) and one.component.name == name]


@pytest.mark.parametrize(("cpu", "state"), [("4", "Ready"), ("5", "Retry")])
async def test_of_a_workload_only_what_is_judged_later_is_kept(checked: CheckedCluster, cpu: str, state: str) -> None:
    """Not the JSON of its template, which has a megabyte: neither of one with room nor of one that waits for it."""
    checked.occupy("node-a", "node-b", "node-c", cpu="4")
    await checked.lead()
    checked.workload("first", pod_set(f"large-{state}", cpu=cpu, placement=APART, unread="x" * 1_000_000))
    await checked.answered()
    assert checked.answer("first")[0] == state
    assert [one.component.pod for one in kept(f"large-{state}")] == [{}]


NO_ROOM = "Failed", "requests cpu 4 cannot hold: 0 of 1 processing element fits (only)"


async def test_a_job_of_streams_is_not_promised_it_either(checked: CheckedCluster) -> None:
    await checked.lead()
    assert await second(checked, "first") == "Ready"
    job = job_of(checked, "4")
    await checked.answered()
    assert job() == NO_ROOM


async def test_a_new_leader_judges_no_job_before_it_keeps_what_was_promised(checked: CheckedCluster) -> None:
    """Although it finds the room of one Workload after the other."""
    await checked.lead()
    for number in range(6):
        assert await second(checked, f"half-{number}", pod_set(cpu="4")) == "Ready"
    await checked.end()
    job = job_of(checked, "4")
    checked.latency = 0.5
    await checked.lead(10)
    assert job() == NO_ROOM


async def test_room_is_kept_for_a_minute_however_long_a_new_leader_needs_to_find_it(checked: CheckedCluster) -> None:
    await checked.lead()
    for number in range(3):
        assert await second(checked, f"first-{number}", pod_set(cpu="8")) == "Ready"
        checked.admit(f"first-{number}")
    checked.workload("second", FULL)
    checked.latency = 25
    await checked.lead(160)
    assert checked.answer("second") == READY
