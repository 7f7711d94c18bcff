"""A Job of operators in a real cluster: it is fused and runs, also where only another fusion fits, or is refused."""

import itertools
from typing import Any

import pytest

from tests.e2e.client.api import Object, RefusedError
from tests.e2e.jobs.streams_jobs import ELEMENTS, JOBS, TEMPLATE, Jobs
from tests.e2e.polling import until


def submit(jobs: Jobs, operators: list[Object], **spec: Any) -> None:
    """A Job of these operators, each of which has a stream to the next one."""
    streams = [{"from": one["name"], "to": other["name"]} for one, other in itertools.pairwise(operators)]
    job = {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "Job",
        "metadata": {"name": "fused", "namespace": jobs.space},
        "spec": {"operators": [{"template": TEMPLATE, **one} for one in operators], "streams": streams, **spec},
    }
    jobs.api.call("POST", jobs.path(JOBS), job)


def fused(jobs: Jobs) -> dict[str, list[str]]:
    """The operators of each processing element."""
    found = jobs.api.get(jobs.path(ELEMENTS))["items"]
    return {one["metadata"]["name"]: [each["name"] for each in one["spec"]["operators"]] for one in found}


def nodes(jobs: Jobs) -> dict[str, str]:
    """The node of each processing element."""
    return {one["metadata"]["labels"]["streams.ibm.com/pe"]: one["spec"]["nodeName"] for one in jobs.pods()}


ROW = [{"name": "Src"}, {"name": "Work"}, {"name": "Sink"}]


def test_operators_are_fused_and_run(jobs: Jobs) -> None:
    submit(jobs, ROW, fusion={"manual": 1})
    job = jobs.phase(JOBS, "fused", "Running")
    assert fused(jobs) == {"fused-0": ["Src", "Work", "Sink"]}
    assert {name: job["status"]["fusion"][name] for name in ("scheme", "asked", "made", "inside")} == {
        "scheme": "manual", "asked": 1, "made": 1, "inside": 100,
    }  # fmt: skip


def test_the_rules_separate_and_the_pods_keep_to_them(jobs: Jobs) -> None:
    """Two hosts for two operators; the third goes to the one that it has a stream with, and costs are requested."""
    operators = [
        {"name": "Src", "placement": 'host("node-0")', "cost": "100m"},
        {"name": "Work", "placement": 'host("node-1")', "cost": "100m"},
        {"name": "Sink", "cost": "50m"},
    ]
    submit(jobs, operators, fusion={"manual": 1})
    jobs.phase(JOBS, "fused", "Running")
    assert fused(jobs) == {"fused-0": ["Src"], "fused-1": ["Work", "Sink"]}
    assert nodes(jobs) == {"fused-0": "node-0", "fused-1": "node-1"}
    requests = {
        one["metadata"]["labels"]["streams.ibm.com/pe"]: one["spec"]["containers"][0]["resources"]["requests"]["cpu"]
        for one in jobs.pods()
    }
    assert requests == {"fused-0": "100m", "fused-1": "150m"}


def test_a_job_that_fits_only_in_another_way_runs(jobs: Jobs) -> None:
    """No node holds all three operators, so they are fused into more elements than are asked for."""
    free = int(jobs.api.get("/api/v1/nodes/node-0")["status"]["allocatable"]["cpu"]) * 1000
    operators = [{**one, "cost": f"{free // 2}m"} for one in ROW]
    submit(jobs, operators, fusion={"manual": 1})
    job = jobs.phase(JOBS, "fused", "Running")
    assert job["status"]["fusion"]["asked"] == 1
    assert job["status"]["fusion"]["made"] == len(fused(jobs)) > 1


def test_a_job_that_fits_in_no_way_is_refused_in_the_words_of_its_operators(jobs: Jobs) -> None:
    operators = [{"name": name, "placement": f'host("node-{at}"), hostColocation("x")'} for at, name in enumerate("AB")]
    with pytest.raises(RefusedError) as refused:
        submit(jobs, operators)
    assert (
        'A: host("node-0"), A: hostColocation("x"), B: host("node-1") and B: hostColocation("x") cannot all hold: no '
        "fusion of 2 operators fits on the cluster."
    ) in str(refused.value)


def test_a_change_replaces_what_it_changes_only(jobs: Jobs) -> None:
    """An operator more: the element that gets a stream to it is replaced, the other keeps its pod."""
    apart = [{**one, "placement": "partitionIsolation"} for one in ROW]
    submit(jobs, apart)
    jobs.phase(JOBS, "fused", "Running")
    before = {one["metadata"]["labels"]["streams.ibm.com/pe"]: one["metadata"]["uid"] for one in jobs.pods()}
    job = jobs.job("fused")
    job["spec"]["operators"].append({"name": "Log", "placement": "partitionIsolation", "template": TEMPLATE})
    job["spec"]["streams"].append({"from": "Sink", "to": "Log"})
    jobs.api.call("PUT", jobs.path(JOBS, "fused"), job)

    def grown() -> bool:
        pods = {one["metadata"]["labels"]["streams.ibm.com/pe"]: one["metadata"]["uid"] for one in jobs.pods()}
        kept = all(pods.get(name) == before[name] for name in ("fused-0", "fused-1"))
        return kept and "fused-3" in pods and pods.get("fused-2") not in {None, before["fused-2"]}

    until(grown, "the changed element is replaced, and no other")
