"""A Job of operators: its controller fuses them, and what changes later moves as little as can be."""

import json
from typing import Any

import pytest
from msgspec import Raw

from tests.apiserver.paths import ELEMENTS
from tests.builders import cluster as inventory_of
from tests.builders import nodes
from tests.controller.jobs.job_cluster import JobCluster
from tests.placement.planning.at_once import AtOnce
from tests.suite.example_count import EVERY_DAY
from webhook.cluster.queries.job_verdicts import AtOnce as SolvedAtOnce
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.controller.jobs.job_judge import JobJudge
from webhook.controller.jobs.reservations import Reservations
from webhook.controller.jobstore.records import read_job
from webhook.controller.jobstore.store import JobStore
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.jobs.job_spec import JobSpec

Json = dict[str, Any]

PATIENT = 3600.0
"""Seconds for a search: what a test sees does not depend on how busy the machine is."""

MODEL: Json = {
    "fusion": {"manual": 2},
    "operators": [
        {"name": "Src", "cost": "500m", "restartable": True},
        {"name": "Work", "placement": 'hostExlocation("apart"), partitionExlocation("p")', "cost": "250m"},
        {"name": "Sink", "placement": 'hostExlocation("apart")'},
    ],
    "streams": [{"from": "Src", "to": "Work", "rate": 9}, {"from": "Work", "to": "Sink"}],
}


def operators(cluster: JobCluster) -> dict[str, list[str]]:
    """The operators of each ProcessingElement."""
    return {
        found["metadata"]["name"]: [one["name"] for one in found["spec"]["operators"]]
        for found in cluster.kube.all(ELEMENTS)
    }


async def test_operators_become_elements_with_pods(cluster: JobCluster) -> None:
    cluster.job(**MODEL)
    await cluster.lead()
    assert operators(cluster) == {"parallel-0": ["Src", "Work"], "parallel-1": ["Sink"]}
    assert cluster.pods == ["parallel-0-1", "parallel-1-1"]
    status = cluster.status()
    assert status["phase"] == "Running"
    assert status["processingElements"] == 2
    fusion = status["fusion"]
    assert (fusion["scheme"], fusion["asked"], fusion["made"], fusion["inside"]) == ("manual", 2, 2, 90)
    assert fusion["separations"] == [
        {"operators": ["Work", "Sink"], "clause": 'Work: hostExlocation("apart") / Sink: hostExlocation("apart")'}
    ]
    spec = cluster.element("parallel-0")["spec"]
    assert spec["resources"]["requests"] == {"cpu": "750m"}
    assert spec["operators"][1] == {"name": "Work", "placement": 'hostExlocation("apart")'}


async def test_a_change_replaces_what_it_changes_only(cluster: JobCluster) -> None:
    """One operator more: the element with the changed streams is replaced, the other keeps its pod."""
    cluster.job(**MODEL)
    await cluster.lead()
    uids = {name: cluster.element(name)["metadata"]["uid"] for name in ("parallel-0", "parallel-1")}
    cluster.change(
        operators=[*MODEL["operators"], {"name": "Log", "placement": "partitionIsolation"}],
        streams=[*MODEL["streams"], {"from": "Sink", "to": "Log"}],
        fusion={"manual": 3},
    )
    await cluster.wait(30)
    assert operators(cluster) == {"parallel-0": ["Src", "Work"], "parallel-1": ["Sink"], "parallel-2": ["Log"]}
    assert {name: cluster.element(name)["metadata"]["uid"] for name in uids} == uids
    assert cluster.pods == ["parallel-0-1", "parallel-1-2", "parallel-2-1"]


async def test_a_new_controller_leaves_the_fusion_as_it_is(cluster: JobCluster) -> None:
    cluster.job(**MODEL)
    await cluster.lead()
    before = cluster.status()["fusion"], cluster.pods
    await cluster.lead()
    assert (cluster.status()["fusion"], cluster.pods) == before


async def test_what_contradicts_itself_fails_and_nothing_is_made(cluster: JobCluster) -> None:
    """Whoever only audits gets no processing elements either: there is no way to make them."""
    tied = 'partitionColocation("t")'
    operators = [
        {"name": "A", "placement": f'{tied}, host("node-0")'},
        {"name": "B", "placement": f'{tied}, host("node-1")'},
    ]
    cluster.rules = ReconcilerSettings(Policy(audit=True))
    cluster.job(operators=operators)
    await cluster.lead()
    assert cluster.status()["phase"] == "Failed"
    assert cluster.names(ELEMENTS) == []
    assert cluster.condition(cluster.found(), "Submitted") == (
        "False",
        "Unsatisfiable",
        (
            'A: partitionColocation("t"), B: partitionColocation("t"), A: host("node-0") and B: host("node-1") cannot '
            "all hold: operators of one partition colocation share a processing element. Nearest fix: drop A: "
            'partitionColocation("t"), or drop B: partitionColocation("t").'
        ),
    )


