"""Nodes under review: changes that break a HostPool, or what runs there, are warned of or refused."""

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from webhook.admission.findings import Finding, Objection
from webhook.admission.responses import unreadable_object
from webhook.admission.review import MALFORMED, Review
from webhook.placement.checks.node_change import breakages, cordoned, objection
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.objects import Node, Taint
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Metadata


class _Taint(Struct, frozen=True, gc=False):
    key: str = ""
    value: str | None = None
    effect: str = ""


class _Spec(Struct, frozen=True, gc=False):
    taints: tuple[_Taint, ...] | None = None
    unschedulable: bool | None = None


class _Node(Struct, frozen=True, gc=False):
    """As much of a node as whoever changes it can break a pool by."""

    metadata: Metadata = Metadata()
    spec: _Spec = _Spec()

    @property
    def cordoned(self) -> bool:
        """Whether new pods are kept away by hand."""
        return bool(self.spec.unschedulable)


_NODE = msgspec.json.Decoder(_Node)


def node_changed(review: Review, cluster: Inventory, policy: Policy) -> Iterator[Finding]:
    """A node before and after; a cordon breaks nothing that runs, so it is never refused."""
    if policy.guard_nodes == "off":
        return
    try:
        old = _NODE.decode(review.old)
        new = None if review.operation == "DELETE" else _NODE.decode(review.object)
    except MALFORMED as error:
        # What guards nodes must never stand in their way.
        yield unreadable_object("Node", error)
        return
    if new and new.metadata.deletion_timestamp:
        return
    before = _value(old, review.name)
    broken = list(breakages(before, _value(new, review.name) if new else None, cluster))
    if broken and policy.guard_nodes == "refuse":
        yield Objection(objection(review.name, broken, deleted=new is None))
    else:
        yield from map(str, broken)
    if new and new.cordoned and not old.cordoned:
        yield from cordoned(before, cluster)


def _value(found: _Node, name: str) -> Node:
    """The node as far as it matters here."""
    taints = (Taint(taint.key, taint.value or "", taint.effect) for taint in found.spec.taints or ())
    return Node(name, found.metadata.uid or "", found.metadata.labels or {}, tuple(taints))
