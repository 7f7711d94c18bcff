"""A workload is told at once what its pods would be told later, where nobody looks (``docs/workloads.md``)."""

import itertools
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webhook.admission.accounts import user_of
from webhook.admission.answer import Answer
from webhook.admission.document import Document, mapping, sequence
from webhook.admission.misplaced import with_misplaced
from webhook.admission.mutate import audit, concerned, opted_in
from webhook.admission.responses import allowed, denied, unreadable_object
from webhook.admission.review import MALFORMED, Review
from webhook.admission.workloads import Found, pods_of
from webhook.placement.decision.additions import NOTHING
from webhook.placement.decision.decision import Decision
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Pod
from webhook.placement.kube.size_limits import oversized
from webhook.placement.request.ask import read
from webhook.placement.request.world import World
from webhook.placement.text.problem import Fault, Problem
from webhook.placement.workload.workload import decide_replicas, guard_replicas

_KINDS: Final = (
    ("apps", "Deployment"), ("apps", "ReplicaSet"), ("apps", "StatefulSet"), ("apps", "DaemonSet"),
    ("batch", "Job"), ("batch", "CronJob"), ("", "ReplicationController"), ("", "PodTemplate"),
)  # fmt: skip

WORKLOADS: Final = frozenset(
    (group, kind, "", operation) for (group, kind), operation in itertools.product(_KINDS, ("CREATE", "UPDATE"))
)
"""Group, kind, subresource and operation of what is decided here."""

_LARGE: Final = 256 * 1024
"""Bytes of a workload that is only decoded as a whole once it is known that its pods do not say too much."""

_MAKERS: Final = frozenset({"Deployment", "CronJob"})
"""Kinds whose own workloads were decided about when they were submitted."""


def submitted(review: Review, cluster: Inventory, policy: Policy) -> Answer:
    """Decide about all pods that the workload is going to have, and about what it says for them in the wrong place."""
    try:
        if len(review.object) > _LARGE and (too_much := _oversized(review)):
            return _answer(review, _refused(too_much, review, cluster, policy), policy)
        found = _found(review, trusted=user_of(review).a_controller)
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


class _Pods(Struct, frozen=True, gc=False):
    """What describes pods: the spec of a workload."""

    template: Pod | None = None


class _Jobs(Struct, frozen=True, gc=False):
    """What describes Jobs: a part of the spec of a CronJob."""

    spec: _Pods | None = None


class _Spec(_Pods, frozen=True, gc=False, rename="camel"):
    """The spec of a workload of any kind."""

    job_template: _Jobs | None = None


class _Workload(Struct, frozen=True, gc=False):
    """A workload as far as it describes pods, which is decoded many times faster than the whole of it."""

    spec: _Spec | None = None
    template: Pod | None = None
    """That of a PodTemplate, which has no spec."""


_WORKLOAD: Final = msgspec.json.Decoder(_Workload)


def _oversized(review: Review) -> tuple[Pod, tuple[Problem, ...]] | None:
    """The template of the workload, if it asks for placement and says more than is judged, and what is too much."""
    workload = _WORKLOAD.decode(review.object)
    spec = workload.spec or _Spec()
    jobs = spec.job_template.spec if spec.job_template else None
    pod = (jobs.template if jobs else spec.template) or workload.template
    problems = oversized(pod) if pod and opted_in(pod) else ()
    return (pod, problems) if pod and problems else None


def _refused(found: tuple[Pod, tuple[Problem, ...]], review: Review, cluster: Inventory, policy: Policy) -> Decision:
    """The decision about a workload of which no more was read."""
    pod, problems = found
    return Decision(read(replace(pod, spec=None), review.namespace, World(cluster, policy))[0], problems)


def described(review: Review, *, trusted: bool) -> Found | None:
    """The pods of the workload under review; ``None`` if there is nothing to decide about them, or it is no object.

    That is so where it goes away, where its pods stay as they were, and where it belongs to a workload that was decided
    about, if whoever says so is ``trusted``. Raises one of :data:`MALFORMED`.
    """
    found = _found(review, trusted=trusted)
    return None if found is None or found.same else found


def _found(review: Review, *, trusted: bool) -> Found | None:
    """The same, but for pods that stay as they were."""
    document = msgspec.json.decode(review.object)
    old = msgspec.json.decode(review.old) if review.operation == "UPDATE" else None
    if not isinstance(document, dict):
        return None
    document |= {"apiVersion": f"{review.kind.group}/v1".lstrip("/"), "kind": review.kind.kind}
    if _excused(document, trusted=trusted):
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


def _excused(document: Document, *, trusted: bool) -> bool:
    """Whether there is nothing to decide about the workload: it goes away, or somebody else answers for it."""
    metadata = mapping(document, "metadata")
    makers = (str(owner.get("kind")) for owner in sequence(metadata, "ownerReferences") if owner.get("controller"))
    return bool(metadata.get("deletionTimestamp")) or (trusted and any(kind in _MAKERS for kind in makers))
