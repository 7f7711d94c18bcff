"""Whatever happens to Jobs and their controllers: an element has one pod, an end counts once, and all ends well."""

import asyncio
from typing import Any

import pytest

from tests.apiserver.paths import NODES, PODS, element_path, job_path, pod_path
from tests.apiserver.storage import Storage
from tests.controller.controller_process import FaultyApi
from tests.controller.histories.convergence import marks_of
from tests.controller.histories.lived_histories import live_each, telling
from tests.controller.jobs.histories.job_safety import JobSafetyMonitor, at_rest
from tests.controller.jobs.histories.random_job_history import JobHistory
from tests.controller.virtual_time import in_virtual_time
from tests.suite.example_count import some_of

pytestmark = pytest.mark.examples

BATCH = 6
"""Histories of one test."""

HISTORIES = some_of(200, every_day=4)

LONG = 900.0
"""Seconds in which everything is put right: submissions that time out, and back-offs of five minutes."""


async def lived(seed: int) -> JobHistory:
    """A history, and what becomes of it."""
    history = JobHistory(seed)
    monitor = JobSafetyMonitor(history)
    try:
        await history.run()
        await asyncio.sleep(LONG)
        violations = [*monitor.violations, *at_rest(history.kube)]
        assert not violations, telling(history, violations)
        await stays_calm(history)
        history.end_of_jobs()
        await asyncio.sleep(LONG)
        left = [*at_rest(history.kube), *(name for name in history.kube.objects if "/nodes/" not in name)]
        left += [str(found) for found in history.kube.all(NODES) if [*marks_of(found)]]
        assert not left, telling(history, left)
    finally:
        await history.end()
    return history


async def stays_calm(history: JobHistory) -> None:
    """No controller writes anything about Jobs any more, not even a new leader."""
    leader = history.leader
    assert leader is not None
    written = len(leader.line.writes)
    await asyncio.sleep(LONG)
    assert leader.line.writes[written:] == [], telling(history, leader.line.writes[written:])
    leader.depose()
    history._lead()  # noqa: SLF001 -- as the history does
    await asyncio.sleep(LONG)
    assert history.candidates[-1].line.writes == [], telling(history, history.candidates[-1].line.writes)


@pytest.mark.parametrize("first", range(0, HISTORIES, BATCH))
def test_all_is_well_in_the_end(first: int) -> None:
    live_each(lived, range(first, min(first + BATCH, HISTORIES)))


def test_quiet_makes_good_what_a_busy_world_has_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pod begins, and the one whose owner is gone is deleted, though nothing changes any more."""
    history = JobHistory(0)
    monkeypatch.setattr(history.dice, "random", lambda: 0.99)

    async def quiet() -> None:
        history.node_comes(0)
        history.begin()
        await asyncio.sleep(0.0)
        history.kube.create(pod_path("new"), spec={})
        history.kube.create(pod_path("orphan"), metadata={"ownerReferences": [{"uid": "uid-of-nothing"}]}, spec={})
        await asyncio.sleep(1.0)
        assert "status" not in history.kube.objects[pod_path("new")]
        history.calm()
        await asyncio.sleep(10.0)
        await history.end()

    in_virtual_time(quiet())
    assert [(pod["metadata"]["name"], pod["status"]["phase"]) for pod in history.kube.all(PODS)] == [("new", "Running")]


def test_a_pod_that_never_began_is_a_violation_at_rest() -> None:
    kube = Storage()
    job = kube.create(job_path("app"), spec={})
    element = kube.create(element_path("app-0"), metadata=owned_by(job), spec={"job": "app", "launchCount": 1})
    kube.create(pod_path("app-0-1"), metadata=owned_by(element), spec={})
    *_, last = at_rest(kube)
    assert last == ("app-0 ({'job': 'app', 'launchCount': 1}) says {}, and has [('app-0-1', {})]: nothing to wait for")


def test_no_element_is_judged_by_an_earlier_job_of_the_name() -> None:
    """The earlier one wanted no restarts; the element is of the later one, which wants them."""
    history = JobHistory(0)
    kube, monitor = history.kube, JobSafetyMonitor(history)
    kube.create(job_path("app"), spec={"processingElement": {"restartFailedPod": False}})
    kube.remove(job_path("app"))
    job = kube.create(job_path("app"), spec={"processingElement": {"restartFailedPod": True}})
    element = kube.create(element_path("app-0"), metadata=owned_by(job), spec={"job": "app", "launchCount": 1})
    pod = kube.create(pod_path("app-0-1"), metadata=owned_by(element), spec={}, status={"phase": "Failed"})
    status = {"podUID": pod["metadata"]["uid"], "ended": {"launchCount": 1, "outcome": "Failed"}}
    kube.writer = FaultyApi(kube)
    kube.change(element_path("app-0"), {"status": status})
    assert monitor.violations == [f"app-0: 0 restarts after {status['ended']}, and the table says {{True}}"]


def owned_by(owner: dict[str, Any]) -> dict[str, Any]:
    return {"ownerReferences": [{"uid": owner["metadata"]["uid"]}]}
