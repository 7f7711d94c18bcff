"""``Sink``: the interface by which objects read from a cluster or a snapshot are put into an inventory."""

from collections.abc import KeysView
from typing import Protocol

from webhook.placement.devices.published.claims import ClaimTemplate, ResourceClaim
from webhook.placement.devices.published.devices import DevicePart
from webhook.placement.devices.published.slices import DeviceSlice
from webhook.placement.devices.published.taint_rules import TaintRule
from webhook.placement.nodegroups.node_claim import NodeClaim
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.nodegroups.node_pool import StatedNodePool
from webhook.placement.numa.topology import NodeTopology
from webhook.placement.objects.device_classes import DeviceClass
from webhook.placement.objects.intent import Intent
from webhook.placement.objects.jobs.job import StreamsJob
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Pool
from webhook.placement.objects.volumes import Claim, PersistentVolume, StorageClass
from webhook.placement.pod_defaults.limit_range import LimitRange
from webhook.placement.pod_defaults.priority_class import PriorityClass
from webhook.placement.pod_defaults.runtime_class import RuntimeClass


class IntentSink(Protocol):
    """Takes HPAIntents, and the namespaces in which they are enabled; dropping an absent one does nothing."""

    def put(self, intent: Intent) -> None:
        """An HPAIntent object was added or changed."""
        ...

    def drop(self, namespace: str, name: str) -> None:
        """An HPAIntent object is gone."""
        ...

    def enable(self, namespace: str) -> None:
        """The namespace carries the label by which HPAIntents apply to its pods without an annotation."""
        ...

    def disable(self, namespace: str) -> None:
        """The namespace does not carry that label, or is gone."""
        ...


class DeviceSink(Protocol):
    """Takes what is known about devices; dropping an absent object does nothing."""

    def listed(self, part: DevicePart, /, *, readable: bool) -> None:
        """A kind of object was listed completely, or cannot be read."""
        ...

    def put_class(self, device_class: DeviceClass, /) -> None:
        """A DeviceClass was added or changed."""
        ...

    def drop_class(self, name: str) -> None:
        """A DeviceClass is gone."""
        ...

    def put_slice(self, published: DeviceSlice, /) -> None:
        """A ResourceSlice was added or changed."""
        ...

    def drop_slice(self, name: str) -> None:
        """A ResourceSlice is gone."""
        ...

    @property
    def claim_keys(self) -> KeysView[str]:
        """``namespace/name`` of all ResourceClaims that were put and not dropped."""
        ...

    def put_claim(self, claim: ResourceClaim, /) -> None:
        """A ResourceClaim was added or changed."""
        ...

    def drop_claim(self, namespace: str, name: str) -> None:
        """A ResourceClaim is gone."""
        ...

    def put_template(self, template: ClaimTemplate, /) -> None:
        """A ResourceClaimTemplate was added or changed."""
        ...

    def drop_template(self, namespace: str, name: str) -> None:
        """A ResourceClaimTemplate is gone."""
        ...

    def put_rule(self, rule: TaintRule, /) -> None:
        """A DeviceTaintRule was added or changed."""
        ...

    def drop_rule(self, name: str) -> None:
        """A DeviceTaintRule is gone."""
        ...


class TopologySink(Protocol):
    """Takes the NUMA zones of nodes; dropping those of an unknown node does nothing."""

    def put(self, node: str, topology: NodeTopology, /) -> None:
        """The NodeResourceTopology of the node was added or changed."""
        ...

    def drop(self, node: str, /) -> None:
        """The NodeResourceTopology of the node is gone."""
        ...


class VolumeSink(Protocol):
    """Takes claims, volumes and storage classes; dropping an absent one does nothing."""

    def put_claim(self, claim: Claim) -> None:
        """A PersistentVolumeClaim was added or changed."""
        ...

    def drop_claim(self, namespace: str, name: str) -> None:
        """A PersistentVolumeClaim is gone."""
        ...

    def put_volume(self, volume: PersistentVolume) -> None:
        """A PersistentVolume was added or changed."""
        ...

    def drop_volume(self, name: str) -> None:
        """A PersistentVolume is gone."""
        ...

    def put_class(self, storage_class: StorageClass) -> None:
        """A StorageClass was added or changed."""
        ...

    def drop_class(self, name: str) -> None:
        """A StorageClass is gone."""
        ...


