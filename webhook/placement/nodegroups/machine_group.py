"""MachineDeployments, MachineSets and MachinePools of Cluster API as node groups, by their annotations.

The cluster autoscaler scales those that have a least and a largest size. Source:
``cluster-autoscaler/cloudprovider/clusterapi`` of Kubernetes, which also reads the template of the infrastructure: what
that states and the annotations do not is not known here.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from webhook.placement.kube.amounts import PODS
from webhook.placement.kube.numbers import integer
from webhook.placement.kube.quantity import milli, parse_quantity, whole
from webhook.placement.kube.resource_name import CPU, MEMORY
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.nodegroups.label_values import LabelValues
from webhook.placement.nodegroups.node_group import ALIASES, NodeGroup

_SIZE: Final = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-"
MOST: Final = f"{_SIZE}max-size"
LEAST: Final = f"{_SIZE}min-size"
_CAPACITY: Final = "capacity.cluster-autoscaler.kubernetes.io/"
_AMOUNTS: Final = {"cpu": CPU, "memory": MEMORY, "ephemeral-disk": "ephemeral-storage", "maxPods": PODS}
"""Resources by the annotation that states the amount of a node."""

_OWN_DOMAINS: Final = ("node-role.kubernetes.io", "node-restriction.kubernetes.io", "node.cluster.x-k8s.io")
"""Domains of the labels that Cluster API copies from the template of Machines to nodes."""


class Machines(Struct, frozen=True, gc=False):
    """An object that makes Machines: ``replicas`` is how many it wants now, ``labels`` are those of their template.

    ``joined`` are those of them that are nodes, ``None`` if the object does not say so; ``ending`` tells that the
    object is being deleted.
    """

    kind: str
    name: str
    namespace: str
    annotations: Mapping[str, str] = {}
    replicas: int = 0
    labels: Mapping[str, str] = {}
    ending: bool = False
    joined: int | None = None


def machine_group(machines: Machines) -> tuple[NodeGroup | None, list[str]]:
    """The object as a group, ``None`` if it is not scaled; and what of the annotations cannot be read."""
    annotations = machines.annotations
    most = integer(annotations.get(MOST, ""))
    if LEAST not in annotations or most is None:
        return None, []
    notes: list[str] = []
    stated = {key.removeprefix(_CAPACITY): text for key, text in annotations.items() if key.startswith(_CAPACITY)}
    labels = {key: value for key, value in machines.labels.items() if _copied(key)}
    labels |= dict(_pairs(stated.get("labels", ""), "labels", notes))
    # A Machine that is on its way is a node that is yet to come, although nothing can be added to the group any more.
    joined = machines.replicas if machines.joined is None else min(machines.joined, machines.replicas)
    count = max(0, most - joined)
    closed = "" if count else f"has reached its largest size ({most})"
    return NodeGroup(
        machines.kind, machines.name, machines.namespace,
        labels={ALIASES.get(key, key): LabelValues.one_of(value) for key, value in labels.items()},
        taints=tuple(_taints(stated.get("taints", ""), notes)),
        offers=_offers(stated, notes), count=count,
        unstated="any" if not stated else "live" if machines.replicas else "absent",
        closed="is being deleted" if machines.ending else closed,
    ), notes  # fmt: skip


def _copied(key: str) -> bool:
    domain = key.partition("/")[0]
    return any(domain == own or domain.endswith(f".{own}") for own in _OWN_DOMAINS)


def _offers(stated: Mapping[str, str], notes: list[str]) -> dict[str, int]:
    """What a node has to give, by the annotations."""
    amounts = {resource: stated[key] for key, resource in _AMOUNTS.items() if key in stated}
    if "gpu-count" in stated and "gpu-type" in stated:
        amounts[stated["gpu-type"]] = stated["gpu-count"]
    offers: dict[str, int] = {}
    for resource, amount in amounts.items():
        nano = parse_quantity(amount)
        if nano is None or nano < 0:
            notes.append(f"the capacity annotation of {resource} is not a quantity, so the amount is not known")
        else:
            offers[resource] = milli(nano) if resource == CPU else whole(nano)
    return offers


def _pairs(text: str, field: str, notes: list[str]) -> Iterator[tuple[str, str]]:
    """Keys and values of a text such as ``key1=value1,key2=value2``."""
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = part.partition("=")
        if key and equals:
            yield key, value
        else:
            notes.append(f"the capacity annotation of {field} has an entry that is not key=value")


def _taints(text: str, notes: list[str]) -> Iterator[Taint]:
    """Taints of a text such as ``key1=value1:NoSchedule,key2=value2:NoExecute``."""
    for key, stated in _pairs(text, "taints", notes):
        value, colon, effect = stated.rpartition(":")
        if colon and effect:
            yield Taint(key, value, effect)
        else:
            notes.append("the capacity annotation of taints has an entry without an effect")
