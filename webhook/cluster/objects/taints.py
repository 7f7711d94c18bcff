"""The taints of a node, and those that it is about to get."""

from collections.abc import Iterator

from webhook.cluster.objects import wire
from webhook.placement.inventory.objects import Taint
from webhook.placement.text.problem import quote

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")

UNSCHEDULABLE = Taint("node.kubernetes.io/unschedulable", effect="NoSchedule")

BY_READINESS = {
    "False": Taint("node.kubernetes.io/not-ready", effect="NoSchedule"),
    "Unknown": Taint("node.kubernetes.io/unreachable", effect="NoSchedule"),
}
"""By the status of the condition Ready (Kubernetes, ``pkg/controller/nodelifecycle``)."""


def taints(spec: wire.NodeSpec, status: wire.NodeStatus) -> tuple[tuple[Taint, ...], list[str]]:
    """The node's taints with those that Kubernetes derives from its state, and notes on the ones that are none.

    The node-lifecycle controller writes the derived ones some time later, so what is decided without them would be
    undone by them.
    """
    notes: list[str] = []
    found = list(_stated(spec, notes))
    there = {(taint.key, taint.effect) for taint in found}
    found += (taint for taint in _derived(spec, status) if (taint.key, taint.effect) not in there)
    return tuple(dict.fromkeys(found)), notes


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
