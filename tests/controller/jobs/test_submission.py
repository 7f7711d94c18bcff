"""A Job is submitted, or cannot be."""

from typing import Any

import pytest

from kubeapi.client.errors import ApiError, Cause
from tests.apiserver.paths import ELEMENTS, PODS, POOLS, element_path, job_path, pod_path, pool_path
from tests.controller.jobs.job_cluster import JobCluster
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.placement.inventory.policy import Policy

Json = dict[str, Any]

ALONE = [{"name": "Source", "placement": "hostIsolation"}]


async def test_a_job_gets_its_pools_elements_and_pods(cluster: JobCluster) -> None:
    cluster.job(hostPools=[{"name": "MyPool", "size": 1}], processingElements=[{}, {}, {"name": "sink"}])
    await cluster.lead()
    assert cluster.names(POOLS) == ["parallel-mypool"]
    assert cluster.names(ELEMENTS) == ["parallel-0", "parallel-1", "sink"]
    assert cluster.pods == ["parallel-0-1", "parallel-1-1", "sink-1"]
    status = cluster.status()
    assert {name: status[name] for name in ("phase", "processingElements", "running", "pools", "readyPools")} == {
        "phase": "Running", "processingElements": 3, "running": 3, "pools": 1, "readyPools": 1,
    }  # fmt: skip
    assert cluster.condition(cluster.found(), "Submitted") == (
        "True", "Submitted", "1 HostPool and 3 processing elements",
    )  # fmt: skip
    assert cluster.condition(cluster.found(), "Ready") == ("True", "Running", "3 processing elements run")
    assert ("Running", "3 processing elements run") in cluster.said


