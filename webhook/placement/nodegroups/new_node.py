"""The node that a group would make for a pod: its labels chosen so that the pod's requirements hold, if they can.

Each label is chosen by itself, since a group states its labels one by one. So of the alternatives that a pod allows one
is met by some node of the group if, and only if, each label has a value that meets all of its requirements.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.pod import Requirement
from webhook.placement.kube.selection.selector import NAME_FIELD
from webhook.placement.nodegroups.label_values import ABSENT, ANYTHING, LabelValues
from webhook.placement.nodegroups.node_group import ALIASES, OF_MACHINES, NodeGroup, of_machine
from webhook.placement.objects.node import Node
from webhook.placement.text.keys import HOSTNAME
from webhook.placement.text.problem import enumerated

UNKNOWN: Final = 2**62
"""The amount of a resource that is not known: as much as a node can have."""

_SIZES: Final[Mapping[str, tuple[str, int]]] = {
    "karpenter.azure.com/sku-cpu": ("cpu", 1000),
    "karpenter.k8s.aws/instance-cpu": ("cpu", 1000),
    "karpenter.k8s.aws/instance-memory": ("memory", 2**20),
    "karpenter.kwok.sh/instance-cpu": ("cpu", 1000),
}
"""Labels that are the size of the machine: the resource, and how much of it a unit of the label is."""

_NAMES: Final = frozenset({HOSTNAME, NAME_FIELD})
"""What tells one node from all others."""

_RESERVED: Final = "karpenter.sh/"
_ALLOWED: Final = frozenset({"karpenter.sh/capacity-type", "karpenter.sh/nodepool"})
"""Labels of Karpenter's own domain that pods may require (``IsRestrictedLabel`` in its ``pkg/apis/v1/labels.go``)."""

_NAMED: Final = 2
"""Maximum number of a group's unmet requirements named in a message."""

_LIVE: Final = 100
"""Values of a label on the nodes there are; one with more tells nodes apart, so a new node may have another one."""

Needs = Mapping[str, tuple[Requirement, ...]]
"""Requirements on labels, all of which must hold, by key."""

LiveValues = Callable[[str], Collection[str]]
"""The values that a label has on the nodes there are."""


class Unmet(Struct, frozen=True, gc=False):
    """Requirements on a label that no node of the group meets; ``made`` is what the group makes, in words."""

    needs: tuple[Requirement, ...]
    made: str

    def __str__(self) -> str:
        """The requirements, and what the group makes: ``disktype=ssd (it makes hdd)``."""
        return f"{' and '.join(map(_in_words, self.needs[:_NAMED]))} ({self.made})"


class NewNode(Struct, frozen=True, gc=False):
    """A node that the group would make; ``unknown`` are labels that it must have and may not."""

    node: Node
    unknown: tuple[str, ...] = ()


def needs_of(requirements: Iterable[Requirement]) -> dict[str, tuple[Requirement, ...]]:
    """The requirements by key; older keys of a label count as its key."""
    needs: dict[str, tuple[Requirement, ...]] = {}
    for need in dict.fromkeys(requirements):
        key = ALIASES.get(need.key, need.key)
        needs[key] = (*needs.get(key, ()), need)
    return needs


def new_node(
    group: NodeGroup, alternatives: Sequence[Needs], amounts: Tally, live: LiveValues
) -> NewNode | tuple[Unmet, ...]:
    """The node for the first of the alternatives that one can meet; else what is unmet of the nearest alternative.

    ``amounts`` are what the pod needs. Alternatives by which the node is known to be large enough come first.
    """
    nearest: tuple[Unmet, ...] = ()
    small: NewNode | None = None
    if group.unstated == "excluded" and (why := ignored(alternatives)):
        return (why,)
    for needs in alternatives:
        stated = {key: _stated(group, key, wanted_values, live) for key, wanted_values in needs.items()}
        chosen = {key: _narrowed(stated[key], wanted_values) for key, wanted_values in needs.items()}
        unmet = tuple(
            Unmet(needs[key], _makes(key, stated[key], values)) for key, values in chosen.items() if not values.possible
        )
        if not unmet:
            made = _made(group, chosen, amounts)
            if all(made.node.allocatable[resource] >= needed for resource, needed in amounts.items()):
                return made
            small = small or made
        if not nearest or len(unmet) < len(nearest):
            nearest = unmet
    return small or nearest


