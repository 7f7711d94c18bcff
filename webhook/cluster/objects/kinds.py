"""The kinds that an inventory is filled with: how an object of each is read, and how it gets into a sink."""

from collections.abc import Callable, KeysView
from typing import Any, Final, Generic, TypeVar

from msgspec import Struct

from kubeapi.client.api_types import Identity
from webhook.cluster.objects import (
    custom_resources,
    device_claims,
    device_classes,
    device_slices,
    node_groups,
    node_topologies,
    nodes,
    plugin_objects,
    pods,
    storage,
    wire,
)
from webhook.cluster.objects.items import Item, decode
from webhook.cluster.objects.metadata import NAMESPACE, Notes
from webhook.cluster.objects.sink import Sink
from webhook.placement.devices.published.claims import ClaimTemplate, ResourceClaim
from webhook.placement.devices.published.devices import DevicePart
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.objects.intent import Intent
from webhook.placement.objects.jobs.job import StreamsJob
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Pool
from webhook.placement.objects.volumes import Claim
from webhook.placement.pod_defaults.limit_range import LimitRange
from webhook.placement.pod_defaults.priority_class import PriorityClass
from webhook.placement.pod_defaults.runtime_class import RuntimeClass
from webhook.placement.text import api_kinds, keys
from webhook.placement.text.api_kinds import ApiKind

T = TypeVar("T")

WatchEvent = wire.PodEvent
"""The events that can be decoded with their objects."""


class Kind(Struct, Generic[T], frozen=True, kw_only=True):
    """One kind of object.

    ``read`` makes a value of an object, ``None`` if it holds nothing, and notes on what was left out; it raises
    :class:`MalformedError` or one of :data:`decoding.ERRORS`. ``value_key`` and ``key`` say by what the sink knows it.
    """

    api: ApiKind
    selector: str = ""
    """A field selector: objects that are not needed are not transferred."""
    labels: str = ""
    """A label selector, for the same."""
    optional: bool = False
    """Whether it may be missing: it comes with a CustomResourceDefinition, or with newer versions of Kubernetes."""
    spared: bool = False
    """Whether decisions can do without the kind if the role may not read it, which is logged."""
    title: str = ""
    """What reports call the objects, if another kind of the same resource is watched, too."""
    event: type[WatchEvent] | None = None
    """The type of its events for a kind of which there are many: one pass over the JSON text of each, in place of
    three."""
    read: Callable[[Item], tuple[T | None, Notes]]
    key: Callable[[Identity], str]
    value_key: Callable[[T], str]
    put: Callable[[Sink, T], None]
    drop: Callable[[Sink, str], None]
    kept: Callable[[Sink], KeysView[str]] | None = None
    """The keys of all objects in the sink, if the sink itself keeps them."""
    listed: Callable[[Sink, bool], object] = lambda _sink, _readable: None
    """Called after a list of the kind, with whether there was one: a kind that cannot be read counts as empty."""

    @property
    def name(self) -> str:
        """The kind as objects state it: ``Pod``."""
        return self.api.name

    @property
    def resource(self) -> str:
        """The resource of its group: ``pods``."""
        return self.api.resource

    @property
    def path(self) -> str:
        """Where the API server has all of them."""
        return self.api.path

    @property
    def full_resource(self) -> str:
        """As a role names it: ``pods``, or ``streamsjobs.streams.ibm.com``."""
        return self.api.full_resource


AnyKind = Kind[Any]


def _read_node(item: Item) -> tuple[Node, Notes]:
    return nodes.node(decode(item, wire.NodeObject))


def _read_pod(item: Item) -> tuple[PodInfo | None, Notes]:
    return pods.bound_pod(decode(item, wire.PodObject))


def _read_pool(item: Item) -> tuple[Pool, Notes]:
    return custom_resources.pool(decode(item, wire.HostPoolObject)), []


