"""Processing elements come and go, as a scheduler lets them."""

import asyncio
from typing import Any, Final

from tests.apiserver.paths import NODES, PODS, POOLS, node_path, pod_path
from tests.controller.histories.random_cluster import RandomCluster, is_open, path_of
from webhook.placement.text import keys

Json = dict[str, Any]

BINDING: Final = 0.1
"""Seconds between the scheduler's decision and the binding."""


class RandomPods:
    """Things that happen to pods."""

    def __init__(self, random_cluster: RandomCluster) -> None:
        self._random_cluster = random_cluster
        self._kube = random_cluster.kube
        self._dice = random_cluster.random
        self._number = 0

    def stranger_comes(self) -> None:
        """A processing element of nobody's pool, to where nothing keeps it away just now."""
        free = [node for node in self._kube.all(NODES) if is_open(node, None)]
        if free:
            self._schedule(self._dice.choice(free), "default", "stranger", "")

    def pod_comes(self) -> None:
        """A processing element that names a pool."""
        pool = self._random_cluster.any(POOLS)
        if pool and not pool["metadata"].get("deletionTimestamp"):
            metadata = pool["metadata"]
            label = keys.membership(metadata["namespace"], metadata["name"])
            own = keys.exclusive(metadata["namespace"], metadata["name"])
            there = [
                node for node in self._kube.all(NODES) if label in node["metadata"]["labels"] and is_open(node, own)
            ]
            if there:
                self._schedule(self._dice.choice(there), metadata["namespace"], "job", f"host({pool['spec']['name']})")

    def _schedule(self, node: Json, namespace: str, job: str, placement: str) -> None:
        name, uid = node["metadata"]["name"], node["metadata"]["uid"]

        def bind() -> None:
            found = self._kube.objects.get(node_path(name))
            if found is None or found["metadata"]["uid"] != uid:
                return
            self._number += 1
            now = asyncio.get_running_loop().time()
            metadata = {
                "boundAt": now,
                "labels": {keys.JOB: job},
                "annotations": {keys.PLACEMENT: placement} if placement else {},
            }
            spec, status = {"nodeName": name, "containers": []}, {"phase": "Running"}
            self._kube.create(pod_path(f"pod-{self._number}", namespace), metadata=metadata, spec=spec, status=status)
            self._random_cluster.tell(f"a pod of {job} {placement} runs on {name}")

        self._random_cluster.soon(BINDING, bind)

    def pod_goes(self) -> None:
        if pod := self._random_cluster.any(PODS):
            if self._dice.random() < 0.5:
                self._remove(pod)
            else:
                self._kube.change(path_of(pod), {"status": {"phase": "Succeeded"}})
            self._random_cluster.tell(f"{path_of(pod)} ends")

    def pod_terminates(self) -> None:
        if pod := self._random_cluster.any(PODS):
            self._kube.change(path_of(pod), {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}})
            self._random_cluster.soon(self._dice.choice([0.1, 3.0]), lambda: self._remove(pod))
            self._random_cluster.tell(f"{path_of(pod)} terminates")

    def _remove(self, pod: Json) -> None:
        if path_of(pod) in self._kube.objects:
            self._kube.delete(path_of(pod))
