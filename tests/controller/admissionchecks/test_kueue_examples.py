"""The example manifests of Kueue: a queue with the check, and a Job that passes it."""

from pathlib import Path
from typing import Any

from tests.controller.admissionchecks.checked_cluster import CheckedCluster
from tests.yaml_values import all_loaded
from webhook.controller.admissionchecks.records import CONTROLLER

EXAMPLES = Path(__file__).parents[3] / "examples" / "kueue"
PAGE = Path(__file__).parents[3] / "docs" / "kueue.md"

MEMORY = {"status": {"allocatable": {"memory": "8Gi"}}}


def documents(name: str) -> dict[str, Any]:
    return {one["kind"]: one for one in all_loaded((EXAMPLES / name).read_text())}


def test_the_queue_has_the_check() -> None:
    found = documents("queue.yaml")
    assert found["AdmissionCheck"]["spec"] == {"controllerName": CONTROLLER}
    assert found["ClusterQueue"]["spec"]["admissionChecksStrategy"] == {"admissionChecks": [{"name": "placement"}]}
    assert found["LocalQueue"]["spec"]["clusterQueue"] == found["ClusterQueue"]["metadata"]["name"]
    assert found["AdmissionCheck"]["apiVersion"] == "kueue.x-k8s.io/v1beta2"


async def test_the_job_waits_for_a_fourth_host(checked: CheckedCluster) -> None:
    job = documents("job.yaml")["Job"]
    assert job["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "streams"}
    pods = {"name": "main", "count": job["spec"]["parallelism"], "template": job["spec"]["template"]}
    for name in ("node-a", "node-b", "node-c"):
        checked.kube.change(f"/api/v1/nodes/{name}", MEMORY)
    checked.workload("early", pods)
    await checked.lead(15)
    state, said = checked.answer("early")
    assert state == "Rejected"
    assert f"\n{said}\n" in PAGE.read_text()
    checked.node("node-d")
    checked.kube.change("/api/v1/nodes/node-d", MEMORY)
    checked.workload("late", pods)
    await checked.answered()
    assert checked.answer("late")[0] == "Ready"