def _read_job(item: Item) -> tuple[StreamsJob, Notes]:
    return custom_resources.job(decode(item, wire.JobObject)), []


def _read_intent(item: Item) -> tuple[Intent, Notes]:
    return custom_resources.intent(decode(item, wire.HPAIntentObject))


def _read_namespace(item: Item) -> tuple[str | None, Notes]:
    name, enabled = custom_resources.enabled(decode(item, wire.NamespaceObject))
    return name if enabled else None, []


def _read_limit_range(item: Item) -> tuple[LimitRange, Notes]:
    return plugin_objects.limit_range(decode(item, wire.LimitRangeObject)), []


def _read_runtime_class(item: Item) -> tuple[RuntimeClass, Notes]:
    return plugin_objects.runtime_class(decode(item, wire.RuntimeClassObject)), []


def _read_priority_class(item: Item) -> tuple[PriorityClass, Notes]:
    return plugin_objects.priority_class(decode(item, wire.PriorityClassObject)), []


def _full_name(identity: Identity) -> str:
    return f"{identity.namespace or NAMESPACE}/{identity.name}"


def _name_of(value: Pool | StreamsJob | Intent | Claim | LimitRange | ResourceClaim | ClaimTemplate | NodeGroup) -> str:
    return f"{value.namespace}/{value.name}"


def _drop_pool(sink: Sink, key: str) -> None:
    sink.remove_pool(*key.split("/", 1))


def _drop_job(sink: Sink, key: str) -> None:
    sink.remove_job(*key.split("/", 1))


def _drop_intent(sink: Sink, key: str) -> None:
    sink.intents.drop(*key.split("/", 1))


def _drop_limit_range(sink: Sink, key: str) -> None:
    sink.pod_defaults.drop_limit_range(*key.split("/", 1))


def _machines(api: ApiKind) -> "Kind[NodeGroup]":
    """A kind of Cluster API that the cluster autoscaler scales."""
    return Kind(
        api=api,
        optional=True,
        spared=True,
        read=lambda item: node_groups.read_machine_group(api.name, item),
        key=_full_name,
        value_key=_name_of,
        put=lambda sink, group: sink.node_groups.put(group),
        drop=lambda sink, key: sink.node_groups.drop(api.name, *key.split("/", 1)),
    )


