"""Nodes at ``/validate``: a change that breaks a HostPool, or what runs on the node, is warned of or refused."""

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from webhook.admission.answer import Answer
from webhook.admission.responses import CheckResult, Objection, allowed, answered, unreadable_object
from webhook.admission.review import MALFORMED, Review
from webhook.placement.checks.node_change import breakages, cordoned, objection
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Metadata
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.node import Node
from webhook.placement.text.rule import Rule


class _SubmittedTaint(Struct, frozen=True, gc=False):
    key: str = ""
    value: str | None = None
    effect: str = ""


class _SubmittedNodeSpec(Struct, frozen=True, gc=False):
    taints: tuple[_SubmittedTaint, ...] | None = None
    unschedulable: bool | None = None


class _SubmittedNode(Struct, frozen=True, gc=False):
    """``v1 Node``: exactly those fields by whose change a HostPool can break."""

    metadata: Metadata = Metadata()
    spec: _SubmittedNodeSpec = _SubmittedNodeSpec()

    @property
    def cordoned(self) -> bool:
        """Whether the node is marked unschedulable."""
        return bool(self.spec.unschedulable)


_NODE = msgspec.json.Decoder(_SubmittedNode)


def changed(review: Review, inventory: Inventory, policy: Policy) -> Answer:
    """Check an updated or deleted node; a cordon ends no pod that runs, so it is never refused."""
    if policy.guard_nodes == "off":
        return allowed(review)
    try:
        old = _NODE.decode(review.old)
        new = None if review.operation == "DELETE" else _NODE.decode(review.object)
    except MALFORMED as error:
        # A Node that is not readable is let through: kubelets must be able to write theirs.
        return answered(review, [unreadable_object("Node", error, review.object)], policy)
    if new and new.metadata.deletion_timestamp:
        return allowed(review)
    return answered(review, _objections(review.name, old, new, inventory, policy), policy)


def _objections(
    name: str, old: _SubmittedNode, new: _SubmittedNode | None, inventory: Inventory, policy: Policy
) -> Iterator[CheckResult]:
    """The objection to the change, or warnings about it; ``new`` is ``None`` for a node that is deleted."""
    before = _value(old, name)
    broken = list(breakages(before, _value(new, name) if new else None, inventory))
    if broken and policy.guard_nodes == "refuse":
        yield Objection(objection(name, broken, deleted=new is None), Rule.GUARD)
    else:
        yield from map(str, broken)
    if new and new.cordoned and not old.cordoned:
        yield from cordoned(before, inventory)


def _value(submitted: _SubmittedNode, name: str) -> Node:
    """The node with the fields that are compared: name, uid, labels and taints."""
    taints = (Taint(taint.key, taint.value or "", taint.effect) for taint in submitted.spec.taints or ())
    return Node(name, submitted.metadata.uid or "", submitted.metadata.labels or {}, tuple(taints))
