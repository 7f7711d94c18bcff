"""An inventory with change listeners, between the cluster's watches and the controller's triggers.

Most watch events, such as a kubelet's reports every few seconds, change no value that placement keeps. Listeners are
called only when a value changed, so that an event without a change costs a look-up and a comparison.
"""

import contextlib
import logging
from collections.abc import Callable, Iterator, KeysView
from typing import Final, TypeVar

from webhook.placement.devices.published.claims import ClaimName, ClaimTemplate
from webhook.placement.devices.published.devices import DevicePart, Devices
from webhook.placement.devices.published.slices import DeviceSlice
from webhook.placement.devices.published.taint_rules import TaintRule
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.pool_index import Name
from webhook.placement.nodegroups.node_claim import NodeClaim
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.nodegroups.node_groups import NodeGroups
from webhook.placement.nodegroups.node_pool import StatedNodePool
from webhook.placement.numa.topologies import Topologies
from webhook.placement.numa.topology import NodeTopology
from webhook.placement.objects.device_classes import DeviceClass
from webhook.placement.objects.jobs.job import StreamsJob
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Pool

K = TypeVar("K")
V = TypeVar("V")

Listener = Callable[[K, V | None, V | None], object]
"""Called with the key, the value before and the value after; ``None`` for an object that did not or does not exist."""

_log: Final = logging.getLogger(__name__)


class ObservedDevices:
    """A :class:`~webhook.cluster.objects.sink.DeviceSink` in front of ``devices``, with listeners in ``on_change``.

    They are called when nodes have other devices, or these are requested in another way. Claims change with each pod
    and change neither.
    """

    def __init__(self, devices: Devices) -> None:
        self.on_change: list[Callable[[], object]] = []
        self.on_template: list[Callable[[ClaimName], object]] = []
        """Called with the name of each ResourceClaimTemplate that was added, changed or removed."""
        self._devices = devices
        self.put_claim = devices.put_claim
        self.drop_claim = devices.drop_claim
        self.claim_keys = devices.claim_keys

    def listed(self, part: DevicePart, *, readable: bool) -> None:
        """A kind of object was listed completely, or cannot be read."""
        with self._telling():
            self._devices.listed(part, readable=readable)

    def put_class(self, device_class: DeviceClass) -> None:
        """A DeviceClass was added or changed."""
        with self._telling():
            self._devices.put_class(device_class)

    def drop_class(self, name: str) -> None:
        """A DeviceClass is gone."""
        with self._telling():
            self._devices.drop_class(name)

    def put_slice(self, published: DeviceSlice) -> None:
        """A ResourceSlice was added or changed."""
        with self._telling():
            self._devices.put_slice(published)

    def drop_slice(self, name: str) -> None:
        """A ResourceSlice is gone."""
        with self._telling():
            self._devices.drop_slice(name)

    def put_template(self, template: ClaimTemplate) -> None:
        """A ResourceClaimTemplate was added or changed."""
        with self._telling():
            self._devices.put_template(template)
        self._tell_of_template((template.namespace, template.name))

    def drop_template(self, namespace: str, name: str) -> None:
        """A ResourceClaimTemplate is gone."""
        with self._telling():
            self._devices.drop_template(namespace, name)
        self._tell_of_template((namespace, name))

    def put_rule(self, rule: TaintRule) -> None:
        """A DeviceTaintRule was added or changed."""
        with self._telling():
            self._devices.put_rule(rule)

    def drop_rule(self, name: str) -> None:
        """A DeviceTaintRule is gone."""
        with self._telling():
            self._devices.drop_rule(name)

    def _tell_of_template(self, name: ClaimName) -> None:
        for listener in self.on_template:
            listener(name)

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        """Call the listeners if anything is different afterwards."""
        before = self._devices.version, self._devices.read
        yield
        if before != (self._devices.version, self._devices.read):
            for listener in self.on_change:
                listener()


class ObservedTopologies:
    """A :class:`~webhook.cluster.objects.sink.TopologySink` in front of ``topologies``.

    The listeners in ``on_change`` are called when a kubelet has other zones, or turns other pods away.
    """

    def __init__(self, topologies: Topologies) -> None:
        self.on_change: list[Callable[[], object]] = []
        self._topologies = topologies

    def put(self, node: str, topology: NodeTopology) -> None:
        """The NodeResourceTopology of the node was added or changed."""
        before = self._topologies.version
        self._topologies.put(node, topology)
        self._tell(before)

    def drop(self, node: str) -> None:
        """The NodeResourceTopology of the node is gone."""
        before = self._topologies.version
        self._topologies.drop(node)
        self._tell(before)

    def _tell(self, before: int) -> None:
        for listener in self.on_change if before != self._topologies.version else ():
            listener()