def ignored(alternatives: Iterable[Needs]) -> Unmet | None:
    """What a pod requires of a label on which Karpenter allows no requirements, in any of its node terms."""
    for needs in alternatives:
        for key, values in needs.items():
            if key in _NAMES or (key.startswith(_RESERVED) and key not in _ALLOWED):
                return Unmet(values, f"Karpenter ignores pods with requirements on {key}")
    return None


def _made(group: NodeGroup, chosen: Mapping[str, LabelValues], resources: Collection[str]) -> NewNode:
    """A node with one of the chosen values for each label."""
    values = {**dict.fromkeys(OF_MACHINES, ANYTHING), **group.labels, **chosen}
    labels = {key: value for key, value_set in values.items() if (value := value_set.choice()) is not None}
    labels |= {alias: labels[key] for alias, key in ALIASES.items() if key in labels}
    labels[HOSTNAME] = _name(group)
    labels.pop(NAME_FIELD, None)
    offers = {resource: min(group.offers.get(resource, UNKNOWN), group.remaining.get(resource, UNKNOWN))
              for resource in resources}  # fmt: skip
    for key, (resource, unit) in _SIZES.items():
        largest = values[key].largest if key in values else None
        if largest is not None and resource in offers:
            offers[resource] = min(offers[resource], largest * unit)
    unknown = tuple(key for key, value_set in chosen.items() if key not in group.labels and not value_set.absent)
    return NewNode(
        Node(_name(group), _name(group), labels, group.taints, allocatable=offers),
        tuple(sorted({*unknown} - _NAMES)),
    )


def _stated(group: NodeGroup, key: str, needs: Iterable[Requirement], live: LiveValues) -> LabelValues:
    """The values that the label, on which a pod has these requirements, may have on a node of the group."""
    if key in _NAMES:
        return LabelValues.one_of(_name(group))
    if key in group.labels:
        return group.labels[key]
    if of_machine(key) or group.unstated == "any":
        return ANYTHING
    if group.unstated == "excluded" and _narrowed(ANYTHING, needs).excludes:
        return ANYTHING
    if group.unstated != "live":
        return ABSENT
    values = live(key)
    return LabelValues(frozenset(values)) if len(values) <= _LIVE else ANYTHING


def _makes(key: str, stated: LabelValues, narrowed: LabelValues) -> str:
    """What values the group gives to the label, of which ``narrowed`` are left, in words."""
    if key in _NAMES:
        return "the name of a new node is not known"
    if stated == ABSENT:
        return "it does not set that label"
    return f"it needs {narrowed.distinct} values to choose from" if narrowed.values else f"it makes {stated}"


def _name(group: NodeGroup) -> str:
    """The name of a new node, which no node can have."""
    return f"(new of {group} {group.namespace})"


def _narrowed(values: LabelValues, needs: Iterable[Requirement]) -> LabelValues:
    for need in needs:
        values = values.narrowed(need.operator, need.values or ())
    return values


def _in_words(need: Requirement) -> str:
    """The requirement as a predicate of nodes, such as ``disktype=ssd``."""
    key, values = need.key, sorted(need.values or ())
    match need.operator:
        case "In" if len(values) == 1:
            return f"{key}={values[0]}"
        case "In":
            return f"{key} in ({enumerated(values, _NAMED)})"
        case "NotIn":
            return f"{key} not in ({enumerated(values, _NAMED)})"
        case "Exists":
            return f"the label {key}"
        case "DoesNotExist":
            return f"the label {key} absent"
        case _:
            return f"{key} {'>' if need.operator == 'Gt' else '<'} {values[0]}"
