"""A cluster in memory with Workloads of Kueue: what Kueue writes is written by the tests."""

import asyncio
from typing import Any

from tests.apiserver.paths import pod_path
from tests.controller.controlled_cluster import ControlledCluster, Json
from tests.controller.controller_process import wall_clock
from webhook.controller.admissionchecks.records import CONTROLLER
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.timestamps import timestamp
from webhook.placement.text import keys

GROUP = "/apis/kueue.x-k8s.io/v1"
VERSION = "kueue.x-k8s.io/v1"
CHECKS = f"{GROUP}/admissionchecks"
WORKLOADS = f"{GROUP}/workloads"
THEN = "2026-01-01T00:00:00Z"
"""When virtual time begins."""

APART = 'hostExlocation("apart")'


def condition(kind: str, status: str = "True") -> Json:
    return {"type": kind, "status": status, "reason": kind, "message": "", "lastTransitionTime": THEN}


def pod_set(
    name: str = "main", count: int = 1, placement: str = "", cpu: str = "1", job: str = "sets", **spec: Any
) -> Json:
    """Pods of a job."""
    annotations = {"example.com/note": "x", **({keys.PLACEMENT: placement} if placement else {})}
    metadata = {"labels": {keys.JOB: job}, "annotations": annotations}
    containers = [{"name": "main", "image": "i", "resources": {"requests": {"cpu": cpu}}}]
    template = {"metadata": metadata, "spec": {"containers": containers, **spec}}
    return {"name": name, "count": count, "template": template}


def plain(**spec: Any) -> Json:
    """Many pods that ask for nothing."""
    return {"name": "main", "count": 99, "template": {"spec": {"containers": [], **spec}}}


class CheckedCluster(ControlledCluster):
    """Three nodes of 8 CPUs, an AdmissionCheck of ours, ``placement``, and Workloads."""

    def __init__(self, *nodes: str, policy: Policy | None = None) -> None:
        super().__init__(*(nodes or ("node-a", "node-b", "node-c")))
        self.rules = ReconcilerSettings(policy or Policy(), kueue=True)
        self.check()

    def check(self, name: str = "placement", controller: str = CONTROLLER, **spec: Any) -> Json:
        return self.kube.create(
            f"{CHECKS}/{name}", apiVersion=VERSION, spec={"controllerName": controller, **spec}
        )  # fmt: skip

    def flavor(self, name: str = "default", **spec: Any) -> Json:
        return self.kube.create(f"{GROUP}/resourceflavors/{name}", apiVersion=VERSION, spec=spec)

    def workload(self, name: str, *sets: Json, namespace: str = "default", checks: Any = None, **status: Any) -> Json:
        """One that has its quota and waits for the check."""
        pending = {"name": "placement", "state": "Pending", "message": "", "lastTransitionTime": THEN}
        given = {"conditions": [condition("QuotaReserved")], "admissionChecks": checks or [pending], **status}
        path = self.path(name, namespace)
        return self.kube.create(path, apiVersion=VERSION, spec={"podSets": list(sets), "active": True}, status=given)

    @staticmethod
    def path(name: str, namespace: str = "default") -> str:
        return f"{GROUP}/namespaces/{namespace}/workloads/{name}"

    def stored(self, name: str, namespace: str = "default") -> Json:
        return self.kube.objects[self.path(name, namespace)]

    def answer(self, name: str, namespace: str = "default") -> tuple[str, str]:
        """State and message of its first check."""
        found = self.stored(name, namespace)["status"]["admissionChecks"][0]
        return found["state"], found["message"]

    def evict(self, name: str, *, retried: int = 1, at: str = "2026-01-01T01:00:00Z") -> None:
        """Kueue takes the quota back after Retry, and waits until then."""
        check = self.stored(name)["status"]["admissionChecks"][0]
        reset = {**check, "state": "Pending", "message": "Reset", "retryCount": retried}
        conditions = [condition("QuotaReserved", "False"), condition("Evicted")]
        status = {"admissionChecks": [reset], "conditions": conditions, "requeueState": {"requeueAt": at}}
        self.kube.change(self.path(name), {"status": status})

    def reserve(self, name: str) -> None:
        """Kueue gives it a quota again."""
        conditions = [condition("QuotaReserved"), condition("Evicted", "False")]
        self.kube.change(self.path(name), {"status": {"conditions": conditions, "requeueState": None}})

    def admit(self, name: str, *, ahead: float = 0.0) -> None:
        """All checks are ready: Kueue admits it, and its pods are made; its clock is so many seconds ahead."""
        conditions = [condition("QuotaReserved"), condition("Admitted")]
        conditions[1]["lastTransitionTime"] = timestamp(wall_clock() + ahead)
        self.kube.change(self.path(name), {"status": {"conditions": conditions}})

    def planned(self, name: str) -> list[str]:
        """The nodes on which room is kept for the Workload."""
        inventory = self.candidate.work.watched.inventory
        pods = [pod for _, jobs in inventory.jobs_with_pods() for _, pod in jobs.pods.values()]
        return sorted(pod.node for pod in pods if pod.uid.startswith(f"admitted/default/{name}/"))

    def occupy(self, *nodes: str, cpu: str = "8") -> None:
        """Pods of others take all of these nodes."""
        for node in nodes:
            self.run(f"other-{node}", node, cpu=cpu, namespace="others")

    def run(self, name: str, node: str, *, cpu: str = "1", namespace: str = "default", **metadata: Any) -> None:
        containers = [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]
        spec = {"nodeName": node, "containers": containers}
        self.kube.create(pod_path(name, namespace), metadata=metadata, spec=spec, status={"phase": "Running"})

    async def answered(self, seconds: float = 1.0) -> None:
        """Whoever leads has the time to answer."""
        await asyncio.sleep(seconds)

    @property
    def patched(self) -> list[str]:
        """Paths of what the controller has written of Workloads."""
        return [path for path, _ in self.candidate.line.writes if "/workloads/" in path]


async def asked(checked: CheckedCluster, name: str, *sets: Json, seconds: float = 1.0) -> str:
    """The state of the check of another Workload, some time after it got its quota."""
    checked.workload(name, *sets)
    await checked.answered(seconds)
    state, _ = checked.answer(name)
    return state