async def test_objects_say_whose_they_are_and_what_they_are_of(cluster: JobCluster) -> None:
    cluster.job(hostPools=[{"name": "P", "size": 1}], processingElements=[{"dataPath": "/d"}])
    await cluster.lead()
    owner = {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "Job",
        "name": "parallel",
        "uid": cluster.found()["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    for made in (cluster.pool("parallel-p"), cluster.element()):
        assert made["metadata"]["ownerReferences"] == [owner]
        assert made["metadata"]["labels"] == {"streams.ibm.com/job": "parallel"}
    assert cluster.pool("parallel-p")["spec"] == {"name": "P", "size": 1, "job": "parallel"}
    spec = cluster.element()["spec"]
    assert {**spec, "contentId": "..."} == {
        "dataPath": "/d", "job": "parallel", "contentId": "...", "launchCount": 1,
    }  # fmt: skip


async def test_isolated_elements_are_made_first(cluster: JobCluster) -> None:
    cluster.job(processingElements=[{}, {"operators": ALONE}])
    await cluster.lead()
    assert [found["metadata"]["name"] for found in cluster.kube.all(ELEMENTS)] == ["parallel-1", "parallel-0"]


async def test_a_job_without_elements_runs(cluster: JobCluster) -> None:
    cluster.job()
    await cluster.lead()
    assert cluster.status()["phase"] == "Running"


async def test_a_job_that_breaks_rules_is_failed_and_nothing_is_made(cluster: JobCluster) -> None:
    cluster.job(fusion={"manual": 0}, processingElements=[{}])
    await cluster.lead()
    assert (cluster.status()["phase"], cluster.owned) == ("Failed", ["parallel"])
    assert cluster.condition(cluster.found(), "Submitted")[1:] == ("Invalid", "spec.fusion.manual: 0 is less than 1")
    assert cluster.said == [("Invalid", "spec.fusion.manual: 0 is less than 1")]
    cluster.change(fusion={"manual": 1})
    await cluster.lead()
    assert cluster.status()["phase"] == "Running"


async def test_a_job_that_cannot_be_read_says_so(cluster: JobCluster) -> None:
    cluster.job(processingElements=[{"launchPad": 1}])
    await cluster.lead()
    _, reason, message = cluster.condition(cluster.found(), "Submitted")
    said = "spec.processingElements[0]: object contains unknown field `launchPad`"
    assert (reason, message) == ("Invalid", said)


async def test_a_job_with_more_elements_than_a_model_may_have_is_failed(cluster: JobCluster) -> None:
    cluster.job(processingElements=[{}] * 1001)
    await cluster.lead()
    assert cluster.condition(cluster.found(), "Submitted")[2] == (
        "spec.processingElements: 1001 of them, at most 1000 are allowed"
    )


# Failed submissions


async def test_pods_that_do_not_start_in_time_fail_it_and_nothing_is_left(cluster: JobCluster) -> None:
    cluster.runs = lambda pod: pod["metadata"]["name"] != "parallel-1-1"
    cluster.job(
        hostPools=[{"name": "P", "size": 1}], processingElements=[{}, {}], submissionTimeOutInSeconds=20
    )  # fmt: skip
    await cluster.lead(10)
    assert cluster.status()["phase"] == "Submitting"
    assert cluster.condition(cluster.found(), "Ready")[2] == (
        "1 of 2 processing elements does not run: parallel-1: PodPending"
    )
    await cluster.lead(30)
    assert (cluster.owned, cluster.status()["phase"]) == (["parallel"], "Failed")
    said = "after 20 s: 1 of 2 processing elements does not run: parallel-1: PodPending"
    assert cluster.condition(cluster.found(), "Submitted") == ("False", "TimedOut", said)
    assert ("TimedOut", said) in cluster.said


async def test_another_generation_starts_over(cluster: JobCluster) -> None:
    cluster.runs = lambda _: False
    cluster.job(processingElements=[{}, {}], submissionTimeOutInSeconds=2)
    await cluster.lead(10)
    assert cluster.owned == ["parallel"]
    cluster.runs = lambda _: True
    cluster.change(processingElements=[{}])
    await cluster.lead(10)
    assert (cluster.status()["phase"], cluster.pods) == ("Running", ["parallel-0-1"])


async def test_a_pool_that_is_not_ready_in_time_fails_it(cluster: JobCluster) -> None:
    cluster.job(hostPools=[{"name": "P", "size": 9, "elastic": True}], submissionTimeOutInSeconds=4)
    await cluster.lead(2)
    _, _, message = cluster.condition(cluster.found(), "Ready")
    assert message.startswith("1 of 1 HostPool not ready: parallel-p (")
    await cluster.lead(10)
    assert cluster.condition(cluster.found(), "Submitted")[1] == "TimedOut"
    assert cluster.owned == ["parallel"]


async def test_a_pool_that_fails_fails_it_at_once(cluster: JobCluster) -> None:
    cluster.rules = ReconcilerSettings(Policy(audit=True))
    cluster.job(hostPools=[{"name": "P", "size": 9}], processingElements=[{}])
    await cluster.lead(10)
    _, reason, message = cluster.condition(cluster.found(), "Submitted")
    assert (reason, message.partition(": ")[0]) == ("PoolFailed", "HostPool parallel-p has failed")
    assert cluster.owned == ["parallel"]


@pytest.mark.parametrize(
    ("path", "spec", "what"),
    [
        (pool_path("parallel-p"), {"size": 1}, "HostPool parallel-p"),
        (element_path("parallel-0"), {"job": "parallel"}, "ProcessingElement parallel-0"),
    ],
    ids=["pool", "element"],
)
async def test_a_name_that_is_taken_fails_it_at_once(cluster: JobCluster, path: str, spec: Json, what: str) -> None:
    cluster.kube.create(path, spec=spec)
    cluster.job(hostPools=[{"name": "P", "size": 1}], processingElements=[{}])
    await cluster.lead()
    said = ("False", "NameTaken", f"{what} exists and does not belong to this Job")
    assert cluster.condition(cluster.found(), "Submitted") == said
    assert path in cluster.kube.objects


async def test_an_object_of_an_earlier_job_of_the_name_is_waited_for(cluster: JobCluster) -> None:
    cluster.job(processingElements=[{}])
    await cluster.lead()
    first = cluster.element()["metadata"]["uid"]
    cluster.garbage.sweep = lambda: None  # type: ignore[method-assign]
    cluster.delete(job_path("parallel"))
    cluster.job(processingElements=[{}])
    await cluster.lead()
    assert cluster.condition(cluster.found(), "Ready")[2] == (
        "ProcessingElement parallel-0 of an earlier Job of this name is still there: "
        "1 of 1 processing element does not run"
    ).replace("there: ", "there; ")
    assert cluster.element()["metadata"]["uid"] == first
    assert cluster.condition(cluster.element(), "PodCreated")[1] in {"Created", "JobReplaced"}
    del cluster.garbage.sweep  # type: ignore[method-assign]
    await cluster.lead(10)
    assert cluster.element()["metadata"]["uid"] != first
    assert cluster.status()["phase"] == "Running"


@pytest.mark.parametrize("cause", [Cause.FORBIDDEN, Cause.INVALID, Cause.BROKEN], ids=str)
async def test_objects_that_the_api_server_refuses_are_tried_again(cluster: JobCluster, cause: Cause) -> None:
    cluster.job(processingElements=[{}])
    await cluster.lead(0)

    def refuse(path: str) -> None:
        if path.endswith("/streamspes"):
            raise ApiError(cause, "exceeded quota: streamspes")

    cluster.candidate.line.before = refuse
    await cluster.wait(3)
    assert cluster.condition(cluster.found(), "Ready")[2] == (
        "exceeded quota: streamspes; 1 of 1 processing element does not run"
    )
    cluster.candidate.line.before = lambda _: None
    await cluster.wait(10)
    assert cluster.status()["phase"] == "Running"


async def test_a_refusal_in_ever_other_words_is_not_tried_at_once(cluster: JobCluster) -> None:
    cluster.job(processingElements=[{}])
    await cluster.lead(0)
    tries: list[str] = []

    def refuse(path: str) -> None:
        if path.endswith("/streamspes"):
            tries.append(path)
            raise ApiError(Cause.FORBIDDEN, f"no, for the {len(tries)}th time")

    cluster.candidate.line.before = refuse
    await cluster.wait(60)
    assert 5 < len(tries) < 20


# Deletion


@pytest.mark.parametrize("propagation", ["", "Foreground"])
async def test_nothing_is_left_of_a_job_that_is_deleted(cluster: JobCluster, propagation: str) -> None:
    cluster.job(hostPools=[{"name": "P", "size": 2}], processingElements=[{}, {}])
    await cluster.lead()
    cluster.delete(job_path("parallel"), propagation)
    await cluster.wait(30)
    assert cluster.owned == []


async def test_a_job_that_is_being_deleted_says_so(cluster: JobCluster) -> None:
    cluster.job(hostPools=[{"name": "P", "size": 1}], processingElements=[{}])
    await cluster.lead()
    cluster.kube.change(pod_path("parallel-0-1"), {"metadata": {"finalizers": ["mine"]}})
    cluster.garbage.sweep = lambda: None  # type: ignore[method-assign]
    cluster.delete(job_path("parallel"), "Foreground")
    await cluster.wait(3)
    assert cluster.status()["phase"] == "Deleting"
    assert cluster.condition(cluster.found(), "Ready") == ("False", "Deleting", "it is being deleted")
    cluster.kube.remove(pod_path("parallel-0-1"))
    await cluster.wait(3)
    assert cluster.names(PODS) == []
    assert cluster.condition(cluster.element(), "PodCreated")[1:] == (
        "Created", "",
    )  # fmt: skip