NODES: Final = Kind(
    api=api_kinds.NODE,
    read=_read_node,
    key=lambda identity: identity.name,
    value_key=lambda node: node.name,
    put=lambda sink, node: sink.set_node(node),
    drop=lambda sink, key: sink.remove_node(key),
)
PODS: Final = Kind(
    api=api_kinds.POD,
    selector="status.phase!=Succeeded,status.phase!=Failed",
    event=wire.PodEvent,
    read=_read_pod,
    key=lambda identity: identity.uid or _full_name(identity),
    value_key=lambda pod: pod.uid,
    put=lambda sink, pod: sink.set_pod(pod),
    drop=lambda sink, key: sink.remove_pod(key),
    kept=lambda sink: sink.pod_uids,
)
POOLS: Final = Kind(
    api=api_kinds.HOST_POOL,
    optional=True,
    read=_read_pool,
    key=_full_name,
    value_key=_name_of,
    put=lambda sink, pool: sink.set_pool(pool),
    drop=_drop_pool,
)
JOBS: Final = Kind(
    api=api_kinds.STREAMS_JOB,
    optional=True,
    read=_read_job,
    key=_full_name,
    value_key=_name_of,
    put=lambda sink, job: sink.set_job(job),
    drop=_drop_job,
)
INTENTS: Final = Kind(
    api=api_kinds.HPA_INTENT,
    optional=True,
    read=_read_intent,
    key=_full_name,
    value_key=_name_of,
    put=lambda sink, intent: sink.intents.put(intent),
    drop=_drop_intent,
)
NAMESPACES: Final = Kind(
    api=api_kinds.NAMESPACE,
    labels=f"{keys.INJECT}={keys.ENABLED}",
    read=_read_namespace,
    key=lambda identity: identity.name,
    value_key=lambda name: name,
    put=lambda sink, name: sink.intents.enable(name),
    drop=lambda sink, key: sink.intents.disable(key),
)
DEVICE_CLASSES: Final = Kind(
    api=api_kinds.DEVICE_CLASS,
    optional=True,
    spared=True,
    read=device_classes.read_class,
    key=lambda identity: identity.name,
    value_key=lambda found: found.name,
    put=lambda sink, found: sink.devices.put_class(found),
    drop=lambda sink, key: sink.devices.drop_class(key),
    listed=lambda sink, readable: sink.devices.listed(DevicePart.CLASSES, readable=readable),
)
RESOURCE_SLICES: Final = Kind(
    api=api_kinds.RESOURCE_SLICE,
    optional=True,
    spared=True,
    read=device_slices.read_slice,
    key=lambda identity: identity.name,
    value_key=lambda published: published.name,
    put=lambda sink, published: sink.devices.put_slice(published),
    drop=lambda sink, key: sink.devices.drop_slice(key),
    listed=lambda sink, readable: sink.devices.listed(DevicePart.SLICES, readable=readable),
)
RESOURCE_CLAIMS: Final = Kind(
    api=api_kinds.RESOURCE_CLAIM,
    optional=True,
    spared=True,
    read=device_claims.read_claim,
    key=_full_name,
    value_key=_name_of,
    put=lambda sink, claim: sink.devices.put_claim(claim),
    drop=lambda sink, key: sink.devices.drop_claim(*key.split("/", 1)),
    kept=lambda sink: sink.devices.claim_keys,
    listed=lambda sink, readable: sink.devices.listed(DevicePart.CLAIMS, readable=readable),
)
CLAIM_TEMPLATES: Final = Kind(
    api=api_kinds.CLAIM_TEMPLATE,
    optional=True,
    spared=True,
    read=device_claims.read_template,
    key=_full_name,
    value_key=_name_of,
    put=lambda sink, template: sink.devices.put_template(template),
    drop=lambda sink, key: sink.devices.drop_template(*key.split("/", 1)),
    listed=lambda sink, readable: sink.devices.listed(DevicePart.TEMPLATES, readable=readable),
)
TAINT_RULES: Final = Kind(
    api=api_kinds.DEVICE_TAINT_RULE,
    optional=True,
    spared=True,
    read=device_classes.read_rule,
    key=lambda identity: identity.name,
    value_key=lambda found: found.name,
    put=lambda sink, found: sink.devices.put_rule(found),
    drop=lambda sink, key: sink.devices.drop_rule(key),
)
NODE_TOPOLOGIES: Final = Kind(
    api=api_kinds.NODE_TOPOLOGY,
    optional=True,
    spared=True,
    read=node_topologies.read_topology,
    key=lambda identity: identity.name,
    value_key=lambda found: found[0],
    put=lambda sink, found: sink.topologies.put(*found),
    drop=lambda sink, key: sink.topologies.drop(key),
)
DEVICES: Final[tuple[AnyKind, ...]] = (DEVICE_CLASSES, RESOURCE_SLICES, RESOURCE_CLAIMS, CLAIM_TEMPLATES, TAINT_RULES)
"""What dynamic resource allocation goes by."""

CLAIMS: Final = Kind(
    api=api_kinds.CLAIM,
    spared=True,
    read=storage.read_claim,
    key=_full_name,
    value_key=_name_of,
    put=lambda sink, claim: sink.volumes.put_claim(claim),
    drop=lambda sink, key: sink.volumes.drop_claim(*key.split("/", 1)),
)
VOLUMES: Final = Kind(
    api=api_kinds.PERSISTENT_VOLUME,
    spared=True,
    read=storage.read_volume,
    key=lambda identity: identity.name,
    value_key=lambda volume: volume.name,
    put=lambda sink, volume: sink.volumes.put_volume(volume),
    drop=lambda sink, key: sink.volumes.drop_volume(key),
)
STORAGE_CLASSES: Final = Kind(
    api=api_kinds.STORAGE_CLASS,
    spared=True,
    read=storage.read_class,
    key=lambda identity: identity.name,
    value_key=lambda found: found.name,
    put=lambda sink, found: sink.volumes.put_class(found),
    drop=lambda sink, key: sink.volumes.drop_class(key),
)

