"""S2's restart table, row by row, with the controller as a whole; and what else replaces a pod."""

from typing import Any

import pytest

from kubeapi.client.errors import ApiError, Cause
from tests.apiserver.paths import element_path, job_path, pod_path, pool_path
from tests.controller.jobs.job_cluster import JobCluster

Json = dict[str, Any]


async def running(cluster: JobCluster, **options: Any) -> JobCluster:
    """One element runs."""
    cluster.job(processingElements=[options])
    await cluster.lead()
    assert cluster.pods == ["parallel-0-1"]
    return cluster


def unrestartable(value: bool | None) -> Json:  # noqa: FBT001 -- it is the value
    return {"operators": [{"name": "Op", **({} if value is None else {"restartable": value})}]}


@pytest.mark.parametrize(
    ("end", "options", "phase", "pods"),
    [
        (0, {}, "Completed", ["parallel-0-1"]),
        (0, {"restartCompletedPod": True}, "Running", ["parallel-0-2"]),
        (1, {}, "Running", ["parallel-0-2"]),
        (1, unrestartable(value=True), "Running", ["parallel-0-2"]),
        (1, unrestartable(value=False), "Failed", []),
        (1, {**unrestartable(value=False), "restartFailedPod": True}, "Running", ["parallel-0-2"]),
        (1, {"restartFailedPod": False}, "Failed", []),
        (1, {"restartFailedPod": False, "deleteFailedPod": False}, "Failed", ["parallel-0-1"]),
        (1, {"deleteFailedPod": False}, "Running", ["parallel-0-1", "parallel-0-2"]),
        (None, {}, "Stopped", []),
        (None, {"restartDeletedPod": True}, "Running", ["parallel-0-2"]),
    ],
    ids=["completed", "completed, restart", "failed", "failed, restartable", "failed, not restartable",
         "failed, not restartable, restart", "failed, no restart", "failed, no restart, kept", "failed, kept",
         "deleted", "deleted, restart"],
)  # fmt: skip
async def test_a_row(cluster: JobCluster, end: int | None, options: Json, phase: str, pods: list[str]) -> None:
    await running(cluster, **options)
    if end is None:
        cluster.delete(pod_path("parallel-0-1"))
    else:
        cluster.ends("parallel-0-1", end)
    await cluster.wait(5)
    status = cluster.element_status()
    assert (status["phase"], cluster.pods) == (phase, pods)
    assert status.get("restarts") == (phase == "Running")
    assert status["ended"]["outcome"] == {0: "Completed", 1: "Failed", None: "Deleted"}[end]
    restarts = ", and the element is restarted" if phase == "Running" else ""
    verb = {0: "completed", 1: "failed", None: "been deleted"}[end]
    assert any(note.startswith(f"launch 1 has {verb}{restarts}") for _, note in cluster.said)


async def test_an_eviction_is_a_failure(cluster: JobCluster) -> None:
    await running(cluster)
    condition = {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}
    cluster.kube.change(pod_path("parallel-0-1"), {"status": {"conditions": [condition]}})
    cluster.delete(pod_path("parallel-0-1"))
    await cluster.wait(5)
    assert cluster.element_status()["ended"]["reason"] == "EvictionByEvictionAPI"
    assert (cluster.element_status()["ended"]["outcome"], cluster.pods) == ("Failed", ["parallel-0-2"])


async def test_failures_wait_longer_and_longer(cluster: JobCluster) -> None:
    await running(cluster)
    cluster.ends("parallel-0-1", 1)
    await cluster.wait(3)
    cluster.ends("parallel-0-2", 1)
    await cluster.wait(7)
    assert (cluster.pods, cluster.element_status()["failures"]) == ([], 2)
    assert cluster.condition(cluster.element(), "PodCreated")[1:] == (
        "BackOff", "it has ended 2 times in a row; restarting after 10 s",
    )  # fmt: skip
    await cluster.wait(5)
    assert (cluster.pods, cluster.element_status()["phase"]) == (["parallel-0-3"], "Running")


async def test_a_launch_count_that_is_raised_replaces_the_pod(cluster: JobCluster) -> None:
    await running(cluster)
    cluster.kube.change(element_path("parallel-0"), {"spec": {"launchCount": 3}})
    await cluster.wait(5)
    assert (cluster.pods, cluster.element_status()["restarts"]) == (["parallel-0-3"], 0)


