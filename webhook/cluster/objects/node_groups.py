"""Objects by which autoscalers state what nodes they make, read as node groups.

NodePools of Karpenter, and their NodeClaims; MachineDeployments, MachineSets and MachinePools of Cluster API.
"""

from typing import Final

from msgspec import Struct

from webhook.cluster.objects.items import Item, decode
from webhook.cluster.objects.metadata import NAMESPACE, MalformedError, Notes
from webhook.cluster.objects.wire import Owner
from webhook.placement.kube.pod import Amount
from webhook.placement.nodegroups.machine_group import Machines, machine_group
from webhook.placement.nodegroups.node_claim import NodeClaim, node_claim
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.nodegroups.node_pool import NodePoolSpec, StatedNodePool
from webhook.placement.text.api_kinds import MACHINE_DEPLOYMENT

_NODE_POOL: Final = "karpenter.sh/nodepool"
"""The label that names the NodePool of a NodeClaim."""


class GroupMetadata(Struct, frozen=True, gc=False, rename="camel"):
    """The metadata of a node group, with all of its annotations."""

    name: str | None = None
    namespace: str | None = None
    annotations: dict[str, str] | None = None
    deletion_timestamp: str | None = None
    owner_references: tuple[Owner, ...] | None = None

    @property
    def said(self) -> str:
        """The name; raises :class:`MalformedError` without one."""
        if not self.name:
            raise MalformedError("metadata.name: missing")
        return self.name


class NodePoolStatus(Struct, frozen=True, gc=False):
    """What the nodes of a NodePool have together, with their number as ``nodes``."""

    resources: dict[str, Amount] | None = None


class NodePoolObject(Struct, frozen=True, gc=False):
    """``karpenter.sh/v1 NodePool``."""

    metadata: GroupMetadata = GroupMetadata()
    spec: NodePoolSpec | None = None
    status: NodePoolStatus | None = None


class NodeClaimMetadata(GroupMetadata, frozen=True, gc=False, rename="camel"):
    """The metadata of a NodeClaim, with its labels."""

    labels: dict[str, str] | None = None


class NodeClaimStatus(Struct, frozen=True, gc=False, rename="camel"):
    """What the machine of a NodeClaim has, and the name of its node once that has joined."""

    capacity: dict[str, Amount] | None = None
    node_name: str | None = None


class NodeClaimObject(Struct, frozen=True, gc=False):
    """``karpenter.sh/v1 NodeClaim``."""

    metadata: NodeClaimMetadata = NodeClaimMetadata()
    status: NodeClaimStatus | None = None


class MachineMetadata(Struct, frozen=True, gc=False):
    """The metadata of new Machines."""

    labels: dict[str, str] | None = None


class MachineTemplate(Struct, frozen=True, gc=False):
    """The template of new Machines."""

    metadata: MachineMetadata | None = None


class MachineGroupSpec(Struct, frozen=True, gc=False):
    """The spec of a MachineDeployment, MachineSet or MachinePool."""

    replicas: int | None = None
    template: MachineTemplate | None = None


class MachineGroupStatus(Struct, frozen=True, gc=False, rename="camel"):
    """The status of a MachineDeployment, MachineSet or MachinePool: how many of its Machines are ready nodes."""

    ready_replicas: int | None = None


class MachineGroupObject(Struct, frozen=True, gc=False):
    """A MachineDeployment, MachineSet or MachinePool of ``cluster.x-k8s.io``."""

    metadata: GroupMetadata = GroupMetadata()
    spec: MachineGroupSpec | None = None
    status: MachineGroupStatus | None = None


def read_node_pool(item: Item) -> tuple[StatedNodePool, Notes]:
    """A NodePool."""
    source = decode(item, NodePoolObject)
    metadata, used = source.metadata, (source.status and source.status.resources) or {}
    return StatedNodePool(metadata.said, source.spec or NodePoolSpec(), used, bool(metadata.deletion_timestamp)), []


def read_node_claim(item: Item) -> tuple[NodeClaim | None, Notes]:
    """A NodeClaim; ``None`` for one that does not belong to a NodePool."""
    source = decode(item, NodeClaimObject)
    metadata, status = source.metadata, source.status or NodeClaimStatus()
    name, pool = metadata.said, (metadata.labels or {}).get(_NODE_POOL, "")
    joined, ending = bool(status.node_name), bool(metadata.deletion_timestamp)
    return (node_claim(name, pool, status.capacity or {}, joined=joined, ending=ending) if pool else None), []


def read_machine_group(kind: str, item: Item) -> tuple[NodeGroup | None, Notes]:
    """An object of that kind; ``None`` for one that is not scaled by itself."""
    source = decode(item, MachineGroupObject)
    metadata, spec = source.metadata, source.spec or MachineGroupSpec()
    name = metadata.said
    if any(owner.kind == MACHINE_DEPLOYMENT.name for owner in metadata.owner_references or ()):
        return None, []  # a MachineSet has the annotations of its MachineDeployment, which is scaled
    template = (spec.template.metadata if spec.template else None) or MachineMetadata()
    machines = Machines(
        kind,
        name,
        metadata.namespace or NAMESPACE,
        metadata.annotations or {},
        spec.replicas or 0,
        template.labels or {},
        bool(metadata.deletion_timestamp),
        None if source.status is None else source.status.ready_replicas or 0,
    )
    return machine_group(machines)