class PodDefaultsSink(Protocol):
    """Takes the objects that the API server completes pods by; dropping an absent one does nothing."""

    def put_limit_range(self, limit_range: LimitRange, /) -> None:
        """A LimitRange was added or changed."""
        ...

    def drop_limit_range(self, namespace: str, name: str) -> None:
        """A LimitRange is gone."""
        ...

    def put_runtime_class(self, runtime_class: RuntimeClass, /) -> None:
        """A RuntimeClass was added or changed."""
        ...

    def drop_runtime_class(self, name: str) -> None:
        """A RuntimeClass is gone."""
        ...

    def put_priority_class(self, priority_class: PriorityClass, /) -> None:
        """A PriorityClass was added or changed."""
        ...

    def drop_priority_class(self, name: str) -> None:
        """A PriorityClass is gone."""
        ...


class NodeGroupSink(Protocol):
    """Takes node groups of autoscalers; dropping an absent one does nothing."""

    def put(self, group: NodeGroup, /) -> None:
        """A node group was added or changed."""
        ...

    def drop(self, kind: str, namespace: str, name: str) -> None:
        """A node group is gone."""
        ...

    def put_node_pool(self, pool: StatedNodePool, /) -> None:
        """A NodePool was added or changed."""
        ...

    def drop_node_pool(self, name: str, /) -> None:
        """A NodePool is gone."""
        ...

    def put_claim(self, claim: NodeClaim, /) -> None:
        """A NodeClaim was added or changed."""
        ...

    def drop_claim(self, name: str, /) -> None:
        """A NodeClaim is gone."""
        ...

    def claims_listed(self, *, readable: bool) -> None:
        """A list of NodeClaims is complete, or may not be read."""
        ...


class Sink(Protocol):
    """Takes a cluster's objects one at a time, in any order; a second ``set_`` replaces the first."""

    @property
    def intents(self) -> IntentSink:
        """Where HPAIntents go."""
        ...

    @property
    def devices(self) -> DeviceSink:
        """Where DeviceClasses, ResourceSlices, ResourceClaims and their templates, and DeviceTaintRules go."""
        ...

    @property
    def topologies(self) -> TopologySink:
        """Where NodeResourceTopologies go."""
        ...

    @property
    def volumes(self) -> VolumeSink:
        """Where claims, volumes and storage classes go."""
        ...

    @property
    def pod_defaults(self) -> PodDefaultsSink:
        """Where LimitRanges, RuntimeClasses and PriorityClasses go."""
        ...

    @property
    def node_groups(self) -> NodeGroupSink:
        """Where NodePools, MachineDeployments, MachineSets and MachinePools go."""
        ...

    def set_node(self, node: Node) -> None:
        """A node was added or changed."""
        ...

    def remove_node(self, name: str) -> None:
        """A node is gone."""
        ...

    @property
    def pod_uids(self) -> KeysView[str]:
        """The uids of the pods that were set and not removed since; a view, which changes with them."""
        ...

    def set_pod(self, pod: PodInfo) -> None:
        """A pod was added or changed."""
        ...

    def has_pod(self, uid: str, /) -> bool:
        """Whether the sink has a pod of that uid, bound to a node."""
        ...

    def remove_pod(self, uid: str) -> None:
        """A pod is gone, or finished."""
        ...

    def set_pool(self, pool: Pool) -> None:
        """A HostPool object was added or changed."""
        ...

    def remove_pool(self, namespace: str, name: str) -> None:
        """A HostPool object is gone."""
        ...

    def set_job(self, job: StreamsJob) -> None:
        """A Job object was added or changed."""
        ...

    def remove_job(self, namespace: str, name: str) -> None:
        """A Job object is gone."""
        ...
