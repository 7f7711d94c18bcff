"""Which reviews the server hands to the process for Jobs."""

import asyncio
import sys
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

from tests.answers import refused, response
from tests.builders import cluster, nodes, pod, review
from tests.cluster.judging.job_reviews import APART, LARGE, TWO
from tests.workload_templates import workload
from webhook.admission.answer import Answer
from webhook.app.serve import validator, with_kinds, worker_of
from webhook.cluster.judging.changes import ChangeLog
from webhook.cluster.judging.job_worker import JobWorker
from webhook.cluster.queries.review_queries import ReviewQueries
from webhook.placement.inventory.policy import Policy
from webhook.server.fatal_error import FatalError
from webhook.server.metrics import ReviewMetrics
from webhook.server.reviews import Reviewer
from webhook.settings import policy_of, read

pytestmark = pytest.mark.integration

CLUSTER: Any = SimpleNamespace(inventory=cluster(nodes(1)))
"""A cluster of one node, which stays as it is."""


def made(metrics: ReviewMetrics, *, wanted: bool = True) -> JobWorker | None:
    settings = read({"job_process": wanted})
    return worker_of(settings, CLUSTER, ChangeLog(), ReviewQueries(), metrics)


@pytest.fixture
async def worker() -> AsyncIterator[JobWorker]:
    found = made(ReviewMetrics())
    assert found is not None
    running = asyncio.create_task(found.run())
    await asyncio.sleep(0)
    yield found
    running.cancel()
    await asyncio.wait({running})


@pytest.fixture
def validating(worker: JobWorker) -> Reviewer:
    return validator(CLUSTER, Policy(), ReviewQueries(), worker)


@pytest.mark.parametrize("body", [TWO, LARGE], ids=["small", "large"])
async def test_jobs_are_for_the_process(validating: Reviewer, worker: JobWorker, body: bytes) -> None:
    answer = validating(body)
    assert not isinstance(answer, Answer)
    assert (refused(await answer)[0], worker.pid is not None) == (403, True)


async def test_a_workload_without_others_is_not(validating: Reviewer, worker: JobWorker) -> None:
    found = workload("Deployment", APART, name="sink", count=1)
    answer = validating(review(found, kind="Deployment", group="apps"))
    assert not isinstance(answer, Answer)
    assert (response(await answer)["allowed"], worker.pid) == (True, None)


async def test_a_pod_is_not(validating: Reviewer, worker: JobWorker) -> None:
    assert isinstance(validating(review(pod())), Answer)
    assert worker.pid is None


async def test_without_the_process_jobs_are_for_the_server() -> None:
    answer = validator(CLUSTER, Policy(), ReviewQueries())(TWO)
    assert not isinstance(answer, Answer)
    assert refused(await answer)[0] == 403


def test_the_process_can_be_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    assert made(ReviewMetrics(), wanted=False) is None
    monkeypatch.setattr(sys, "platform", "darwin")
    assert made(ReviewMetrics()) is None


def test_what_becomes_of_the_process_is_counted() -> None:
    metrics = ReviewMetrics()
    counting = metrics.job_process(lambda: True)
    counting.started()
    counting.fell_back("ended")
    counting.took(0.3)
    value = metrics.registry.get_sample_value
    assert value("streams_placement_job_process_running") == 1
    assert value("streams_placement_job_process_starts_total") == 1
    assert value("streams_placement_job_process_fallbacks_total", {"cause": "ended"}) == 1
    assert value("streams_placement_job_process_fallbacks_total", {"cause": "stuck"}) == 0
    assert value("streams_placement_job_decision_seconds_count") == 1


def test_a_kind_that_is_not_known_is_fatal() -> None:
    settings = read({"reviewed_kinds": "RayCluster.ray.io, Topology.example.com", "operator_accounts": "a, b,"})
    said = (
        "^--reviewed-kinds: Topology.example.com is none of CronWorkflow.argoproj.io, Workflow.argoproj.io, Job.batch"
    )
    with pytest.raises(FatalError, match=said):
        with_kinds(policy_of(settings))
    known = with_kinds(policy_of(settings.model_copy(update={"reviewed_kinds": "RayCluster.ray.io"})))
    assert (known.reviewed, known.operator_accounts) == ({("ray.io", "RayCluster")}, {"a", "b"})
