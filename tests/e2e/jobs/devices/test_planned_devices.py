"""Which elements of a Job get a device that they would like, and pods of pools whose nodes are not labelled yet."""

import json
import os
from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.client.api import Api, Object
from tests.e2e.jobs.devices.device_nodes import DEVICE, cordon, device_nodes, holder
from tests.e2e.jobs.streams_jobs import ELEMENTS, JOBS, POOLS, TEMPLATE, Jobs, conditions
from tests.e2e.polling import until

ROUNDS: Final = 60 if float(os.environ.get("PROPERTY_TIMES", "1")) > 1 else 10
"""Jobs whose pool has to be labelled while their pods are created: one in ten would hang."""


@pytest.fixture(scope="module", autouse=True)
def nodes(admin_of_plane: Api) -> Iterator[None]:
    with device_nodes(admin_of_plane):
        yield


def wishing(name: str, **requirement: object) -> Object:
    """An element that would like three devices."""
    wish = {"name": DEVICE, "limits": 3, "mandatory": False, **requirement}
    template = {"metadata": {"annotations": {"streams.ibm.com/hpa-requirements": json.dumps([wish])}}, **TEMPLATE}
    return {"name": name, "template": template}


def devices(pod: Object) -> str:
    """How many devices the pod asks for; empty if none."""
    found: str = pod["spec"]["containers"][0].get("resources", {}).get("limits", {}).get(DEVICE, "")
    return found


def equipped(jobs: Jobs) -> dict[str, str]:
    """The devices of the pods that run, by element."""
    pods = [pod for pod in jobs.pods() if pod["status"].get("phase") == "Running"]
    return {pod["metadata"]["labels"]["streams.ibm.com/pe"]: devices(pod) for pod in pods}


def test_two_of_three_elements_get_the_devices_and_the_third_runs_without(jobs: Jobs) -> None:
    wishes = [wishing("wish-0"), wishing("wish-1"), wishing("wish-2")]
    jobs.submit("wish", wishes, processingElement={"restartDeletedPod": True}, submissionTimeOutInSeconds=20)
    job = jobs.phase(JOBS, "wish", "Running")
    assert equipped(jobs) == {"wish-0": "3", "wish-1": "3", "wish-2": ""}
    (hardware,) = job["status"]["plan"]["hardware"]
    assert (hardware["name"], hardware["processingElements"]) == (DEVICE, ["wish-0", "wish-1"])
    assert conditions(job)["Satisfiable"]["message"] == (
        "3 processing elements can run at the same time; hardware nvidia.com/gpu 3 is not requested by wish-2: no plan "
        "for the whole Job has it free for them"
    )
    # A restart keeps what the element had, as long as there is a node that has it.
    first = jobs.running_pod("wish-1")
    jobs.delete_pod(first)
    assert devices(jobs.running_pod("wish-1", other_than=first["metadata"]["uid"])) == "3"
    node = jobs.running_pod("wish-0")["spec"]["nodeName"]
    second = jobs.running_pod("wish-0")
    cordon(jobs.api, node)
    try:
        jobs.delete_pod(second)
        assert devices(jobs.running_pod("wish-0", other_than=second["metadata"]["uid"])) == ""
    finally:
        cordon(jobs.api, node, closed=False)


def test_the_heaviest_wishes_come_first(jobs: Jobs) -> None:
    jobs.submit("wish", [wishing("light"), wishing("heavy", weight=9), wishing("mean", weight=5)])
    jobs.phase(JOBS, "wish", "Running")
    assert equipped(jobs) == {"light": "", "heavy": "3", "mean": "3"}


def test_pods_wait_for_their_planned_hosts_while_these_are_labelled(jobs: Jobs) -> None:
    where = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["a", "c"]}]}
    pool = {"name": "P", "size": 2, "selector": where}
    elements = [holder("fixed", "host(P[0])", 3), holder("any", "host(P)", 3)]
    for _ in range(ROUNDS):
        until(lambda: jobs.submitted("labels", elements, hostPools=[pool]), "the nodes are free")
        jobs.phase(JOBS, "labels", "Running", 20)
        assert len({pod["spec"]["nodeName"] for pod in jobs.pods()}) == len(elements)
        jobs.api.delete(jobs.path(JOBS, "labels"))
        jobs.api.delete(f"/api/v1/namespaces/{jobs.space}/pods", gracePeriodSeconds="0")
        jobs.gone(JOBS, ELEMENTS, POOLS)
