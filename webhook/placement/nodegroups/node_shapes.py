"""Node shapes: nodes that an autoscaler makes which has no objects in the cluster, stated by the administrator as JSON.

They are ``nodeShapes`` in the values of the chart (``docs/autoscaled.md``).
"""

import itertools

import msgspec
from msgspec import Struct

from webhook.placement.kube.pod import Amount
from webhook.placement.kube.quantity import milli, parse_quantity, whole
from webhook.placement.kube.resource_name import CPU
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.nodegroups.label_values import LabelValues
from webhook.placement.nodegroups.node_group import ALIASES, NodeGroup
from webhook.placement.text.problem import quote

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


class ShapeTaint(Struct, frozen=True, forbid_unknown_fields=True):
    """A taint of the nodes."""

    key: str
    effect: str
    value: str = ""


class NodeShape(Struct, frozen=True, forbid_unknown_fields=True):
    """One shape: ``labels`` have a value or several to choose from, ``nodes`` is how many may be added."""

    name: str
    labels: dict[str, str | tuple[str, ...]] = {}
    taints: tuple[ShapeTaint, ...] = ()
    resources: dict[str, Amount] = {}
    nodes: int | None = None


def node_shapes(text: str) -> tuple[NodeGroup, ...]:
    """The shapes in a text of JSON, as groups; ``ValueError`` with what is wrong."""
    if not text.strip():
        return ()
    try:
        shapes = msgspec.json.decode(text, type=tuple[NodeShape, ...])
    except msgspec.MsgspecError as error:
        raise ValueError(f"it should be a JSON list of node shapes: {error}") from None
    names = sorted(shape.name for shape in shapes)
    if twice := [name for name, following in itertools.pairwise(names) if name == following]:
        raise ValueError(f"{quote(twice[0])} names several node shapes")
    return tuple(map(_group, shapes))


def _group(shape: NodeShape) -> NodeGroup:
    offers: dict[str, int] = {}
    for resource, amount in shape.resources.items():
        nano = parse_quantity(amount)
        if nano is None or nano < 0:
            raise ValueError(f"{quote(str(amount))} of {resource} in node shape {shape.name} is not a quantity")
        offers[resource] = milli(nano) if resource == CPU else whole(nano)
    for taint in shape.taints:
        if taint.effect not in _EFFECTS:
            raise ValueError(f"{quote(taint.effect)} in node shape {shape.name} is not one of {', '.join(_EFFECTS)}")
    labels = {
        ALIASES.get(key, key): LabelValues.one_of(*((value,) if isinstance(value, str) else value))
        for key, value in shape.labels.items()
    }
    taints = tuple(Taint(taint.key, taint.value, taint.effect) for taint in shape.taints)
    closed = "" if shape.nodes is None or shape.nodes > 0 else "makes 0 nodes"
    return NodeGroup("node shape", shape.name, labels=labels, taints=taints, offers=offers, count=shape.nodes,
                     closed=closed)  # fmt: skip