async def test_a_launch_count_that_is_lowered_is_raised(cluster: JobCluster) -> None:
    await running(cluster)
    cluster.kube.change(element_path("parallel-0"), {"spec": {"launchCount": 3}})
    await cluster.wait(5)
    cluster.kube.change(element_path("parallel-0"), {"spec": {"launchCount": 2}})
    await cluster.wait(5)
    assert (cluster.pods, cluster.element()["spec"]["launchCount"]) == (["parallel-0-4"], 4)


# Pods that cannot be created


@pytest.mark.parametrize("cause", [Cause.FORBIDDEN, Cause.INVALID, Cause.BROKEN, Cause.BUSY], ids=str)
async def test_a_pod_that_is_refused_is_tried_again(cluster: JobCluster, cause: Cause) -> None:
    cluster.job(processingElements=[{}])
    await cluster.lead(0)

    def refuse(path: str) -> None:
        if path.endswith("/pods?fieldValidation=Strict"):
            raise ApiError(cause, "exceeded quota: pods")

    cluster.candidate.line.before = refuse
    await cluster.wait(3)
    assert cluster.condition(cluster.element(), "PodCreated") == ("False", "Refused", "exceeded quota: pods")
    assert ("FailedCreate", "pod parallel-0-1 cannot be created: exceeded quota: pods") in cluster.said
    assert cluster.condition(cluster.found(), "Ready")[2] == (
        "1 of 1 processing element does not run: parallel-0: exceeded quota: pods"
    )
    cluster.candidate.line.before = lambda _: None
    await cluster.wait(10)
    assert cluster.element_status()["phase"] == "Running"


async def test_a_refusal_in_ever_other_words_is_not_tried_at_once(cluster: JobCluster) -> None:
    cluster.job(processingElements=[{}])
    await cluster.lead(0)
    tries: list[str] = []

    def refuse(path: str) -> None:
        if path.endswith("/pods?fieldValidation=Strict"):
            tries.append(path)
            raise ApiError(Cause.FORBIDDEN, f"no, for the {len(tries)}th time")

    cluster.candidate.line.before = refuse
    await cluster.wait(60)
    assert 5 < len(tries) < 20


async def test_a_pod_of_the_name_that_has_another_owner_is_waited_for(cluster: JobCluster) -> None:
    cluster.kube.create(pod_path("parallel-0-1"), spec={"containers": [], "nodeName": "node-0"})
    cluster.job(processingElements=[{}])
    await cluster.lead()
    assert cluster.condition(cluster.element(), "PodCreated")[1:] == (
        "NameTaken", "pod parallel-0-1 exists and has another owner",
    )  # fmt: skip
    cluster.kube.remove(pod_path("parallel-0-1"))
    await cluster.wait(10)
    assert cluster.element_status()["phase"] == "Running"


async def test_an_element_waits_for_its_job(cluster: JobCluster) -> None:
    cluster.kube.create(element_path("lonely"), spec={"job": "parallel", "launchCount": 1})
    await cluster.lead()
    said = cluster.condition(cluster.element("lonely"), "PodCreated")
    assert said == ("False", "JobMissing", "Job parallel does not exist")
    cluster.job(processingElements=[])
    await cluster.wait(5)
    assert cluster.element_status("lonely")["phase"] == "Running"


