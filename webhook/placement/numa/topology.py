"""The NUMA zones of a node, with the policy and the scope of its kubelet's topology manager."""

import enum

from msgspec import Struct

Amounts = tuple[tuple[str, int], ...]
"""Amounts in nano-units by resource, in the order of names."""


class TopologyPolicy(enum.StrEnum):
    """Policies of the topology manager (Kubernetes, topology management)."""

    NONE = "none"
    BEST_EFFORT = "best-effort"
    RESTRICTED = "restricted"
    SINGLE = "single-numa-node"


class TopologyScope(enum.StrEnum):
    """Whether each container is aligned by itself, or all containers of a pod together."""

    CONTAINER = "container"
    POD = "pod"


class NumaZone(Struct, frozen=True, gc=False):
    """A zone: what it has, and what of that is not reserved for the system."""

    capacity: Amounts = ()
    allocatable: Amounts = ()


class NodeTopology(Struct, frozen=True, gc=False, cache_hash=True):
    """The zones of a node, in the order of their names."""

    policy: TopologyPolicy
    scope: TopologyScope
    zones: tuple[NumaZone, ...]

    @property
    def strict(self) -> bool:
        """Whether the kubelet turns pods away that it cannot align; nothing is known of one whose zones are not."""
        return bool(self.zones) and self.policy in {TopologyPolicy.RESTRICTED, TopologyPolicy.SINGLE}