LIMIT_RANGES: Final = Kind(
    api=api_kinds.LIMIT_RANGE,
    spared=True,
    read=_read_limit_range,
    key=_full_name,
    value_key=_name_of,
    put=lambda sink, found: sink.pod_defaults.put_limit_range(found),
    drop=_drop_limit_range,
)
RUNTIME_CLASSES: Final = Kind(
    api=api_kinds.RUNTIME_CLASS,
    spared=True,
    read=_read_runtime_class,
    key=lambda identity: identity.name,
    value_key=lambda found: found.name,
    put=lambda sink, found: sink.pod_defaults.put_runtime_class(found),
    drop=lambda sink, key: sink.pod_defaults.drop_runtime_class(key),
)
PRIORITY_CLASSES: Final = Kind(
    api=api_kinds.PRIORITY_CLASS,
    spared=True,
    read=_read_priority_class,
    key=lambda identity: identity.name,
    value_key=lambda found: found.name,
    put=lambda sink, found: sink.pod_defaults.put_priority_class(found),
    drop=lambda sink, key: sink.pod_defaults.drop_priority_class(key),
)
PLUGIN_OBJECTS: Final[tuple[AnyKind, ...]] = (LIMIT_RANGES, RUNTIME_CLASSES, PRIORITY_CLASSES)
"""What admission plugins of the API server complete pods by."""

NODE_POOLS: Final = Kind(
    api=api_kinds.NODE_POOL,
    optional=True,
    spared=True,
    read=node_groups.read_node_pool,
    key=lambda identity: identity.name,
    value_key=lambda pool: pool.name,
    put=lambda sink, pool: sink.node_groups.put_node_pool(pool),
    drop=lambda sink, key: sink.node_groups.drop_node_pool(key),
)
NODE_CLAIMS: Final = Kind(
    api=api_kinds.NODE_CLAIM,
    optional=True,
    spared=True,
    read=node_groups.read_node_claim,
    key=lambda identity: identity.name,
    value_key=lambda claim: claim.name,
    put=lambda sink, claim: sink.node_groups.put_claim(claim),
    drop=lambda sink, key: sink.node_groups.drop_claim(key),
    listed=lambda sink, readable: sink.node_groups.claims_listed(readable=readable),
)
NODE_GROUPS: Final[tuple[AnyKind, ...]] = (
    NODE_POOLS,
    NODE_CLAIMS,
    _machines(api_kinds.MACHINE_DEPLOYMENT),
    _machines(api_kinds.MACHINE_SET),
    _machines(api_kinds.MACHINE_POOL),
)
"""What autoscalers state of the nodes that they make: watched only with the setting ``scaleUp``, and read from every
snapshot."""

KINDS: Final[tuple[AnyKind, ...]] = (
    NODES, PODS, POOLS, JOBS, INTENTS, NAMESPACES, *DEVICES, NODE_TOPOLOGIES, *PLUGIN_OBJECTS,
)  # fmt: skip
"""The kinds that are watched, and read from a snapshot, in the order in which trouble with them is named."""

STORAGE: Final[tuple[AnyKind, ...]] = (CLAIMS, VOLUMES, STORAGE_CLASSES)
"""Kinds that snapshots hold and commands list. Servers ask for single objects: few pods need any of these, and a
cluster may have tens of thousands, each of which changes several times (``docs/volumes.md``)."""
