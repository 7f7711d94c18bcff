"""NodePools of Karpenter (``karpenter.sh/v1``) as node groups.

Sources: ``pkg/apis/v1/nodepool.go`` and ``pkg/controllers/provisioning/scheduling/nodeclaimtemplate.go`` of Karpenter.
Startup taints are not read: a pod need not tolerate them. Which machines there are only Karpenter knows, so the size of
a node is known as far as requirements bound it.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from webhook.placement.kube.amounts import PODS, ordered
from webhook.placement.kube.pod import Amount
from webhook.placement.kube.quantity import milli, parse_quantity, whole
from webhook.placement.kube.resource_name import CPU, MEMORY
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.nodegroups.label_values import ABSENT, ANYTHING, LabelValues
from webhook.placement.nodegroups.node_claim import NODES
from webhook.placement.nodegroups.node_group import ALIASES, NodeGroup, of_machine

KIND: Final = "NodePool"


_OF_EVERY_MACHINE: Final = frozenset({CPU, MEMORY, PODS})


class NodePoolRequirement(Struct, frozen=True, gc=False, rename="camel"):
    """A requirement on a label of the nodes; ``min_values`` is how many values must be left to choose from."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None
    min_values: int | None = None


class NodeClassReference(Struct, frozen=True, gc=False):
    """The NodeClass of the cloud provider."""

    group: str = ""
    kind: str = ""
    name: str = ""


class TemplateTaint(Struct, frozen=True, gc=False):
    """A taint that new nodes get."""

    key: str | None = None
    value: str | None = None
    effect: str | None = None


class NodeClaimSpec(Struct, frozen=True, gc=False, rename="camel"):
    """What nodes of the pool are like."""

    requirements: tuple[NodePoolRequirement, ...] | None = None
    taints: tuple[TemplateTaint, ...] | None = None
    node_class_ref: NodeClassReference | None = None


class TemplateMetadata(Struct, frozen=True, gc=False):
    """Labels that new nodes get."""

    labels: dict[str, str] | None = None


class NodeClaimTemplate(Struct, frozen=True, gc=False):
    """The template of new nodes."""

    metadata: TemplateMetadata | None = None
    spec: NodeClaimSpec | None = None


class NodePoolSpec(Struct, frozen=True, gc=False):
    """The spec of a NodePool; one with ``replicas`` keeps so many nodes, whatever pods wait."""

    template: NodeClaimTemplate | None = None
    limits: dict[str, Amount] | None = None
    weight: int | None = None
    replicas: int | None = None


class StatedNodePool(Struct, frozen=True, gc=False):
    """A NodePool as its object states it; ``used`` is what it says its nodes have, ``ending`` that it is deleted."""

    name: str
    spec: NodePoolSpec
    used: Mapping[str, Amount] = {}
    ending: bool = False

    def group(self, used: Mapping[str, Amount]) -> NodeGroup:
        """The NodePool as a group of which so much is used."""
        return node_pool(self.name, self.spec, used, ending=self.ending)


def node_pool(name: str, spec: NodePoolSpec, used: Mapping[str, Amount], *, ending: bool = False) -> NodeGroup:
    """The NodePool of that name as a group; ``used`` is what its nodes have now, ``ending`` whether it is deleted."""
    template = spec.template or NodeClaimTemplate()
    claim = template.spec or NodeClaimSpec()
    remaining = _left(spec.limits or {}, used)
    count = remaining.pop(NODES, None)
    labels = _labels(name, template, claim)
    odd = sorted(key for key, values in labels.items() if not values.possible)
    closed = _closed(spec, remaining, count, ending=ending)
    if not closed and any(map(of_machine, odd)):
        closed = f"has requirements on {next(filter(of_machine, odd))} that no node meets"
    # They count values among those of machines (``SatisfiesMinValues`` in ``pkg/cloudprovider/types.go``).
    counted = [ALIASES.get(need.key, need.key) for need in claim.requirements or () if need.min_values]
    chosen = [key for key in counted if not of_machine(key)]
    if not closed and chosen:
        closed = f"has minValues of {chosen[0]}, which is not a label of machines"
    return NodeGroup(
        KIND, name,
        labels=labels | dict.fromkeys(odd, ABSENT),  # Karpenter takes such requirements for DoesNotExist
        taints=tuple(Taint(taint.key or "", taint.value or "", taint.effect or "") for taint in claim.taints or ()),
        remaining=remaining, count=count, weight=spec.weight or 0, unstated="excluded", closed=closed,
    )  # fmt: skip


def _closed(spec: NodePoolSpec, remaining: Mapping[str, int], count: int | None, *, ending: bool) -> str:
    """Why the pool makes no node for a pod; empty if it does."""
    if ending:
        return "is being deleted"
    if spec.replicas is not None:
        return f"has a fixed number of nodes ({spec.replicas})"
    # A machine that has nothing of a resource is within a limit of 0, and every machine has some of these.
    full = [
        name
        for name in ordered(remaining)
        if remaining[name] < 0 or (remaining[name] == 0 and name in _OF_EVERY_MACHINE)
    ]
    limits = spec.limits or {}
    if full:
        return f"has reached its limit of {full[0]} {limits[full[0]]}"
    nodes = f"{limits.get(NODES)} node{'s' * (str(limits.get(NODES)) != '1')}"
    return f"has reached its limit of {nodes}" if count is not None and count <= 0 else ""


def _left(limits: Mapping[str, Amount], used: Mapping[str, Amount]) -> dict[str, int]:
    """What the limits leave; a limit that is not a quantity is none."""
    remaining: dict[str, int] = {}
    for resource, limit in limits.items():
        most = parse_quantity(limit)
        if most is not None:
            nano = most - (parse_quantity(used.get(resource, 0)) or 0)
            remaining[resource] = milli(nano) if resource == CPU else whole(nano)
    return remaining


def _labels(name: str, template: NodeClaimTemplate, claim: NodeClaimSpec) -> dict[str, LabelValues]:
    """The labels that nodes of the pool get: by its requirements, by its template, and by Karpenter."""
    labels: dict[str, LabelValues] = {}
    for need in claim.requirements or ():
        key = ALIASES.get(need.key, need.key)
        labels[key] = labels.get(key, ANYTHING).narrowed(need.operator, need.values or (), need.min_values or 0)
    stated = dict((template.metadata.labels if template.metadata else None) or {})
    stated["karpenter.sh/nodepool"] = name
    if reference := claim.node_class_ref:
        stated[f"{reference.group}/{reference.kind.lower()}"] = reference.name
    stated |= {"karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"}
    for key, value in stated.items():
        known = ALIASES.get(key, key)
        labels[known] = labels.get(known, ANYTHING).narrowed("In", (value,))
    return labels
