"""A cluster in memory where Jobs run: nodes, a scheduler and kubelets that do what they should, a garbage collector."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from tests.apiserver.garbage import GarbageCollector
from tests.apiserver.paths import ELEMENTS, JOBS, PODS, POOLS, element_path, job_path, node_path, pod_path, pool_path
from tests.apiserver.requests import delete
from tests.apiserver.storage import Storage
from tests.controller.controller_process import EPOCH, ControllerProcess
from tests.controller.virtual_time import clock
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.placement.inventory.policy import Policy

Json = dict[str, Any]

FINISHED = ("Succeeded", "Failed")
TICK = 0.05
"""Seconds between two looks of the scheduler, the kubelets and the garbage collector."""


def moment() -> str:
    return datetime.fromtimestamp(clock() + EPOCH, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class JobCluster:
    """``kube`` is the cluster; :meth:`lead` begins.

    ``binds`` is the scheduler: the node of a pod, empty while it finds none. ``runs`` tells whether pods that are bound
    begin to run.
    """

    def __init__(self, nodes: int = 3) -> None:
        self.kube = Storage()
        self.kube.graceful = self._graceful
        self.garbage = GarbageCollector(self.kube)
        self.rules = ReconcilerSettings(Policy())
        self.runs: Callable[[Json], bool] = lambda _: True
        self.binds: Callable[[Json], str] = lambda _: "node-0"
        self.delays: dict[str, float] = {}
        self._candidate: ControllerProcess | None = None
        self._world: asyncio.Task[None] | None = None
        for number in range(nodes):
            name = f"node-{number}"
            self.kube.create(
                node_path(name),
                metadata={"labels": {"kubernetes.io/hostname": name}},
                spec={"taints": []},
                status={"allocatable": {"cpu": "8", "pods": "110"}},
            )

    # What people do

    def job(self, name: str = "parallel", **spec: Any) -> Json:
        return self.kube.create(job_path(name), spec={"bundle": {"name": "app.sab"}, **spec})

    def change(self, name: str = "parallel", **spec: Any) -> Json:
        """Change fields of the spec of a Job."""
        old = self.kube.objects[job_path(name)]
        return self.kube.write(job_path(name), {**old, "spec": {**old["spec"], **spec}})

    def delete(self, path: str, propagation: str = "") -> None:
        delete(self.kube, path, propagation)

    def ends(self, name: str, code: int = 0, **status: Any) -> Json:
        """The container of the pod has ended."""
        terminated = {"exitCode": code, "reason": "Completed" if code == 0 else "Error", "finishedAt": moment()}
        ended = {
            "phase": "Succeeded" if code == 0 else "Failed",
            "containerStatuses": [{"name": "pe", "state": {"terminated": terminated}}],
            "conditions": [{"type": "Ready", "status": "False"}],
        }
        return self.kube.change(pod_path(name), {"status": {**ended, **status}})

    # What there is

    def found(self, name: str = "parallel") -> Json:
        return self.kube.objects[job_path(name)]

    def status(self, name: str = "parallel") -> Json:
        status: Json = self.found(name).get("status") or {}
        return status

    def element(self, name: str = "parallel-0") -> Json:
        return self.kube.objects[element_path(name)]

    def element_status(self, name: str = "parallel-0") -> Json:
        status: Json = self.element(name).get("status") or {}
        return status

    def condition(self, found: Json, kind: str) -> tuple[str, str, str]:
        """Status, reason and message."""
        one = next(one for one in found["status"]["conditions"] if one["type"] == kind)
        return one["status"], one["reason"], one["message"]

    def names(self, collection: str) -> list[str]:
        return sorted(found["metadata"]["name"] for found in self.kube.all(collection))

    @property
    def pods(self) -> list[str]:
        return self.names(PODS)

    @property
    def owned(self) -> list[str]:
        """Everything that a Job may leave behind."""
        return [name for collection in (POOLS, ELEMENTS, PODS, JOBS) for name in self.names(collection)]

    def pod(self, name: str) -> Json:
        return self.kube.objects[pod_path(name)]

    def pool(self, name: str) -> Json:
        return self.kube.objects[pool_path(name)]

    @property
    def candidate(self) -> ControllerProcess:
        assert self._candidate is not None
        return self._candidate

    @property
    def said(self) -> list[tuple[str, str]]:
        return self.candidate.said.all

    # Time

    async def lead(self, seconds: float = 5.0) -> None:
        """A controller leads, and does what there is to do; whoever led before is dead."""
        if self._world is None:
            self._world = asyncio.create_task(self._tick())
        if self._candidate is not None:
            await self._candidate.end()
        self._candidate = ControllerProcess(self.kube, rules=self.rules, delays=self.delays)
        self._candidate.begin()
        await asyncio.sleep(seconds)

    async def wait(self, seconds: float) -> None:
        """Let time pass."""
        await asyncio.sleep(seconds)

    async def end(self) -> None:
        for task in filter(None, [self._world]):
            task.cancel()
        if self._candidate is not None:
            await self._candidate.end()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK)
            self.garbage.sweep()
            for pod in self.kube.all(PODS):
                self._advance(pod)

    def _advance(self, pod: Json) -> None:
        """What the scheduler or a kubelet does next with a pod."""
        metadata, status, path = pod["metadata"], pod.get("status") or {}, pod_path(pod["metadata"]["name"])
        if metadata.get("deletionTimestamp"):
            self.kube.remove(path)
        elif status.get("phase") in FINISHED:
            return
        elif not pod["spec"].get("nodeName"):
            if node := self.binds(pod):
                self.kube.change(path, {"spec": {"nodeName": node}, "status": {"phase": "Pending"}})
        elif status.get("phase") != "Running" and self.runs(pod):
            ready = {"type": "Ready", "status": "True"}
            self.kube.change(path, {"status": {"phase": "Running", "startTime": moment(), "conditions": [ready]}})

    def _graceful(self, found: Json) -> bool:
        """Whether a kubelet has to end it."""
        return "containers" in (found.get("spec") or {}) and bool(found["spec"].get("nodeName"))
