"""Batch Jobs in a queue of Kueue whose check the product answers: none is admitted whose pods would have to wait."""

from typing import Final

import pytest

from tests.e2e.api import Api, Object
from tests.e2e.kueue.conftest import SECONDS
from tests.e2e.kueue.kueue_manager import KUEUE
from tests.e2e.nodes import create_nodes, delete_nodes, node
from tests.e2e.polling import until
from tests.e2e.workloads import is_ready, pod, pod_spec

pytestmark = pytest.mark.long

APART: Final = 'hostExlocation("apart")'

FAR: Final = 80
"""Seconds that Kueue is told to wait after the third further try."""

SOON: Final = 30
"""Seconds in which it is woken, and which are less."""


def job(name: str, space: str, pods: int, placement: str = APART, cpu: str = "1") -> Object:
    """A Job of so many pods at a time, in the queue."""
    metadata = {"labels": {"streams.ibm.com/job": name}, "annotations": {"streams.ibm.com/placement": placement}}
    container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}}
    template = {"metadata": metadata, "spec": {"restartPolicy": "Never", "containers": [container]}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": space, "labels": {"kueue.x-k8s.io/queue-name": "jobs"}},
        "spec": {"parallelism": pods, "completions": pods, "suspend": True, "template": template},
    }


def workload(admin: Api, space: str, name: str) -> Object:
    """The Workload of the Job, once Kueue has made it."""

    def found() -> Object | None:
        listed = admin.get(f"{KUEUE}/namespaces/{space}/workloads")["items"]
        return next((one for one in listed if one["metadata"]["ownerReferences"][0]["name"] == name), None)

    return until(found, f"Kueue has a Workload of {name}", SECONDS)


def states(admin: Api, space: str, name: str) -> set[str]:
    """The types of the Workload's conditions that hold."""
    conditions = workload(admin, space, name).get("status", {}).get("conditions", ())
    return {one["type"] for one in conditions if one["status"] == "True"}


def said(admin: Api, space: str, name: str) -> str:
    """What the Workload's condition Evicted says."""
    conditions = workload(admin, space, name).get("status", {}).get("conditions", ())
    return next((one["message"] for one in conditions if one["type"] == "Evicted"), "")


def pods_of(admin: Api, space: str) -> list[Object]:
    listed: list[Object] = admin.get(f"/api/v1/namespaces/{space}/pods")["items"]
    return listed


def runs(admin: Api, space: str, count: int) -> None:
    """So many pods run: none of them waits for a node."""

    def all_run() -> bool:
        found = pods_of(admin, space)
        return len(found) == count and all(map(is_ready, found))

    until(all_run, f"{count} pods run in {space}", SECONDS)


def test_one_that_fits_is_admitted_and_runs(admin: Api, space: str) -> None:
    admin.create(job("fits", space, 4))
    until(lambda: "Admitted" in states(admin, space, "fits"), "it is admitted", SECONDS)
    (check,) = workload(admin, space, "fits")["status"]["admissionChecks"]
    assert (check["state"], check["message"]) == ("Ready", "4 pods can run at the same time")
    runs(admin, space, 4)
    assert {one["spec"]["nodeName"] for one in pods_of(admin, space)} == {f"node-{number}" for number in range(4)}


def test_one_that_never_fits_is_rejected_and_not_admitted(admin: Api, space: str) -> None:
    """There is a fifth node, but it is not of the flavor that the quota is of."""
    admin.create(job("large", space, 5))
    until(lambda: workload(admin, space, "large")["spec"]["active"] is False, "it is deactivated", SECONDS)
    until(lambda: "Evicted" in states(admin, space, "large"), "it is evicted", SECONDS)
    assert "Admitted" not in states(admin, space, "large")
    why = f"nodeSelector pool=batch and {APART} cannot both hold: 4 of 5 pods fit (main)."
    assert why in said(admin, space, "large")
    assert pods_of(admin, space) == []


def full(admin: Api, space: str, *names: str) -> None:
    """Pods of the namespace take all of these nodes."""
    for name in names:
        container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": "8"}}}
        admin.create(pod(f"other-{name}", space, pod_spec(nodeName=name, containers=[container])))


def test_one_that_has_to_wait_is_admitted_once_a_node_comes(admin: Api, space: str) -> None:
    """Long before the time for which Kueue was told to wait has passed."""
    full(admin, space, "node-0", "node-1", "node-2")
    runs(admin, space, 3)
    admin.create(job("waits", space, 2))
    until(lambda: "Retry" in said(admin, space, "waits"), "it is told to wait", SECONDS)

    def delayed() -> bool:
        """After some tries, the next one is in more than a minute."""
        found = workload(admin, space, "waits")["status"]
        at = found.get("requeueState", {}).get("requeueAt")
        return bool(at) and found["admissionChecks"][0].get("requeueAfterSeconds", 0) >= FAR

    until(delayed, "Kueue waits for longer", 3 * SECONDS)
    assert workload(admin, space, "waits")["spec"]["active"] is True
    assert len(pods_of(admin, space)) == 3
    create_nodes(admin, [node("node-new", labels={"pool": "batch"})])
    until(lambda: "Admitted" in states(admin, space, "waits"), "it is admitted", SOON)
    runs(admin, space, 5)
    admin.delete(f"/apis/batch/v1/namespaces/{space}/jobs/waits", propagationPolicy="Background")
    until(lambda: len(pods_of(admin, space)) == 3, "its pods are gone", SECONDS)
    delete_nodes(admin, ["node-new"])


def test_many_at_the_same_moment_get_the_room_one_after_the_other(admin: Api, space: str) -> None:
    """Each takes a whole node, and six ask for four: none of those that are admitted has a pod that waits."""
    for number in range(6):
        admin.create(job(f"job-{number}", space, 1, cpu="6"))
    runs(admin, space, 4)
    admitted = [number for number in range(6) if "Admitted" in states(admin, space, f"job-{number}")]
    assert len(admitted) == 4
    gone, *others = [*admitted, *({*range(6)} - {*admitted})]
    admin.delete(f"/apis/batch/v1/namespaces/{space}/jobs/job-{gone}", propagationPolicy="Background")

    def four_of_the_others() -> bool:
        return sum("Admitted" in states(admin, space, f"job-{number}") for number in others) == 4

    until(four_of_the_others, "the next one is admitted", 4 * SECONDS)
    runs(admin, space, 4)
