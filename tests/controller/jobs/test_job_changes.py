"""A Job, or what it owns, is changed."""

from typing import Any

import msgspec
import pytest
from msgspec import Raw
from msgspec.structs import replace

from tests.apiserver.paths import ELEMENTS, POOLS, element_path, job_path, pool_path
from tests.controller.jobs.job_cluster import JobCluster
from webhook.controller.jobs.stored_job_status import job_status_patch, status_of_job
from webhook.controller.jobstore.records import read_job
from webhook.placement.objects.condition import ConditionState

Json = dict[str, Any]


@pytest.fixture
async def running(cluster: JobCluster) -> JobCluster:
    """Two elements and a pool run."""
    cluster.job(hostPools=[{"name": "P", "size": 1}], processingElements=[{}, {}])
    await cluster.lead()
    assert cluster.status()["phase"] == "Running"
    return cluster


def uids(cluster: JobCluster) -> dict[str, str]:
    return {name: cluster.pod(name)["metadata"]["uid"] for name in cluster.pods}


async def test_elements_are_added_and_no_other_pod_is_touched(running: JobCluster) -> None:
    before = uids(running)
    running.change(processingElements=[{}, {}, {}])
    await running.wait(5)
    after = uids(running)
    assert {**after, "parallel-2-1": ""} == {**before, "parallel-2-1": ""}
    assert (running.status()["phase"], running.status()["running"]) == ("Running", 3)


async def test_elements_are_removed(running: JobCluster) -> None:
    running.change(processingElements=[{}])
    await running.wait(5)
    assert (running.names(ELEMENTS), running.pods) == (["parallel-0"], ["parallel-0-1"])
    assert running.status()["running"] == 1


async def test_an_element_that_changes_gets_another_pod(running: JobCluster) -> None:
    before = uids(running)
    running.change(processingElements=[{}, {"dataPath": "/d"}])
    await running.wait(5)
    assert running.pods == ["parallel-0-1", "parallel-1-2"]
    assert uids(running)["parallel-0-1"] == before["parallel-0-1"]
    assert (running.element_status("parallel-1")["restarts"], running.status()["phase"]) == (0, "Running")


async def test_an_element_that_has_ended_runs_again_if_it_changes(running: JobCluster) -> None:
    running.ends("parallel-1-1")
    await running.wait(3)
    assert running.element_status("parallel-1")["phase"] == "Completed"
    running.delete("/api/v1/namespaces/default/pods/parallel-1-1")
    running.change(processingElements=[{}, {"dataPath": "/d"}])
    await running.wait(5)
    assert running.pods == ["parallel-0-1", "parallel-1-2"]


async def test_what_people_change_by_hand_stays_until_the_job_changes_it(running: JobCluster) -> None:
    running.kube.change(element_path("parallel-1"), {"spec": {"restartDeletedPod": True, "launchCount": 4}})
    await running.wait(3)
    assert running.pods == ["parallel-0-1", "parallel-1-4"]
    await running.lead()
    assert running.element("parallel-1")["spec"]["restartDeletedPod"] is True
    running.change(processingElements=[{}, {"dataPath": "/d"}])
    await running.wait(5)
    spec = running.element("parallel-1")["spec"]
    assert ("restartDeletedPod" in spec, spec["launchCount"], running.pods[-1]) == (False, 5, "parallel-1-5")


async def test_pools_are_added_changed_and_removed(running: JobCluster) -> None:
    running.change(hostPools=[{"name": "P", "size": 2}, {"name": "Q", "size": 1}])
    await running.wait(5)
    assert running.names(POOLS) == ["parallel-p", "parallel-q"]
    assert running.pool("parallel-p")["spec"] == {"name": "P", "size": 2, "job": "parallel"}
    running.change(hostPools=[{"name": "Q", "size": 1}])
    await running.wait(20)
    assert (running.names(POOLS), running.status()["pools"]) == (["parallel-q"], 1)


async def test_a_default_that_the_api_server_states_is_not_a_change(running: JobCluster) -> None:
    running.kube.change(pool_path("parallel-p"), {"spec": {"mode": "Shared", "elastic": False}})
    running.change(processingElements=[{}])
    await running.wait(5)
    assert running.pool("parallel-p")["spec"]["mode"] == "Shared"


async def test_a_pool_whose_spec_is_none_is_rewritten(running: JobCluster) -> None:
    running.kube.change(pool_path("parallel-p"), {"spec": {"odd": 1}})
    running.change(processingElements=[{}])
    await running.wait(5)
    assert running.pool("parallel-p")["spec"] == {"name": "P", "size": 1, "job": "parallel"}


