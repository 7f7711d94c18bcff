"""Workloads that could not run are queued again as soon as a change of the cluster makes them fit."""

import asyncio

import pytest

from kubeapi.client.errors import ApiError, Cause
from tests.controller.admissionchecks.checked_cluster import APART, GROUP, CheckedCluster, pod_set
from tests.controller.controlled_cluster import Json
from webhook.controller.admissionchecks import woken_workloads

PODS = pod_set(count=2, placement=APART)


async def waits(checked: CheckedCluster, name: str = "w", pods: Json = PODS) -> None:
    """Two of three nodes are taken, and Kueue has its quota back."""
    if not checked.kube.all("/api/v1/pods"):
        checked.occupy("node-a", "node-b")
    checked.workload(name, pods)
    await checked.lead()
    assert checked.answer(name)[0] == "Retry"
    checked.evict(name)
    await checked.answered()


def requeue_at(checked: CheckedCluster, name: str = "w") -> str | None:
    at: str | None = checked.stored(name)["status"]["requeueState"].get("requeueAt")
    return at


async def test_a_node_that_comes_wakes_what_fits_then(checked: CheckedCluster) -> None:
    await waits(checked)
    writes = len(checked.patched)
    checked.node("node-d")
    await checked.answered(5)
    assert requeue_at(checked) is None
    assert len(checked.patched) == writes + 1
    checked.reserve("w")
    await checked.answered()
    assert checked.answer("w")[0] == "Ready"


async def test_a_node_that_does_not_help_wakes_nobody(checked: CheckedCluster) -> None:
    await waits(checked)
    checked.node("node-d", taints=[{"key": "dedicated", "value": "x", "effect": "NoSchedule"}])
    await checked.answered(5)
    assert requeue_at(checked) is not None


@pytest.mark.parametrize("what", ["pool", "devices", "topology"])
async def test_other_changes_are_looked_at(checked: CheckedCluster, what: str) -> None:
    await waits(checked)
    checked.delays = {}
    checked.kube.remove("/api/v1/namespaces/others/pods/other-node-a")
    await checked.answered(5)
    assert requeue_at(checked) is not None
    match what:
        case "pool":
            checked.pool()
        case "devices":
            checked.kube.create("/apis/resource.k8s.io/v1/deviceclasses/c", spec={})
        case _:
            zones = [{"name": "node-0", "type": "Node", "resources": []}]
            path = "/apis/topology.node.k8s.io/v1/noderesourcetopologies/node-a"
            checked.kube.create(path, zones=zones, topologyPolicies=["SingleNUMANodeContainerLevel"])
    await checked.answered(5)
    assert requeue_at(checked) is None


@pytest.mark.parametrize(
    "status",
    [
        {"requeueState": {"count": 1}},
        {"requeueState": {"requeueAt": None}},
        {"requeueState": None},
        {"admissionChecks": [{"name": "others", "state": "Pending", "requeueAfterSeconds": 60}]},
        {"admissionChecks": None},
    ],
    ids=["pods were not ready", "no time", "nothing", "another check", "no check"],
)
async def test_what_waits_for_something_else_as_well_is_left_alone(checked: CheckedCluster, status: Json) -> None:
    await waits(checked)
    checked.kube.change(checked.path("w"), {"status": status})
    before = checked.stored("w")
    checked.node("node-d")
    await checked.answered(5)
    assert checked.stored("w") == before


async def test_one_that_waits_no_more_by_what_is_stored(checked: CheckedCluster) -> None:
    """The watch has yet to tell."""
    collection = f"{GROUP}/workloads"
    checked.delays[collection] = 0.0
    await waits(checked)
    checked.delays[collection] = 60.0
    checked.kube.change(checked.path("w"), {"status": {"requeueState": None}})
    writes = len(checked.patched)
    checked.node("node-d")
    await checked.answered(5)
    assert len(checked.patched) == writes


@pytest.mark.parametrize("end", ["deleted", "deactivated", "made again"])
async def test_what_is_over_is_forgotten(checked: CheckedCluster, end: str) -> None:
    await waits(checked)
    match end:
        case "deactivated":
            checked.kube.change(checked.path("w"), {"spec": {"active": False}})
        case _:
            checked.kube.remove(checked.path("w"))
    if end == "made again":
        status = {"conditions": [], "requeueState": {"requeueAt": "2026-01-01T01:00:00Z"}}
        checked.workload("w", PODS, **status)
    reads = checked.candidate.line.reads
    checked.node("node-d")
    await checked.answered(5)
    assert checked.candidate.line.reads == reads


async def test_one_that_keeps_its_quota_while_kueue_waits_is_woken(checked: CheckedCluster) -> None:
    """Kueue v0.19 takes it back when the time has passed; it reads that again of the check while it is to retry."""
    checked.occupy("node-a", "node-b")
    checked.workload("w", PODS)
    await checked.lead()
    checked.node("node-d")
    await checked.answered(5)
    assert checked.answer("w")[0] == "Retry"
    checked.kube.change(checked.path("w"), {"status": {"requeueState": {"requeueAt": "2026-01-01T01:00:00Z"}}})
    await checked.answered(5)
    assert requeue_at(checked) is None
    (check,) = checked.stored("w")["status"]["admissionChecks"]
    assert (check["state"], "requeueAfterSeconds" in check) == ("Retry", False)


async def test_one_that_is_gone_when_it_is_looked_at(checked: CheckedCluster) -> None:
    await waits(checked)
    checked.node("node-d")
    await checked.answered(2.01)
    checked.candidate.work.checks.woken.queue.add(("default", "w"))  # type: ignore[union-attr]
    checked.kube.remove(checked.path("w"))
    await checked.answered(5)
    checked.candidate.work.checks.woken.queue.add(("default", "never"))  # type: ignore[union-attr]
    await checked.answered(5)
    assert checked.candidate.work.checks.woken.queue.failing == 0  # type: ignore[union-attr]


@pytest.mark.parametrize("cause", [Cause.CONFLICT, Cause.UNREACHABLE, Cause.MISSING])
async def test_a_change_that_fails(checked: CheckedCluster, cause: Cause) -> None:
    await waits(checked)
    checked.candidate.line.failures.append(ApiError(cause, "no"))
    checked.node("node-d")
    await checked.answered(30)
    assert (requeue_at(checked) is None) is (cause is not Cause.MISSING)


async def test_of_very_many_some_wait_for_their_time(checked: CheckedCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(woken_workloads, "MOST", 1)
    checked.occupy("node-a", "node-b")
    names = ("v", "w")
    for name in names:
        checked.workload(name, PODS)
    await checked.lead()
    for name in names:
        checked.evict(name)
    checked.node("node-d")
    await checked.answered(5)
    assert sorted(requeue_at(checked, name) is None for name in names) == [False, True]


async def test_without_any_that_wait_nothing_is_looked_at(checked: CheckedCluster) -> None:
    await checked.lead()
    checked.node("node-d")
    await asyncio.sleep(5)
    checks = checked.candidate.work.checks
    assert checks is not None
    assert checks.woken.queue.added == 0
