"""A scheduler for a cluster in memory: devices, cordons, planned nodes, shared nodes, and hosts of the HostPool P."""

import re
from typing import Any

from tests.apiserver.paths import NODES, PODS, node_path, pod_path
from tests.controller.jobs.job_cluster import FINISHED, JobCluster
from webhook.placement.text import keys

Json = dict[str, Any]

DEVICE = "example.com/device"
FAVOURITE = "node-1"
"""The node that the scheduler prefers, where it has a choice and a pod says nothing."""


class ColocationScheduler:
    """Binds pods as kube-scheduler does by what these say; called with each pod that has no node."""

    def __init__(self, cluster: JobCluster, devices: dict[str, int]) -> None:
        self._cluster = cluster
        self.shut: set[str] = set()
        """Nodes that get no pod, for a reason that only the scheduler knows."""
        for node, count in devices.items():
            found = cluster.kube.objects[node_path(node)]
            allocatable = {**found["status"]["allocatable"], DEVICE: str(count)}
            cluster.kube.change(node_path(node), {"status": {"allocatable": allocatable}})
        cluster.binds = self

    def __call__(self, pod: Json) -> str:
        """The node; empty, and said in the pod's status, if there is none."""
        able = [node["metadata"]["name"] for node in self._cluster.kube.all(NODES) if self._runs(pod, node)]
        if not able:
            said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no node"}
            if (pod.get("status") or {}).get("conditions") != [said]:
                self._cluster.kube.change(pod_path(pod["metadata"]["name"]), {"status": {"conditions": [said]}})
            return ""
        liked = [node for node in preferred(pod) if node in able]
        return (liked or [node for node in able if node == FAVOURITE] or able)[0]

    def _runs(self, pod: Json, node: Json) -> bool:
        name = node["metadata"]["name"]
        if name in self.shut or node["spec"].get("unschedulable") or (required(pod) and name not in required(pod)):
            return False
        if not is_host(pod, node):
            return False
        bound = [
            other
            for other in self._cluster.kube.all(PODS)
            if other["spec"].get("nodeName") and (other.get("status") or {}).get("phase") not in FINISHED
        ]
        token = token_of(pod)
        mates = [other for other in bound if token and token_of(other) == token]
        if mates and not any(other["spec"]["nodeName"] == name for other in mates):
            return False
        taken = sum(asked(other) for other in bound if other["spec"]["nodeName"] == name)
        return taken + asked(pod) <= int(node["status"]["allocatable"].get(DEVICE, 0))


def placement_of(pod: Json) -> str:
    """The text of its placement, without its operator."""
    return str((pod["metadata"].get("annotations") or {}).get(keys.PLACEMENT, "")).partition(": ")[2]


def token_of(pod: Json) -> str:
    """The clause by which it shares a node; empty if there is none."""
    found = placement_of(pod)
    return found if found.startswith("hostColocation") else ""


def is_host(pod: Json, node: Json) -> bool:
    """Whether the node has the label of the pool that the pod names, with the right index; or the pod names none."""
    named = re.fullmatch(r"host\(P(?:\[(\d)\])?\)", placement_of(pod))
    labels = node["metadata"]["labels"]
    indices = [value for key, value in labels.items() if key.startswith(keys.MEMBERSHIP)]
    return named is None or (bool(indices) if named[1] is None else named[1] in indices)


def asked(pod: Json) -> int:
    """How many devices it asks for."""
    resources = pod["spec"]["containers"][0].get("resources") or {}
    return int((resources.get("limits") or {}).get(DEVICE, 0))


def _named(terms: list[Json]) -> list[str]:
    return [name for term in terms for field in term.get("matchFields", ()) for name in field["values"]]


def required(pod: Json) -> list[str]:
    """The nodes that it must run on; empty if it names none."""
    by_node = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    hard = by_node.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    return _named(hard.get("nodeSelectorTerms", []))


def preferred(pod: Json) -> list[str]:
    """The nodes that it prefers."""
    by_node = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    soft = by_node.get("preferredDuringSchedulingIgnoredDuringExecution") or []
    return _named([term["preference"] for term in soft])
