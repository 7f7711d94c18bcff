"""Minimal valid objects as the API server writes them, and a sink that remembers what it was given."""

import dataclasses
from collections.abc import KeysView
from typing import Any

from webhook.placement.devices.published.claims import ClaimTemplate, ResourceClaim
from webhook.placement.devices.published.devices import DevicePart
from webhook.placement.devices.published.slices import DeviceSlice
from webhook.placement.devices.published.taint_rules import TaintRule
from webhook.placement.nodegroups.node_groups import NodeGroups
from webhook.placement.numa.topology import NodeTopology
from webhook.placement.objects.device_classes import DeviceClass
from webhook.placement.objects.intent import Intent
from webhook.placement.objects.jobs.job import StreamsJob
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


def device_class(
    name: str = "gpu.example.com", resource: object = "example.com/gpu", created: str | None = None
) -> dict[str, Any]:
    spec = {} if resource is None else {"extendedResourceName": resource}
    metadata = {"name": name, "creationTimestamp": created}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": metadata, "spec": spec}


RESOURCE = "resource.k8s.io/v1"
GPUS = "gpu.example.com"


def resource_slice(name: str = "node-a-gpus", *devices: object, node: str = "node-a", **spec: object) -> dict[str, Any]:
    """The only slice of a node's pool of GPUs."""
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    there = {"driver": GPUS, "nodeName": node, "pool": pool, "devices": [*devices], **spec}
    return {"apiVersion": RESOURCE, "kind": "ResourceSlice", "metadata": {"name": name}, "spec": there}


def one_gpu(**exactly: object) -> dict[str, Any]:
    """The spec of a claim."""
    return {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": GPUS, **exactly}}]}}


def resource_claim(
    name: str = "gpu", spec: object = None, *, status: object = None, **metadata: object
) -> dict[str, Any]:
    stated = {"name": name, "namespace": "default", **metadata}
    there = {"metadata": stated, "spec": one_gpu() if spec is None else spec, "status": status}
    return {"apiVersion": RESOURCE, "kind": "ResourceClaim", **there}


def claim_template(name: str = "gpus", spec: object = None) -> dict[str, Any]:
    there = {"metadata": {"name": name, "namespace": "default"}, "spec": {"spec": one_gpu() if spec is None else spec}}
    return {"apiVersion": RESOURCE, "kind": "ResourceClaimTemplate", **there}


def taint_rule(
    name: str = "broken-gpu", effect: object = "NoSchedule", version: str = "v1beta2", **selector: object
) -> dict[str, Any]:
    """The rule taints all devices that ``selector`` selects."""
    spec = {"deviceSelector": selector, "taint": {"key": "example.com/broken", "effect": effect}}
    kind = {"apiVersion": f"resource.k8s.io/{version}", "kind": "DeviceTaintRule"}
    return {**kind, "metadata": {"name": name}, "spec": spec}


def node_topology(name: str = "node-a", cores: object = 4, version: str = "v1alpha2") -> dict[str, Any]:
    """The node of that name has one NUMA zone of so many cores."""
    resources = [{"name": "cpu", "capacity": cores, "allocatable": cores, "available": 0}]
    return {
        "apiVersion": f"topology.node.k8s.io/{version}",
        "kind": "NodeResourceTopology",
        "metadata": {"name": name},
        "topologyPolicies": ["SingleNUMANodeContainerLevel"],
        "zones": [{"name": "node-0", "type": "Node", "resources": resources}],
    }


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
    """What is known about devices, and which kinds were read."""

    found: dict[str, DeviceClass] = dataclasses.field(default_factory=dict)
    slices: dict[str, DeviceSlice] = dataclasses.field(default_factory=dict)
    claims: dict[tuple[str, str], ResourceClaim] = dataclasses.field(default_factory=dict)
    keys: dict[str, None] = dataclasses.field(default_factory=dict)
    templates: dict[tuple[str, str], ClaimTemplate] = dataclasses.field(default_factory=dict)
    rules: dict[str, TaintRule] = dataclasses.field(default_factory=dict)
    readable: dict[DevicePart, bool] = dataclasses.field(default_factory=dict)

    def listed(self, part: DevicePart, *, readable: bool) -> None:
        self.readable[part] = readable

    def put_class(self, found: DeviceClass) -> None:
        self.found[found.name] = found

    def drop_class(self, name: str) -> None:
        del self.found[name]

    def put_slice(self, published: DeviceSlice) -> None:
        self.slices[published.name] = published

    def drop_slice(self, name: str) -> None:
        del self.slices[name]

    @property
    def claim_keys(self) -> KeysView[str]:
        return self.keys.keys()

    def put_claim(self, claim: ResourceClaim) -> None:
        self.claims[claim.namespace, claim.name] = claim
        self.keys[f"{claim.namespace}/{claim.name}"] = None

    def drop_claim(self, namespace: str, name: str) -> None:
        del self.claims[namespace, name], self.keys[f"{namespace}/{name}"]

    def put_template(self, template: ClaimTemplate) -> None:
        self.templates[template.namespace, template.name] = template

    def drop_template(self, namespace: str, name: str) -> None:
        del self.templates[namespace, name]

    def put_rule(self, rule: TaintRule) -> None:
        self.rules[rule.name] = rule

    def drop_rule(self, name: str) -> None:
        del self.rules[name]


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


@dataclasses.dataclass
class RecordedTopologies:
    """The zones of nodes, by the names of the nodes."""

    zones: dict[str, NodeTopology] = dataclasses.field(default_factory=dict)

    def put(self, node: str, topology: NodeTopology) -> None:
        self.zones[node] = topology

    def drop(self, node: str) -> None:
        del self.zones[node]


class Recorder:
    """A sink that remembers."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, PodInfo] = {}
        self.pools: dict[tuple[str, str], Pool] = {}
        self.jobs: dict[tuple[str, str], StreamsJob] = {}
        self.intents = RecordedIntents()
        self.devices = RecordedDevices()
        self.topologies = RecordedTopologies()
        self.volumes = Volumes()
        self.pod_defaults = RecordedPodDefaults()
        self.node_groups = NodeGroups()

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
