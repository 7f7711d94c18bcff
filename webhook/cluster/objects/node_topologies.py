"""NodeResourceTopologies of the API server, translated into the values of ``placement``.

Fields are those of ``topology.node.k8s.io/v1alpha2``; ``v1alpha1`` has no attributes. The agent of a node writes the
object, and states cores and memory of zones where its kubelet's managers give them out exclusively.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from webhook.cluster.objects import wire
from webhook.cluster.objects.device_slices import nano
from webhook.cluster.objects.items import Item, decode
from webhook.cluster.objects.metadata import Notes, metadata_of
from webhook.placement.kube.pod import Amount
from webhook.placement.numa.topology import Amounts, NodeTopology, NumaZone, TopologyPolicy, TopologyScope

_ZONE: Final = "Node"
"""The type of a zone that is a NUMA node; others are sockets and caches."""

_POLICY: Final = "topologyManagerPolicy"
_SCOPE: Final = "topologyManagerScope"
"""Attributes that name the settings of the kubelet."""

_JOINED: Final[Mapping[str, tuple[TopologyPolicy, TopologyScope]]] = {
    "SingleNUMANodeContainerLevel": (TopologyPolicy.SINGLE, TopologyScope.CONTAINER),
    "SingleNUMANodePodLevel": (TopologyPolicy.SINGLE, TopologyScope.POD),
    "Restricted": (TopologyPolicy.RESTRICTED, TopologyScope.CONTAINER),
    "RestrictedContainerLevel": (TopologyPolicy.RESTRICTED, TopologyScope.CONTAINER),
    "RestrictedPodLevel": (TopologyPolicy.RESTRICTED, TopologyScope.POD),
}
"""Words of ``topologyPolicies`` for both settings; the other words are those of kubelets that turn no pod away."""


class _ZoneResource(Struct, frozen=True, gc=False):
    name: str = ""
    capacity: Amount | None = None
    allocatable: Amount | None = None


class _Zone(Struct, frozen=True, gc=False):
    name: str = ""
    type: str = ""
    resources: tuple[_ZoneResource, ...] | None = None


class _KubeletSetting(Struct, frozen=True, gc=False):
    name: str = ""
    value: str = ""


class _TopologyObject(Struct, frozen=True, gc=False, rename="camel"):
    metadata: wire.ObjectMetadata | None = None
    topology_policies: tuple[str, ...] | None = None
    zones: tuple[_Zone, ...] | None = None
    attributes: tuple[_KubeletSetting, ...] | None = None


def read_topology(item: Item) -> tuple[tuple[str, NodeTopology], Notes]:
    """The node's name and its zones; raises :class:`MalformedError` for amounts that are not quantities."""
    source = decode(item, _TopologyObject)
    _, name = metadata_of(source.metadata)
    policy, scope = _settings(source)
    zones = sorted((zone for zone in source.zones or () if zone.type == _ZONE), key=lambda zone: zone.name)
    return (name, NodeTopology(policy, scope, tuple(map(_zone, zones)))), []


def _settings(source: _TopologyObject) -> tuple[TopologyPolicy, TopologyScope]:
    """Policy and scope, by the attributes or else by ``topologyPolicies``; an unknown policy turns no pod away."""
    stated = {attribute.name: attribute.value for attribute in source.attributes or ()}
    joined = next(iter(source.topology_policies or ()), "")
    policy, scope = _JOINED.get(joined, (TopologyPolicy.NONE, TopologyScope.CONTAINER))
    if _POLICY in stated:
        known = stated[_POLICY] in TopologyPolicy.__members__.values()
        policy = TopologyPolicy(stated[_POLICY]) if known else TopologyPolicy.NONE
    if _SCOPE in stated:
        scope = TopologyScope.POD if stated[_SCOPE] == TopologyScope.POD else TopologyScope.CONTAINER
    return policy, scope


def _zone(zone: _Zone) -> NumaZone:
    resources = [each for each in zone.resources or () if each.name and each.allocatable is not None]
    path = f"zones[{zone.name}]"
    allocatable = _amounts(((each.name, each.allocatable) for each in resources), f"{path}.allocatable")
    stated = ((each.name, each.allocatable if each.capacity is None else each.capacity) for each in resources)
    return NumaZone(_amounts(stated, f"{path}.capacity"), allocatable)


def _amounts(stated: Iterable[tuple[str, Amount | None]], path: str) -> Amounts:
    return tuple(sorted((name, nano(amount or 0, f"{path}[{name}]")) for name, amount in stated))
