"""A workload is told at once what its pods would be told later, where nobody looks (``docs/workloads.md``)."""

import itertools
from typing import Final

import msgspec

from webhook.admission.answer import Answer
from webhook.admission.document import Document, mapping, sequence
from webhook.admission.misplaced import with_misplaced
from webhook.admission.mutate import audit, concerned
from webhook.admission.responses import allowed, denied, unreadable_object
from webhook.admission.review import MALFORMED, Review
from webhook.admission.user import user_of
from webhook.admission.workloads import Found, pods_of
from webhook.placement.additions import NOTHING
from webhook.placement.ask import read
from webhook.placement.decision import Decision
from webhook.placement.inventory import Inventory
from webhook.placement.pod import Pod
from webhook.placement.policy import Policy
from webhook.placement.problem import Fault
from webhook.placement.workload import decide_replicas, guard_replicas
from webhook.placement.world import World

_KINDS: Final = (
    ("apps", "Deployment"), ("apps", "ReplicaSet"), ("apps", "StatefulSet"), ("apps", "DaemonSet"),
    ("batch", "Job"), ("batch", "CronJob"), ("", "ReplicationController"),
)  # fmt: skip

WORKLOADS: Final = frozenset(
    (group, kind, "", operation) for (group, kind), operation in itertools.product(_KINDS, ("CREATE", "UPDATE"))
)
"""Group, kind, subresource and operation of what is decided here."""

_MAKERS: Final = frozenset({"Deployment", "CronJob"})
"""Kinds whose own workloads were decided about when they were submitted."""


def submitted(review: Review, cluster: Inventory, policy: Policy) -> Answer:
    """Decide about all pods that the workload is going to have, and about what it says for them in the wrong place."""
    try:
        found = _found(review)
        pod = msgspec.convert(found.pod, Pod) if found and (found.misplaced or not found.same) else None
    except MALFORMED as error:
        return denied(review, Fault.INVALID, unreadable_object(review.kind.kind, error))
    if found is None or pod is None:
        return allowed(review)
    world = World(cluster, policy)
    if found.same:
        decision = Decision(read(pod, review.namespace, world)[0], additions=NOTHING)
    elif concerned(pod, review.namespace, cluster):
        decision = decide_replicas(pod, review.namespace, cluster, policy, found.replicas)
    else:
        decision = guard_replicas(pod, review.namespace, world, found.replicas)
        if not (decision.refused or decision.warnings or found.misplaced):
            return allowed(review)
    return _answer(review, with_misplaced(decision, found.misplaced, policy), policy)


def described(review: Review) -> Found | None:
    """The pods of the workload under review; ``None`` if there is nothing to decide about them, or it is no object.

    That is so where it goes away, where its pods stay as they were, and where a controller of Kubernetes makes it of a
    workload that was decided about. Raises one of :data:`MALFORMED`.
    """
    found = _found(review)
    return None if found is None or found.same else found


def _found(review: Review) -> Found | None:
    """The same, but for pods that stay as they were."""
    document = msgspec.json.decode(review.object)
    old = msgspec.json.decode(review.old) if review.operation == "UPDATE" else None
    if not isinstance(document, dict):
        return None
    document |= {"apiVersion": f"{review.kind.group}/v1".lstrip("/"), "kind": review.kind.kind}
    if _excused(document, review):
        return None
    [found] = pods_of(document, old if isinstance(old, dict) else None)
    return found


def _answer(review: Review, decision: Decision, policy: Policy) -> Answer:
    noted = audit(decision)
    if not decision.refused:
        return allowed(review, decision.warnings, noted)
    if policy.audit:
        would = f"audit: this would be refused: {decision.headline}"
        return allowed(review, [would, *decision.warnings], noted)
    return denied(review, decision.fault, decision.message, decision.warnings, noted)


def _excused(document: Document, review: Review) -> bool:
    """Whether there is nothing to decide about the workload: it goes away, or was decided about with its maker.

    Anybody can write an owner into it; what a controller makes is told by who makes it.
    """
    metadata = mapping(document, "metadata")
    makers = (str(owner.get("kind")) for owner in sequence(metadata, "ownerReferences") if owner.get("controller"))
    made = any(kind in _MAKERS for kind in makers)
    return bool(metadata.get("deletionTimestamp")) or (made and user_of(review).a_controller)