async def test_a_pool_that_is_deleted_by_hand_is_made_again(running: JobCluster) -> None:
    first = running.pool("parallel-p")["metadata"]["uid"]
    running.delete(pool_path("parallel-p"))
    await running.wait(20)
    assert running.pool("parallel-p")["metadata"]["uid"] != first


@pytest.mark.parametrize("restartable", [True, False])
async def test_an_element_that_is_deleted_by_hand(cluster: JobCluster, *, restartable: bool) -> None:
    cluster.job(processingElements=[{"operators": [{"name": "Op", "restartable": restartable}]}, {}])
    await cluster.lead()
    cluster.delete(element_path("parallel-0"))
    await cluster.wait(10)
    assert cluster.names(ELEMENTS) == ["parallel-0", "parallel-1"][not restartable :]
    assert cluster.status()["phase"] == ("Running" if restartable else "Degraded")


async def test_a_change_of_a_running_job_is_not_undone(running: JobCluster) -> None:
    running.runs = lambda _: False
    running.change(processingElements=[{}, {}, {}], submissionTimeOutInSeconds=2)
    await running.wait(30)
    assert (running.status()["phase"], len(running.pods)) == ("Degraded", 3)
    assert "Degraded" in {reason for reason, _ in running.said}


async def test_a_name_that_is_taken_stops_only_that_element(running: JobCluster) -> None:
    running.kube.create(element_path("parallel-2"), spec={"job": "parallel"})
    running.change(processingElements=[{}, {}, {}, {}])
    await running.wait(10)
    assert "parallel-3-1" in running.pods
    _, _, message = running.condition(running.found(), "Ready")
    assert message.startswith("ProcessingElement parallel-2 exists and does not belong to this Job; 1 of 4")


@pytest.mark.parametrize(("ends", "phase"), [([0, 0], "Completed"), ([0, None], "Running"), ([1, 0], "Failed")])
async def test_the_phase_follows_the_elements(cluster: JobCluster, ends: list[int | None], phase: str) -> None:
    options = [{"restartFailedPod": False}, {}]
    cluster.job(processingElements=options)
    await cluster.lead()
    for place, code in enumerate(ends):
        if code is not None:
            cluster.ends(f"parallel-{place}-1", code)
    await cluster.wait(5)
    assert cluster.status()["phase"] == phase
    assert phase in {reason for reason, _ in cluster.said}


async def test_a_job_that_is_replaced_by_another_one_of_its_name(running: JobCluster) -> None:
    first = running.found()["metadata"]["uid"]
    running.delete(job_path("parallel"))
    running.job(processingElements=[{"dataPath": "/d"}])
    await running.wait(20)
    assert running.found()["metadata"]["uid"] != first
    assert (running.status()["phase"], running.pods, running.names(POOLS)) == ("Running", ["parallel-0-1"], [])


@pytest.mark.untraced
async def test_a_job_that_ran_before_it_was_invalid_is_never_undone(cluster: JobCluster) -> None:
    cluster.job(processingElements=[{}])
    await cluster.lead()
    cluster.change(fusion={"manual": 0})
    await cluster.wait(5)
    assert cluster.condition(cluster.found(), "Submitted")[1] == "Invalid"
    cluster.runs = lambda pod: pod["metadata"]["name"].startswith("parallel-0")  # type: ignore[method-assign]
    cluster.change(fusion={"manual": 2}, processingElements=[{}, {}])
    await cluster.wait(400)
    assert cluster.status()["phase"] == "Degraded"
    assert cluster.pods == ["parallel-0-1", "parallel-1-1"]


def test_what_is_written_about_a_changed_job_does_not_say_that_the_change_was_judged() -> None:
    """Reviews of running Jobs, and plans, write about Jobs that were changed a moment ago."""
    there = [{"type": "Submitted", "status": "True", "reason": "Submitted", "observedGeneration": 1}]
    metadata = {"name": "app", "namespace": "default", "uid": "u", "resourceVersion": "7", "generation": 2}
    job = read_job(Raw(msgspec.json.encode({"metadata": metadata, "spec": {}, "status": {"conditions": there}})))
    said = ConditionState(holds=False, reason="Unsatisfiable", message="no room")
    patch = job_status_patch(job, replace(status_of_job(job), satisfiable=said), "2026-01-01T00:00:00Z")
    assert patch is not None
    written = patch["status"]
    assert {one["type"]: one["observedGeneration"] for one in written["conditions"]} == {
        "Submitted": 1,
        "Ready": 1,
        "Satisfiable": 1,
    }
    assert written["observedGeneration"] == 1
