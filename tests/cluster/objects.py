"""Minimal valid objects as the API server writes them, and a sink that remembers what it was given."""

import dataclasses
from collections.abc import KeysView
from typing import Any

from webhook.placement.objects.device_classes import DeviceClass
from webhook.placement.objects.intent import Intent
from webhook.placement.objects.job import StreamsJob
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Pool
from webhook.placement.objects.volumes import Volumes
from webhook.placement.pod_defaults.limit_range import LimitRange
from webhook.placement.pod_defaults.priority_class import PriorityClass
from webhook.placement.pod_defaults.runtime_class import RuntimeClass

PLACEMENT = "streams.ibm.com/placement"


def node(name: str = "node-a", *, spec: object = None, status: object = None, **metadata: object) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": f"uid-{name}", **metadata},
        "spec": spec or {},
        "status": status or {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
    }


def pod(
    name: str = "web-1", *, spec: object = None, phase: str | None = "Running", **metadata: object
) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", **metadata},
        "spec": spec or {"nodeName": "node-a", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]},
        "status": {"phase": phase},
    }


def pool(name: str = "ib-blue", *, status: object = None, metadata: object = None, **spec: object) -> dict[str, Any]:
    return {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "HostPool",
        "metadata": metadata or {"name": name, "namespace": "default"},
        "spec": spec,
        "status": status or {},
    }


def job(*elements: object, name: str = "parallel", **metadata: object) -> dict[str, Any]:
    return {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default", **metadata},
        "spec": {"processingElements": list(elements)},
    }


def intent(*consumers: object, name: str = "fwall", **metadata: object) -> dict[str, Any]:
    return {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "HPAIntent",
        "metadata": {"name": name, "namespace": "default", **metadata},
        "spec": {"consumers": list(consumers)},
    }


def consumer(*requirements: object, name: str = "api-server", **workload: object) -> dict[str, Any]:
    """Of a Deployment."""
    return {
        "consumer": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name, **workload},
        "requirements": list(requirements),
    }


def namespace(name: str = "edge", inject: str | None = "enabled") -> dict[str, Any]:
    labels = {"kubernetes.io/metadata.name": name, **({} if inject is None else {"streams.ibm.com/inject": inject})}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def device_class(name: str = "gpu.example.com", resource: object = "example.com/gpu") -> dict[str, Any]:
    spec = {} if resource is None else {"extendedResourceName": resource}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def limit_range(name: str = "limits", kind: str = "Container", **item: object) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default"}
    return {
        "apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": {"limits": [{"type": kind, **item}]},
    }  # fmt: skip


def runtime_class(name: str = "heavy", **fields: object) -> dict[str, Any]:
    return {
        "apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}, "handler": "h", **fields,
    }  # fmt: skip


def priority_class(name: str = "high", value: object = 1000, **fields: object) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value,
        **fields,
    }  # fmt: skip


def listed(*objects: object, kind: str = "List", version: str = "v1") -> dict[str, Any]:
    """A list as kubectl prints it: its kind after its members."""
    return {"apiVersion": version, "items": list(objects), "kind": kind, "metadata": {"resourceVersion": ""}}


@dataclasses.dataclass
class RecordedIntents:
    """What of HPAIntents and their namespaces is known."""

    found: dict[tuple[str, str], Intent] = dataclasses.field(default_factory=dict)
    enabled: set[str] = dataclasses.field(default_factory=set)

    def put(self, intent: Intent) -> None:
        self.found[intent.namespace, intent.name] = intent

    def drop(self, namespace: str, name: str) -> None:
        del self.found[namespace, name]

    def enable(self, namespace: str) -> None:
        self.enabled.add(namespace)

    def disable(self, namespace: str) -> None:
        self.enabled.discard(namespace)


@dataclasses.dataclass
class RecordedDevices:
    """What of DeviceClasses is known."""

    found: dict[str, DeviceClass] = dataclasses.field(default_factory=dict)

    def put(self, found: DeviceClass) -> None:
        self.found[found.name] = found

    def drop(self, name: str) -> None:
        del self.found[name]


@dataclasses.dataclass
class RecordedPodDefaults:
    """What of the objects is known by which pods are completed."""

    limit_ranges: dict[tuple[str, str], LimitRange] = dataclasses.field(default_factory=dict)
    classes: dict[str, RuntimeClass] = dataclasses.field(default_factory=dict)
    priorities: dict[str, PriorityClass] = dataclasses.field(default_factory=dict)

    def put_limit_range(self, found: LimitRange) -> None:
        self.limit_ranges[found.namespace, found.name] = found

    def drop_limit_range(self, namespace: str, name: str) -> None:
        del self.limit_ranges[namespace, name]

    def put_runtime_class(self, found: RuntimeClass) -> None:
        self.classes[found.name] = found

    def drop_runtime_class(self, name: str) -> None:
        del self.classes[name]

    def put_priority_class(self, found: PriorityClass) -> None:
        self.priorities[found.name] = found

    def drop_priority_class(self, name: str) -> None:
        del self.priorities[name]


class Recorder:
    """A sink that remembers."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, PodInfo] = {}
        self.pools: dict[tuple[str, str], Pool] = {}
        self.jobs: dict[tuple[str, str], StreamsJob] = {}
        self.intents = RecordedIntents()
        self.devices = RecordedDevices()
        self.volumes = Volumes()
        self.pod_defaults = RecordedPodDefaults()

    def set_node(self, node: Node) -> None:
        self.nodes[node.name] = node

    def remove_node(self, name: str) -> None:
        del self.nodes[name]

    @property
    def pod_uids(self) -> KeysView[str]:
        return self.pods.keys()

    def set_pod(self, pod: PodInfo) -> None:
        self.pods[pod.uid] = pod

    def has_pod(self, uid: str) -> bool:
        return uid in self.pods

    def remove_pod(self, uid: str) -> None:
        del self.pods[uid]

    def set_pool(self, pool: Pool) -> None:
        self.pools[pool.namespace, pool.name] = pool

    def remove_pool(self, namespace: str, name: str) -> None:
        del self.pools[namespace, name]

    def set_job(self, job: StreamsJob) -> None:
        self.jobs[job.namespace, job.name] = job

    def remove_job(self, namespace: str, name: str) -> None:
        del self.jobs[namespace, name]
