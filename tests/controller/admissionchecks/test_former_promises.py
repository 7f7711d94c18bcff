"""A new leader keeps the room that the former one has promised Workloads."""

import asyncio

import pytest

from kubeapi.client.errors import ApiError, Cause
from tests.controller.admissionchecks.checked_cluster import (
    THEN,
    WORKLOADS,
    CheckedCluster,
    asked,
    condition,
    plain,
    pod_set,
)
from tests.controller.controlled_cluster import Json
from tests.controller.controller_process import ControllerProcess
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.controller.turn import LOOKS
from webhook.placement.inventory.policy import Policy
from webhook.placement.text import keys

FULL = pod_set(count=3, cpu="8")
"""All of the cluster."""

READY = [{"name": "placement", "state": "Ready", "message": "", "lastTransitionTime": THEN}]


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
    assert await asked(checked, "first", FULL) == "Ready"
    checked.admit("first")
    for node in ("node-a", "node-b"):
        checked.run(f"pod-{node}", node, cpu="8", labels={keys.JOB: "sets"})
    await checked.lead()
    assert checked.planned("first") == ["node-c"]
    assert await asked(checked, "second", pod_set(cpu="8")) == "Retry"


async def test_a_clock_of_kueue_that_is_ahead_ends_no_promise(checked: CheckedCluster) -> None:
    await checked.lead()
    assert await asked(checked, "first", FULL) == "Ready"
    checked.admit("first", ahead=30)
    await checked.lead()
    assert await asked(checked, "second", FULL) == "Retry"


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
    assert await asked(checked, "third", pod_set(count=2, cpu="8"), seconds=5) == "Retry"


async def test_one_whose_pods_all_run_keeps_nothing_beside_them(checked: CheckedCluster) -> None:
    """Although they cannot be told from others, because a sidecar requests something as well."""
    await checked.lead()
    assert await asked(checked, "first", pod_set(count=3, cpu="5")) == "Ready"
    checked.admit("first")
    for node in ("node-a", "node-b", "node-c"):
        checked.run(f"pod-{node}", node, cpu="6", labels={keys.JOB: "sets"})
    await checked.lead()
    assert await asked(checked, "second", pod_set(count=3, cpu="2")) == "Ready"


@pytest.mark.parametrize(
    "other",
    [
        {"sets": [plain()]},
        {"sets": [pod_set(count=3, cpu="8")], "namespace": "left-alone"},
        {"sets": [pod_set()], "admission": {"podSetAssignments": [{"name": "main", "flavors": {"cpu": "gone"}}]}},
        {"sets": [pod_set(placement="host(")]},
        {"sets": [pod_set()], "requeueState": 7},
    ],
    ids=["asks for nothing", "excluded", "a flavor that is gone", "mistaken", "unreadable"],
)
async def test_nothing_is_kept_for(checked: CheckedCluster, other: Json) -> None:
    checked.rules = ReconcilerSettings(Policy(excluded=frozenset({"left-alone"})), kueue=True)
    checked.workload("other", *other.pop("sets"), checks=READY, **other)
    await checked.lead()
    assert checked.candidate.work.watched.inventory.promised == 0
    assert await asked(checked, "first", pod_set(count=3, cpu="8")) == "Ready"


async def test_without_a_check_nothing_is_listed(checked: CheckedCluster) -> None:
    for path in [path for path in checked.kube.objects if path.endswith("/placement")]:
        checked.kube.remove(path)
    await checked.lead()
    assert checked.candidate.line.requests == 0


async def test_one_that_was_admitted_long_ago_is_not_read(checked: CheckedCluster) -> None:
    """Where Workloads cannot be listed."""
    checked.workload("old", pod_set(), checks=READY, conditions=[condition("QuotaReserved"), condition("Admitted")])
    await asyncio.sleep(70)
    await checked.lead(0.001)
    checked.candidate.line.failures.append(ApiError(Cause.UNREADABLE, "no"))
    await checked.answered()
    assert (checked.candidate.line.reads, checked.planned("old")) == (1, [])


ADMISSION = {"podSetAssignments": [{"name": "main", "flavors": {"cpu": "default"}}]}
"""With a ResourceFlavor, which is read before the room is kept."""


@pytest.mark.parametrize("moment", [0.25, 0.75, 1.25, 1.75, 2.25], ids=["listing", "listed", "asking", "asked", "kept"])
@pytest.mark.parametrize("late", [0.0, 3.0], ids=["at once", "late"])
@pytest.mark.parametrize("quota", [False, True], ids=["deleted", "without quota"])
async def test_one_that_ends_while_a_new_leader_finds_its_room_keeps_none(
    checked: CheckedCluster, moment: float, late: float, *, quota: bool
) -> None:
    """A request takes half a second there and as long back: the list of Workloads, then a ResourceFlavor."""
    checked.flavor()
    checked.workload("gone", FULL, checks=READY, admission=ADMISSION)
    checked.latency, checked.delays[WORKLOADS] = 0.5, late
    await checked.lead(moment)
    if quota:
        checked.kube.change(checked.path("gone"), {"status": {"conditions": [condition("QuotaReserved", "False")]}})
    else:
        checked.kube.remove(checked.path("gone"))
    await checked.answered(5)
    assert checked.planned("gone") == []
    assert await asked(checked, "second", FULL, seconds=8) == "Ready"


async def test_one_that_changes_all_the_time_is_read_a_few_times_and_keeps_its_room(checked: CheckedCluster) -> None:
    checked.flavor()
    checked.workload("busy", FULL, checks=READY, admission=ADMISSION)
    checked.latency = 0.5
    await checked.lead(0.25)
    for number in range(30):
        checked.kube.change(checked.path("busy"), {"metadata": {"labels": {"example.com/n": str(number)}}})
        await checked.answered(0.5)
    assert checked.planned("busy") == ["node-a", "node-b", "node-c"]
    assert checked.candidate.line.reads == 2 * LOOKS
