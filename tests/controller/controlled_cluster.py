"""A small cluster in memory with one controller: what tests of its behaviour begin with."""

import asyncio
from typing import Any

from tests.apiserver.paths import node_path, pod_path, pool_path
from tests.apiserver.storage import Storage
from tests.controller.controller_process import ControllerProcess
from webhook.controller.reconciler_settings import ReconcilerSettings, Replacement
from webhook.placement.inventory.policy import Policy
from webhook.placement.text import keys

Json = dict[str, Any]

LABEL = keys.membership("default", "p")
"""Of the pool that most tests are about: p of the namespace default."""

TAINT = {"key": keys.EXCLUSIVE, "value": "default.p", "effect": "NoSchedule"}


class ControlledCluster:
    """``kube`` is the cluster; :meth:`lead` begins, ``candidate`` is who leads."""

    def __init__(self, *nodes: str, policy: Policy | None = None, replacement: Replacement | None = None) -> None:
        self.kube = Storage()
        self.rules = ReconcilerSettings(policy or Policy(), replacement or Replacement())
        self.delays: dict[str, float] = {}
        self.latency = 0.005
        """Seconds that a request of the next process takes there, and as many back."""
        self._candidate: ControllerProcess | None = None
        for name in nodes:
            self.node(name)

    def node(self, name: str, *, taints: Any = (), address: str = "", **labels: str) -> Json:
        addresses = [{"type": "InternalIP", "address": address}] if address else []
        return self.kube.create(
            node_path(name),
            metadata={"labels": {"kubernetes.io/hostname": name, **labels}},
            spec={"taints": list(taints)},
            status={"allocatable": {"cpu": "8", "pods": "110"}, "addresses": addresses},
        )

    def pool(self, name: str = "p", **spec: Any) -> Json:
        return self.kube.create(pool_path(name), spec=spec)

    def pod(self, name: str, on: str, *, job: str = "job", placement: str = "", namespace: str = "default") -> Json:
        annotations = {keys.PLACEMENT: placement} if placement else {}
        metadata = {"labels": {keys.JOB: job}, "annotations": annotations}
        spec = {"nodeName": on, "containers": []}
        return self.kube.create(pod_path(name, namespace), metadata=metadata, spec=spec, status={"phase": "Running"})

    async def lead(self, seconds: float = 3.0) -> None:
        """A controller leads, and does what there is to do; whoever led before is dead."""
        if self._candidate is not None:
            await self._candidate.end()
        self._candidate = ControllerProcess(self.kube, rules=self.rules, delays=self.delays, latency=self.latency)
        self._candidate.begin()
        await asyncio.sleep(seconds)

    async def end(self) -> None:
        if self._candidate is not None:
            await self._candidate.end()

    def forget(self) -> None:
        """Whoever leads goes on, but has not to be ended."""
        self._candidate = None

    @property
    def candidate(self) -> ControllerProcess:
        assert self._candidate is not None
        return self._candidate

    @property
    def said(self) -> list[tuple[str, str]]:
        return self.candidate.said.all

    def status(self, name: str = "p") -> Json:
        found: Json = self.kube.pool(name).get("status") or {}
        return found

    def hosts(self, name: str = "p") -> list[str]:
        """As ``index:name``."""
        return [f"{host['index']}:{host['name']}" for host in self.status(name).get("hosts", ())]

    def condition(self, kind: str = "Ready", name: str = "p") -> tuple[str, str, str]:
        """Status, reason and message."""
        found = next(found for found in self.status(name)["conditions"] if found["type"] == kind)
        return found["status"], found["reason"], found["message"]

    def label(self, node: str) -> str | None:
        found: str | None = self.kube.node(node)["metadata"]["labels"].get(LABEL)
        return found

    def taints(self, node: str) -> list[Json]:
        found: list[Json] = self.kube.node(node)["spec"]["taints"]
        return found

    def relabel(self, node: str, **labels: str | None) -> None:
        self.kube.change(node_path(node), {"metadata": {"labels": labels}})

    def retaint(self, node: str, *taints: Json) -> None:
        self.kube.change(node_path(node), {"spec": {"taints": list(taints)}})
