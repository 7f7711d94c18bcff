"""The controller asks for the claims of a Job before it judges the Job, and before it plans elements anew."""

import json
from typing import Any

import pytest
from msgspec import Raw

from tests.admission.pods.test_volumes import CLAIMED, NAME, Lookups, streams_job
from tests.builders import cluster, nodes
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.controller.jobs.job_judge import JobJudge
from webhook.controller.jobs.reservations import Reservations
from webhook.controller.jobstore.records import StoredJob, read_job
from webhook.controller.jobstore.store import JobStore
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.job_progress import UNSATISFIABLE
from webhook.placement.jobs.replanning import Standing
from webhook.placement.objects.jobs.job_spec import JobSpec


def judge(volumes: Lookups | None) -> JobJudge:
    watched = ObservedInventory(cluster(nodes(3)))
    kept = Reservations(watched, JobStore(), (lambda: 0.0, lambda: 0.0))
    return JobJudge(watched.inventory, Policy(), kept, volumes=volumes)


def stored(**template: Any) -> tuple[StoredJob, JobSpec]:
    """A Job of one element for the third node."""
    found = streams_job(**template)
    found["metadata"] |= {"uid": "u", "resourceVersion": "1"}
    job = read_job(Raw(json.dumps(found).encode()))
    spec = job.stated()
    assert spec is not None
    return job, spec


async def test_a_job_whose_volume_is_elsewhere_is_unsatisfiable() -> None:
    lookups = Lookups()
    found = await judge(lookups).judge(*stored(**CLAIMED))
    assert (found.satisfiable.reason, lookups.asked) == (UNSATISFIABLE, [(NAME,)])
    assert 'host("node-c") and PersistentVolumeClaim c cannot both hold' in found.satisfiable.message


async def test_so_are_elements_that_are_launched_again() -> None:
    lookups = Lookups()
    found = await judge(lookups).replan(*stored(**CLAIMED), Standing({}, frozenset({"app-0"})))
    assert ([*found.short], lookups.asked) == (["app-0"], [(NAME,)])


@pytest.mark.parametrize("volumes", [Lookups(), None], ids=["nothing to ask", "nobody to ask"])
async def test_a_job_without_claims_is_judged_as_it_is(volumes: Lookups | None) -> None:
    found = await judge(volumes).judge(*stored())
    assert (found.refused, volumes.asked if volumes else []) == (False, [])
