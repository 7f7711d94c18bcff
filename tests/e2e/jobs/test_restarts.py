"""The restart table: what becomes of a processing element whose pod completes, fails or is deleted."""

from typing import Any

import pytest

from tests.e2e.client.api import Object
from tests.e2e.jobs.streams_jobs import ELEMENTS, Jobs, elements
from tests.e2e.polling import until


def started(jobs: Jobs, operators: list[Object] | None = None, **options: Any) -> Object:
    """The running pod of a job's only element, which has these options."""
    jobs.submit("j", elements("pe", operators=operators or [{"name": "Op"}], **options))
    return jobs.running_pod("pe")


RESTARTED: dict[str, tuple[dict[str, Any], str, int]] = {
    "completed, restartCompletedPod": ({"restartCompletedPod": True}, "Succeeded", 0),
    "failed, restartFailedPod": ({"restartFailedPod": True}, "Failed", 1),
    "failed, nothing said, operators that can be restarted": ({}, "Failed", 1),
    "failed, restartFailedPod, operators that cannot": (
        {"restartFailedPod": True, "operators": [{"name": "Op", "restartable": False}]}, "Failed", 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("options", "phase", "code"), RESTARTED.values(), ids=RESTARTED.keys())
def test_a_pod_is_started_again(jobs: Jobs, options: dict[str, Any], phase: str, code: int) -> None:
    first = started(jobs, **options)
    jobs.end(first, phase, code)
    second = jobs.running_pod("pe", other_than=first["metadata"]["uid"])
    assert second["metadata"]["name"] == "pe-2"
    found = until(lambda: _running(jobs, 1), "the restart is in the status")
    assert found["spec"]["launchCount"] == 2


def _running(jobs: Jobs, restarts: int) -> Object | None:
    found = jobs.element("pe")
    status = found.get("status", {})
    return found if (status.get("phase"), status.get("restarts")) == ("Running", restarts) else None


ENDED: dict[str, tuple[dict[str, Any], str, int, str, bool]] = {
    "completed": ({}, "Succeeded", 0, "Completed", True),
    "failed, restartFailedPod false": ({"restartFailedPod": False}, "Failed", 3, "Failed", False),
    "failed, nothing said, an operator that cannot be restarted": (
        {"operators": [{"name": "Op"}, {"name": "Other", "restartable": False}]}, "Failed", 3, "Failed", False,
    ),
    "failed, kept": ({"restartFailedPod": False, "deleteFailedPod": False}, "Failed", 3, "Failed", True),
}  # fmt: skip


@pytest.mark.parametrize(("options", "phase", "code", "expected", "kept"), ENDED.values(), ids=ENDED.keys())
def test_a_pod_is_not_started_again(
    jobs: Jobs, options: dict[str, Any], phase: str, code: int, expected: str, *, kept: bool
) -> None:
    pod = started(jobs, **options)
    jobs.end(pod, phase, code)
    found = jobs.phase(ELEMENTS, "pe", expected)
    assert found["status"]["ended"]["exitCode"] == code
    if kept:
        assert [one["metadata"]["uid"] for one in jobs.pods("pe")] == [pod["metadata"]["uid"]]
    else:
        until(lambda: not jobs.pods("pe"), "the failed pod is deleted")
    assert jobs.element("pe")["spec"]["launchCount"] == 1


def test_a_deleted_pod_is_started_again_if_so_wanted(jobs: Jobs) -> None:
    first = started(jobs, restartDeletedPod=True)
    jobs.delete_pod(first)
    assert jobs.running_pod("pe", other_than=first["metadata"]["uid"])["metadata"]["name"] == "pe-2"


def test_a_deleted_pod_is_not_started_again_else(jobs: Jobs) -> None:
    jobs.delete_pod(started(jobs))
    jobs.phase(ELEMENTS, "pe", "Stopped")
    assert jobs.pods("pe") == []


def test_an_evicted_pod_is_one_that_failed(jobs: Jobs) -> None:
    first = started(jobs)
    name = first["metadata"]["name"]
    eviction = {
        "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": jobs.space},
    }  # fmt: skip
    jobs.api.call("POST", f"{jobs.pod_path(first)}/eviction", eviction)
    assert jobs.running_pod("pe", other_than=first["metadata"]["uid"])["metadata"]["name"] == "pe-2"


def test_a_failed_pod_that_is_kept_goes_when_the_next_one_fails(jobs: Jobs) -> None:
    first = started(jobs, restartFailedPod=True, deleteFailedPod=False)
    jobs.end(first, "Failed", 1)

    def running(name: str) -> Object | None:
        return next(
            (
                one
                for one in jobs.pods("pe")
                if one["metadata"]["name"] == name and one["status"].get("phase") == "Running"
            ),
            None,
        )

    second = until(lambda: running("pe-2"), "the second pod runs")
    assert {one["metadata"]["name"] for one in jobs.pods("pe")} == {"pe-1", "pe-2"}
    jobs.end(second, "Failed", 1)
    until(lambda: running("pe-3"), "the third pod runs", 30)
    assert {one["metadata"]["name"] for one in jobs.pods("pe")} == {"pe-2", "pe-3"}


def test_a_pod_that_fails_again_and_again_is_started_less_often(jobs: Jobs) -> None:
    pod = started(jobs, restartFailedPod=True)
    jobs.end(pod, "Failed", 1)
    pod = jobs.running_pod("pe", other_than=pod["metadata"]["uid"])
    jobs.end(pod, "Failed", 1)
    until(lambda: jobs.element("pe")["status"].get("failures") == 2, "two failures are counted")
    assert not [one for one in jobs.pods("pe") if one["metadata"]["name"] == "pe-3"]
    assert jobs.running_pod("pe", other_than=pod["metadata"]["uid"])["metadata"]["name"] == "pe-3"


def test_a_raised_launch_count_replaces_the_pod(jobs: Jobs) -> None:
    first = started(jobs)
    jobs.api.patch(jobs.path(ELEMENTS, "pe"), {"spec": {"launchCount": 5}})
    assert jobs.running_pod("pe", other_than=first["metadata"]["uid"])["metadata"]["name"] == "pe-5"


def test_a_launch_count_is_never_lowered(jobs: Jobs) -> None:
    started(jobs)
    jobs.api.patch(jobs.path(ELEMENTS, "pe"), {"spec": {"launchCount": 3}})
    answer = jobs.api.send(
        "PATCH", jobs.path(ELEMENTS, "pe"), {"spec": {"launchCount": 2}}, content="application/merge-patch+json"
    )
    assert answer.code == 422, answer.message
