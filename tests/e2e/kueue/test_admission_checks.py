"""Batch Jobs in a queue of Kueue whose check the product answers: none is admitted whose pods would have to wait."""

from typing import Final

import pytest

from tests.e2e.client.api import Api, Object
from tests.e2e.kueue.conftest import SECONDS
from tests.e2e.kueue.kueue_manager import KUEUE
from tests.e2e.nodes import create_nodes, delete_nodes, node
from tests.e2e.polling import until
from tests.e2e.workloads import is_ready, pod, pod_spec

pytestmark = pytest.mark.long

APART: Final = 'hostExlocation("apart")'

FAR: Final = 40
"""Seconds that Kueue is told to wait after the second further try."""


def job(name: str, space: str, pods: int, placement: str = APART, cpu: str = "1", preferred: str = "") -> Object:
    """A Job of so many pods at a time, in the queue; the scheduler binds them to the ``preferred`` node if it can."""
    metadata = {"labels": {"streams.ibm.com/job": name}, "annotations": {"streams.ibm.com/placement": placement}}
    container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}}
    template = {"metadata": metadata, "spec": {"restartPolicy": "Never", "containers": [container]}}
    if preferred:
        named = {"key": "kubernetes.io/hostname", "operator": "In", "values": [preferred]}
        term = {"weight": 100, "preference": {"matchExpressions": [named]}}
        affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}
        template["spec"] = {**template["spec"], "affinity": affinity}
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


def since(admin: Api, space: str, name: str, kind: str) -> str:
    """When the condition of the Workload has changed last."""
    (found,) = [one for one in workload(admin, space, name)["status"]["conditions"] if one["type"] == kind]
    return str(found["lastTransitionTime"])


def said(admin: Api, space: str, name: str) -> str:
    """What the Workload's condition Evicted says."""
    conditions = workload(admin, space, name).get("status", {}).get("conditions", ())
    return next((one["message"] for one in conditions if one["type"] == "Evicted"), "")


def decided(admin: Api, space: str) -> str:
    """What became of all Workloads of the namespace, and when; and where their pods are."""
    lines = []
    for one in admin.get(f"{KUEUE}/namespaces/{space}/workloads")["items"]:
        status = one.get("status", {})
        said = [*status.get("admissionChecks", ()), *status.get("conditions", ())]
        named = (f"{found.get('type', 'check')} {found.get('state', found.get('status'))}" for found in said)
        times = (f"{found['lastTransitionTime']} {found.get('message')}" for found in said)
        lines += [f"{one['metadata']['name']}: {what} {when}" for what, when in zip(named, times, strict=True)]
    lines += [f"{one['metadata']['name']} on {one['spec'].get('nodeName')}" for one in pods_of(admin, space)]
    return "\n".join(lines)


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
    """Before the time for which Kueue was told to wait has passed."""
    full(admin, space, "node-0", "node-1", "node-2")
    runs(admin, space, 3)
    admin.create(job("waits", space, 2))
    until(lambda: "Retry" in said(admin, space, "waits"), "it is told to wait", SECONDS)

    def delayed() -> str:
        """After some tries, the next one is later."""
        found = workload(admin, space, "waits")["status"]
        due = found["admissionChecks"][0].get("requeueAfterSeconds", 0) >= FAR
        at: str = found.get("requeueState", {}).get("requeueAt", "")
        return at if due else ""

    at = until(delayed, "Kueue waits for longer", 3 * SECONDS)
    assert workload(admin, space, "waits")["spec"]["active"] is True
    assert len(pods_of(admin, space)) == 3
    create_nodes(admin, [node("node-new", labels={"pool": "batch"})])
    until(lambda: "Admitted" in states(admin, space, "waits"), "it is admitted", SECONDS)
    assert since(admin, space, "waits", "QuotaReserved") < at
    runs(admin, space, 5)
    admin.delete(f"/apis/batch/v1/namespaces/{space}/jobs/waits", propagationPolicy="Background")
    until(lambda: len(pods_of(admin, space)) == 3, "its pods are gone", SECONDS)
    delete_nodes(admin, ["node-new"])


def test_many_at_the_same_moment_get_the_room_one_after_the_other(admin: Api, space: str) -> None:
    """Each takes a whole node, and six ask for four: none of those that are admitted has a pod that waits.

    The pods prefer nodes, which the check does not look at, so most are not bound where they were judged.
    """
    for number in range(6):
        admin.create(job(f"job-{number}", space, 1, cpu="6", preferred=f"node-{3 - number % 4}"))
    runs(admin, space, 4)
    admitted = [number for number in range(6) if "Admitted" in states(admin, space, f"job-{number}")]
    assert len(admitted) == 4, decided(admin, space)
    gone, *others = [*admitted, *({*range(6)} - {*admitted})]
    admin.delete(f"/apis/batch/v1/namespaces/{space}/jobs/job-{gone}", propagationPolicy="Background")

    def four_of_the_others() -> bool:
        return sum("Admitted" in states(admin, space, f"job-{number}") for number in others) == 4

    until(four_of_the_others, "the next one is admitted", 2 * SECONDS)
    runs(admin, space, 4)
    assert sum("Admitted" in states(admin, space, f"job-{number}") for number in others) == 4, decided(admin, space)
