"""Nodes as the values that placement knows, made from wire objects, with the taints that follow from their state.

Where only a part of a node cannot be used, the rest is used, and a note says what was left out.
"""

import sys
from collections.abc import Iterator, Mapping

from webhook.cluster.objects import wire
from webhook.cluster.objects.metadata import Notes, metadata_of, uncounted
from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.pod import (
    Amount,
)
from webhook.placement.kube.quantity import milli, parse_quantity, whole
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.node import Node
from webhook.placement.text.problem import quote


def node(source: wire.NodeObject) -> tuple[Node, Notes]:
    """A node, with the taints that Kubernetes derives from its state."""
    spec, status = source.spec or wire.NodeSpec(), source.status or wire.NodeStatus()
    metadata, name = metadata_of(source.metadata)
    tainted, notes = taints(spec, status)
    # As the API server does, a node that says nothing about what it can give away gives away what it has.
    amounts, field = (
        (status.capacity, "capacity") if status.allocatable is None else (status.allocatable, "allocatable")
    )
    return (
        Node(
            name=sys.intern(name),  # pods, slices and claims name it
            uid=metadata.uid or name,
            labels={sys.intern(key): sys.intern(value) for key, value in (metadata.labels or {}).items()},
            taints=tainted,
            addresses=tuple(dict.fromkeys(each.address for each in status.addresses or () if each.address)),
            allocatable=_amounts(amounts or {}, f"status.{field}", notes),
        ),
        notes,
    )


def _amounts(amounts: Mapping[str, Amount], path: str, notes: Notes) -> Tally:
    tally = {}
    for name, amount in amounts.items():
        nano = parse_quantity(amount)
        if nano is None or nano < 0:
            notes.append(uncounted(f"{path}[{name}]", str(amount)))
        else:
            tally[sys.intern(name)] = milli(nano) if name == "cpu" else whole(nano)
    return tally


EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")

UNSCHEDULABLE = Taint("node.kubernetes.io/unschedulable", effect="NoSchedule")

BY_READINESS = {
    "False": Taint("node.kubernetes.io/not-ready", effect="NoSchedule"),
    "Unknown": Taint("node.kubernetes.io/unreachable", effect="NoSchedule"),
}
"""By the status of the condition Ready (Kubernetes, ``pkg/controller/nodelifecycle``)."""


def taints(spec: wire.NodeSpec, status: wire.NodeStatus) -> tuple[tuple[Taint, ...], list[str]]:
    """The node's taints with those that Kubernetes derives from its state, and notes on invalid ones.

    The node-lifecycle controller writes the derived ones some time later, so what is decided without them would be
    undone by them.
    """
    notes: list[str] = []
    tainted = list(_stated(spec, notes))
    there = {(taint.key, taint.effect) for taint in tainted}
    tainted += (taint for taint in _derived(spec, status) if (taint.key, taint.effect) not in there)
    return tuple(dict.fromkeys(tainted)), notes


def _stated(spec: wire.NodeSpec, notes: list[str]) -> Iterator[Taint]:
    for place, taint in enumerate(spec.taints or ()):
        if not taint.key:
            notes.append(f"spec.taints[{place}].key: missing, the taint is left out")
        elif taint.effect not in EFFECTS:
            stated = quote(taint.effect) if taint.effect else "nothing"
            notes.append(f"spec.taints[{place}].effect: {stated} is not one of {', '.join(EFFECTS)}, it is left out")
        else:
            yield Taint(taint.key, taint.value or "", taint.effect)


def _derived(spec: wire.NodeSpec, status: wire.NodeStatus) -> Iterator[Taint]:
    if spec.unschedulable:
        yield UNSCHEDULABLE
    for condition in status.conditions or ():
        if condition.type == "Ready" and condition.status in BY_READINESS:
            yield BY_READINESS[condition.status]