async def test_where_the_webhook_changes_no_pod_operators_are_fused_all_the_same(cluster: JobCluster) -> None:
    cluster.rules = ReconcilerSettings(Policy(excluded=frozenset({"default"})))
    cluster.job(**MODEL)
    await cluster.lead()
    assert operators(cluster) == {"parallel-0": ["Src", "Work"], "parallel-1": ["Sink"]}


async def test_operators_that_are_not_fused_in_time_run_nowhere() -> None:
    """Nine isolated operators, among which the Job's devices do not divide; one number of elements is tried."""
    metadata = {"name": "parallel", "namespace": "default", "uid": "u", "resourceVersion": "1"}
    spec = {
        "bundle": {"name": "a.sab"},
        "fusion": {"manual": 2},
        "operators": [{"name": f"Op{at}", "placement": "partitionIsolation"} for at in range(9)],
        "resources": {"limits": {"nvidia.com/gpu": 4}},
    }
    job = read_job(Raw(json.dumps({"metadata": metadata, "spec": spec}).encode()))
    watched = ObservedInventory(inventory_of(nodes(3)))
    kept = Reservations(watched, JobStore(), (lambda: 0.0, lambda: 0.0))
    judge = JobJudge(watched.inventory, Policy(), kept, lambda: AtOnce(0))
    stated = job.model()
    assert stated is not None
    found = await judge.judge(job, stated)
    assert found.refused
    assert found.satisfiable.message == (
        "no fusion of the operators was found in time; try fewer rules or another fusion.manual"
    )


async def test_both_forms_are_one_too_many(cluster: JobCluster) -> None:
    cluster.job(**MODEL, processingElements=[{}])
    await cluster.lead()
    assert cluster.condition(cluster.found(), "Submitted")[1:] == (
        "Invalid",
        "spec.operators: stated beside processingElements",
    )


def test_a_fusion_that_cannot_be_read_is_none() -> None:
    item = {"metadata": {"name": "j"}, "spec": {"operators": [{"name": "A"}]}, "status": {"fusion": 7}}
    job = read_job(Raw(json.dumps(item).encode()))
    assert job.fusion() is None
    assert job.stated() == JobSpec()


@pytest.mark.untraced
@pytest.mark.parametrize("obeyed", [True, False], ids=["after a request", "before a request"])
async def test_the_controller_may_die_between_any_two_steps_of_a_fusion(*, obeyed: bool) -> None:
    """While a Job is fused and submitted, or changed: its successor makes the same, and one pod for each element."""
    deaths, every = 0, 24 if EVERY_DAY else 1
    for at in range(1, 200, every):
        cluster = JobCluster()
        cluster.rules = ReconcilerSettings(Policy(), solving=lambda: SolvedAtOnce(PATIENT))
        try:
            await cluster.lead()
            line = cluster.candidate.line
            line.ends, line.obeyed_at_the_end = line.requests + at, obeyed
            cluster.job(**MODEL)
            await cluster.wait(5)
            await cluster.lead() if line.dead.is_set() else None
            assert operators(cluster) == {"parallel-0": ["Src", "Work"], "parallel-1": ["Sink"]}
            assert (cluster.status()["phase"], cluster.status()["running"]) == ("Running", 2)
            uids = {name: cluster.element(name)["metadata"]["uid"] for name in ("parallel-0", "parallel-1")}
            kept = cluster.pod("parallel-0-1")["metadata"]["uid"]
            cluster.change(
                operators=[*MODEL["operators"], {"name": "Log", "placement": "partitionIsolation"}],
                streams=[*MODEL["streams"], {"from": "Sink", "to": "Log"}],
                fusion={"manual": 3},
            )
            await cluster.wait(30)
            await cluster.lead(30) if line.dead.is_set() else None
            assert operators(cluster) == {"parallel-0": ["Src", "Work"], "parallel-1": ["Sink"], "parallel-2": ["Log"]}
            assert {name: cluster.element(name)["metadata"]["uid"] for name in uids} == uids
            assert cluster.pods == ["parallel-0-1", "parallel-1-2", "parallel-2-1"]
            assert cluster.pod("parallel-0-1")["metadata"]["uid"] == kept
            assert (cluster.status()["phase"], cluster.status()["running"]) == ("Running", 3)
            deaths += line.dead.is_set()
            if not line.dead.is_set():
                break
        finally:
            await cluster.end()
    assert deaths > 20 // every
