"""A workload is told at once what its pods would be told later, where nobody looks (``docs/workloads.md``)."""

import itertools
from typing import Final

import msgspec

from webhook.admission.answer import Answer
from webhook.admission.document import Document, mapping, sequence
from webhook.admission.mutate import audit, concerned
from webhook.admission.replicas import grown
from webhook.admission.responses import allowed, denied, unreadable_object
from webhook.admission.review import MALFORMED, Review
from webhook.admission.workloads import Found, pods_of
from webhook.placement.decision import Decision
from webhook.placement.inventory import Inventory
from webhook.placement.pod import Pod
from webhook.placement.policy import Policy
from webhook.placement.problem import Fault
from webhook.placement.workload import decide_replicas

_KINDS: Final = (
    ("apps", "Deployment"), ("apps", "ReplicaSet"), ("apps", "StatefulSet"), ("apps", "DaemonSet"),
    ("batch", "Job"), ("batch", "CronJob"),
)  # fmt: skip

WORKLOADS: Final = frozenset(
    (group, kind, "", operation) for (group, kind), operation in itertools.product(_KINDS, ("CREATE", "UPDATE"))
)
"""Group, kind, subresource and operation of what is decided here."""

_MAKERS: Final = frozenset({"Deployment", "CronJob"})
"""Kinds whose own workloads were decided about when they were submitted."""


def submitted(review: Review, cluster: Inventory, policy: Policy) -> Answer:
    """Decide about all pods that the workload is going to have."""
    try:
        found = described(review)
        pod = msgspec.convert(found.pod, Pod) if found else None
    except MALFORMED as error:
        return denied(review, Fault.INVALID, unreadable_object(review.kind.kind, error))
    if found is None or pod is None or not concerned(pod, review.namespace, cluster):
        return allowed(review)
    return _answer(review, decide_replicas(pod, review.namespace, cluster, policy, found.replicas), policy)


def described(review: Review, *, trusted: bool = True) -> Found | None:
    """The pods of the workload under review; ``None`` if there is nothing to decide, or it is no object.

    That is so where it goes away, where its pods stay as they were, and where it belongs to a workload that was decided
    about, if whoever says so is ``trusted``. Raises one of :data:`MALFORMED`.
    """
    document = msgspec.json.decode(review.object)
    old = msgspec.json.decode(review.old) if review.operation == "UPDATE" else None
    if not isinstance(document, dict):
        return None
    document |= {"apiVersion": f"{review.kind.group}/v1", "kind": review.kind.kind}
    old = old if isinstance(old, dict) else None
    if _settled(document, old, trusted=trusted):
        return None
    [found] = pods_of(document, old)
    return found


def _answer(review: Review, decision: Decision, policy: Policy) -> Answer:
    noted = audit(decision)
    if not decision.refused:
        return allowed(review, decision.warnings, noted)
    if policy.audit:
        would = f"audit: this would be refused: {decision.headline}"
        return allowed(review, [would, *decision.warnings], noted)
    return denied(review, decision.fault, decision.message, decision.warnings, noted)


def _settled(document: Document, old: Document | None, *, trusted: bool) -> bool:
    """Whether there is nothing to decide: it goes away, somebody else answers for it, or its pods stay as they were."""
    metadata = mapping(document, "metadata")
    makers = (str(owner.get("kind")) for owner in sequence(metadata, "ownerReferences") if owner.get("controller"))
    if metadata.get("deletionTimestamp") or (trusted and any(kind in _MAKERS for kind in makers)):
        return True
    return old is not None and not grown(document, old)