@pytest.mark.parametrize(
    ("job", "reason"),
    [
        ({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x"]}}, "JobDeleting"),
        ({"spec": {"odd": True}}, "JobInvalid"),
        ({"spec": {"hostPools": [{"name": "P", "size": 1}]}}, "WaitingForPools"),
    ],
    ids=["deleting", "invalid", "pools"],
)
async def test_an_element_whose_job_is_not_ready_waits(cluster: JobCluster, job: Json, reason: str) -> None:
    cluster.kube.create(element_path("lonely"), spec={"job": "parallel", "launchCount": 1})
    owner = {"apiVersion": "streams.ibm.com/v1", "kind": "Job", "name": "parallel", "uid": "before", "controller": True}
    cluster.garbage.sweep = lambda: None  # type: ignore[method-assign]
    cluster.kube.create(pool_path("parallel-p"), metadata={"ownerReferences": [owner]}, spec={"size": 1})
    cluster.kube.create(job_path("parallel"), **{"spec": {"bundle": {"name": "a.sab"}}, **job})
    await cluster.lead()
    assert cluster.condition(cluster.element("lonely"), "PodCreated")[:2] == ("False", reason)


async def test_an_element_that_cannot_be_read_says_so(cluster: JobCluster) -> None:
    cluster.kube.create(element_path("odd"), spec={"job": "parallel", "restartFailedPod": "maybe"})
    await cluster.lead()
    said = cluster.condition(cluster.element("odd"), "PodCreated")
    assert said == ("False", "Invalid", "spec: restartFailedPod: expected `bool | null`, got `str`")


# Faults


@pytest.mark.untraced
@pytest.mark.parametrize("obeyed", [False, True], ids=["before it is obeyed", "after it is obeyed"])
@pytest.mark.parametrize("request_number", range(1, 15))
async def test_a_controller_that_dies_at_any_request_of_a_restart(
    cluster: JobCluster, request_number: int, *, obeyed: bool
) -> None:
    await running(cluster)
    line = cluster.candidate.line
    line.ends, line.obeyed_at_the_end = line.requests + request_number, obeyed
    cluster.ends("parallel-0-1", 1)
    await cluster.wait(3)
    await cluster.lead()
    assert (cluster.pods, cluster.element_status()["phase"]) == (["parallel-0-2"], "Running")
    assert (cluster.element_status()["restarts"], cluster.element_status()["failures"]) == (1, 1)


@pytest.mark.parametrize("obeyed", [False, True], ids=["before it is obeyed", "after it is obeyed"])
@pytest.mark.parametrize("request_number", range(1, 40, 2))
async def test_a_controller_that_dies_at_any_request_of_a_submission(
    cluster: JobCluster, request_number: int, *, obeyed: bool
) -> None:
    cluster.job(hostPools=[{"name": "P", "size": 1}], processingElements=[{}, {}])
    await cluster.lead(0)
    line = cluster.candidate.line
    line.ends, line.obeyed_at_the_end = request_number, obeyed
    await cluster.wait(3)
    await cluster.lead(10)
    assert (cluster.pods, cluster.status()["phase"]) == (["parallel-0-1", "parallel-1-1"], "Running")
    assert cluster.element_status()["restarts"] == 0


@pytest.mark.parametrize("cause", [Cause.UNREACHABLE, Cause.CONFLICT, Cause.MISSING], ids=str)
async def test_requests_that_fail_are_repeated(cluster: JobCluster, cause: Cause) -> None:
    cluster.job(hostPools=[{"name": "P", "size": 1}], processingElements=[{}])
    await cluster.lead(0)
    cluster.candidate.line.failures += [ApiError(cause, "no")] * 8
    await cluster.wait(20)
    assert (cluster.status()["phase"], cluster.pods) == ("Running", ["parallel-0-1"])


async def test_a_pod_that_goes_before_the_watch_has_brought_it_is_missed_all_the_same(cluster: JobCluster) -> None:
    cluster.delays["/api/v1/pods"] = 1000.0
    cluster.job(processingElements=[{"restartDeletedPod": True}])
    await cluster.lead(2)
    cluster.kube.remove(pod_path("parallel-0-1"))
    await cluster.wait(10)
    assert (cluster.element_status()["restarts"], cluster.pods) == (1, ["parallel-0-2"])


async def test_a_pod_that_a_dead_controller_made_is_found_though_the_watch_is_late(cluster: JobCluster) -> None:
    """The element's status does not say that the pod was created, and somebody asks for another launch."""
    cluster.job(processingElements=[{}])
    await cluster.lead(0)
    cluster.candidate.line.after = lambda path: (
        path.endswith("/pods?fieldValidation=Strict") and setattr(cluster.candidate.line, "ends", 0)
    )
    await cluster.wait(2)
    assert (cluster.pods, cluster.element_status()) == (["parallel-0-1"], {})
    cluster.kube.change(element_path("parallel-0"), {"spec": {"launchCount": 5}})
    pod = cluster.pod("parallel-0-1")
    del cluster.kube.objects[pod_path("parallel-0-1")]
    cluster.delays["/api/v1/pods"] = 3.0
    await cluster.lead(0)
    cluster.kube.objects[pod_path("parallel-0-1")] = pod
    await cluster.wait(2)
    assert cluster.pods == ["parallel-0-1"]
