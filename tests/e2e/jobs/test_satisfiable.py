"""The plan of a Job is written and followed, and a Job that runs says whether it could be started again."""

import copy
import time

from tests.e2e.client.api import Object
from tests.e2e.jobs.devices.device_slices import DRA, chip_nodes, chips, claim_template, with_claim
from tests.e2e.jobs.streams_jobs import JOBS, TEMPLATE, Jobs, conditions
from tests.e2e.nodes import create_nodes, node
from tests.e2e.polling import until


def apart(count: int, placement: str = 'hostExlocation("t")') -> list[Object]:
    return [
        {"name": f"e{at}", "operators": [{"name": f"E{at}", "placement": placement}], "template": TEMPLATE}
        for at in range(count)
    ]


def test_pods_run_where_they_were_planned(jobs: Jobs) -> None:
    pool = {"name": "Two", "size": 2}
    elements = [*apart(3), *apart(2, "host(Two)")]
    elements = [{**element, "name": f"e{at}"} for at, element in enumerate(copy.deepcopy(elements))]
    for at, element in enumerate(elements):
        element["operators"][0]["name"] = f"E{at}"
    jobs.submit("j", elements, hostPools=[pool])
    plan = jobs.phase(JOBS, "j", "Running")["status"]["plan"]
    planned = {element: found["name"] for found in plan["nodes"] for element in found["processingElements"]}
    assert {name: jobs.running_pod(name)["spec"]["nodeName"] for name in planned} == planned
    (hosts,) = plan["pools"]
    stored = jobs.api.get(jobs.path("streamshostpools", "j-two"))["status"]["hosts"]
    assert hosts == {"name": "j-two", "hosts": [host["name"] for host in stored]}


def test_a_lost_node_is_told_within_ten_seconds_and_its_return_as_well(jobs: Jobs) -> None:
    there = len(jobs.api.get("/api/v1/nodes")["items"])
    create_nodes(jobs.api, [node("spare", {"spare": "yes"})])
    try:
        job = apart(1)
        job[0]["template"] = {"spec": {**TEMPLATE["spec"], "nodeSelector": {"spare": "yes"}}}
        until(lambda: jobs.submitted("j", job), "the webhook has seen the node")
        jobs.phase(JOBS, "j", "Running")
        assert conditions(jobs.job("j"))["Satisfiable"]["status"] == "True"
        lost = time.monotonic()
        jobs.api.patch("/api/v1/nodes/spare", {"metadata": {"labels": {"spare": None}}})
        said = until(lambda: satisfiable(jobs, "False"), "it could not be started again", 10)
        assert time.monotonic() - lost < 10
        assert said["reason"] == "Unsatisfiable"
        assert "spare" in said["message"]
        event = until(lambda: event_of(jobs, "Unsatisfiable"), "an Event says it", 10)
        assert event["note"] == said["message"]
        jobs.api.patch("/api/v1/nodes/spare", {"metadata": {"labels": {"spare": "yes"}}})
        until(lambda: satisfiable(jobs, "True"), "it could be started again", 10)
    finally:
        jobs.api.delete(jobs.path(JOBS))
        jobs.gone(JOBS)
        jobs.api.delete("/api/v1/nodes/spare")
    until(lambda: len(jobs.api.get("/api/v1/nodes")["items"]) == there, "the node is gone")


def test_devices_that_are_gone_are_told_as_well(jobs: Jobs) -> None:
    """Of two nodes with devices only one has two: once it has none, the Job could not be started again."""
    with chip_nodes(jobs.api, {"chips-2": 2, "chips-1": 1}):
        jobs.api.create(claim_template("pair", jobs.space, 2))
        try:
            job = apart(1)
            job[0]["template"] = with_claim("pair")
            until(lambda: jobs.submitted("j", job), "the webhook has seen the devices")
            jobs.phase(JOBS, "j", "Running")
            until(lambda: satisfiable(jobs, "True"), "it could be started again", 10)
            jobs.api.delete(f"/apis/{DRA}/resourceslices/chips-2")
            said = until(lambda: satisfiable(jobs, "False"), "it could not be started again", 10)
            assert "ResourceClaimTemplate pair" in said["message"]
            jobs.api.create(chips("chips-2", 2))
            until(lambda: satisfiable(jobs, "True"), "it could be started again", 10)
        finally:
            jobs.api.delete(jobs.path(JOBS))
            jobs.gone(JOBS)


def satisfiable(jobs: Jobs, status: str) -> Object | None:
    """The condition, if it has that status."""
    found = conditions(jobs.job("j"))["Satisfiable"]
    return found if found["status"] == status else None


def event_of(jobs: Jobs, reason: str) -> Object | None:
    """The Event about a Job with that reason."""
    events = jobs.api.get(f"/apis/events.k8s.io/v1/namespaces/{jobs.space}/events")["items"]
    return next((found for found in events if found["reason"] == reason), None)