class ObservedNodeGroups:
    """A :class:`~webhook.cluster.objects.sink.NodeGroupSink` in front of ``groups``.

    The listeners in ``on_change`` are called when a group makes other nodes, or more or fewer of them.
    """

    def __init__(self, groups: NodeGroups) -> None:
        self.on_change: list[Callable[[], object]] = []
        self._groups = groups

    def put(self, group: NodeGroup, /) -> None:
        """A node group was added or changed."""
        with self._telling():
            self._groups.put(group)

    def drop(self, kind: str, namespace: str, name: str) -> None:
        """A node group is gone."""
        with self._telling():
            self._groups.drop(kind, namespace, name)

    def put_node_pool(self, pool: StatedNodePool, /) -> None:
        """A NodePool was added or changed."""
        with self._telling():
            self._groups.put_node_pool(pool)

    def drop_node_pool(self, name: str, /) -> None:
        """A NodePool is gone."""
        with self._telling():
            self._groups.drop_node_pool(name)

    def put_claim(self, claim: NodeClaim, /) -> None:
        """A NodeClaim was added or changed."""
        with self._telling():
            self._groups.put_claim(claim)

    def drop_claim(self, name: str, /) -> None:
        """A NodeClaim is gone."""
        with self._telling():
            self._groups.drop_claim(name)

    def claims_listed(self, *, readable: bool) -> None:
        """A list of NodeClaims is complete, or may not be read."""
        with self._telling():
            self._groups.claims_listed(readable=readable)

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        before = self._groups.version
        yield
        for listener in self.on_change if before != self._groups.version else ():
            listener()


class ObservedInventory:
    """A :class:`~webhook.cluster.objects.sink.Sink` in front of ``inventory``; the ``on_`` lists hold listeners.

    Listeners are called after the inventory was changed, on the path that reads watch events: they must be quick, and
    at most add a key to a queue. Of a pod that concerns no pool the value before is not known.
    """

    def __init__(self, inventory: Inventory) -> None:
        self.inventory = inventory
        self.intents = inventory.intents
        self.devices = ObservedDevices(inventory.devices)
        self.topologies = ObservedTopologies(inventory.topologies)
        self.volumes = inventory.volumes
        self.pod_defaults = inventory.pod_defaults
        self.node_groups = ObservedNodeGroups(inventory.node_groups)
        self.on_node: list[Listener[str, Node]] = []
        """The key is the node's name."""
        self.on_pod: list[Listener[str, PodInfo]] = []
        self.on_bound: list[Callable[[PodInfo], object]] = []
        """Called with each pod that has a node and had none before."""
        """The key is the pod's uid."""
        self.on_pool: list[Listener[Name, Pool]] = []
        self.on_job: list[Listener[Name, StreamsJob]] = []
        self._pods: dict[str, PodInfo] = {}
        """Pods that concern HostPools, by uid."""
        self._jobs: dict[Name, StreamsJob] = {}

    # Nodes

    def set_node(self, node: Node) -> None:
        """A node was added or changed."""
        before = self.inventory.nodes.get(node.name)
        self.inventory.set_node(node)
        if before != node:
            _tell(self.on_node, node.name, before, node)

    def remove_node(self, name: str) -> None:
        """A node is gone."""
        before = self.inventory.nodes.get(name)
        self.inventory.remove_node(name)
        _tell(self.on_node, name, before, None)

    # Pods

    @property
    def pod_uids(self) -> KeysView[str]:
        """The uids of all pods."""
        return self.inventory.pod_uids

    def set_pod(self, pod: PodInfo) -> None:
        """A pod was added or changed."""
        before = self._pods.get(pod.uid)
        bound = bool(self.on_bound and pod.node) and not self.inventory.has_pod(pod.uid)
        self.inventory.set_pod(pod)
        if self.inventory.concerns_pools(pod):
            self._pods[pod.uid] = pod
        elif before is not None:
            del self._pods[pod.uid]
        if before != pod:
            _tell(self.on_pod, pod.uid, before, pod)
        for listener in self.on_bound if bound else ():
            listener(pod)

    def has_pod(self, uid: str, /) -> bool:
        """Whether the pod holds something already."""
        return self.inventory.has_pod(uid)

    def remove_pod(self, uid: str) -> None:
        """A pod is gone, or finished."""
        self.inventory.remove_pod(uid)
        _tell(self.on_pod, uid, self._pods.pop(uid, None), None)

    # Host pools

    def set_pool(self, pool: Pool) -> None:
        """A HostPool object was added or changed."""
        name = pool.namespace, pool.name
        before = self.inventory.pools.get(name)
        self.inventory.set_pool(pool)
        if before != pool:
            _tell(self.on_pool, name, before, pool)

    def remove_pool(self, namespace: str, name: str) -> None:
        """A HostPool object is gone."""
        before = self.inventory.pools.get((namespace, name))
        self.inventory.remove_pool(namespace, name)
        _tell(self.on_pool, (namespace, name), before, None)

    # Jobs

    def set_job(self, job: StreamsJob) -> None:
        """A Job object was added or changed."""
        name = job.namespace, job.name
        before = self._jobs.get(name)
        self.inventory.set_job(job)
        self._jobs[name] = job
        if before != job:
            _tell(self.on_job, name, before, job)

    def remove_job(self, namespace: str, name: str) -> None:
        """A Job object is gone."""
        self.inventory.remove_job(namespace, name)
        _tell(self.on_job, (namespace, name), self._jobs.pop((namespace, name), None), None)


def _tell(listeners: list[Listener[K, V]], key: K, before: V | None, after: V | None) -> None:
    for listener in listeners:
        try:
            listener(key, before, after)
        except Exception:  # noqa: BLE001 -- whatever it is, it must not look like a fault of the object's
            _log.exception("a listener has failed at %s", key)
