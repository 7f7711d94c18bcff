"""``/mutate``: a pod that asks for hosts is given what it needs to get them, or refused (``docs/admission.md``)."""

import msgspec

from webhook.admission.answer import Answer
from webhook.admission.patch import operations
from webhook.admission.responses import allowed, denied, patched, unreadable, unreadable_object
from webhook.admission.review import MALFORMED, Review, Unreadable, read_review
from webhook.placement import keys
from webhook.placement.decision import Decision, decide
from webhook.placement.inventory import Inventory
from webhook.placement.pod import Metadata, Pod
from webhook.placement.policy import Policy
from webhook.placement.problem import MESSAGE_LIMIT, Fault, escape
from webhook.placement.world import World

MIRROR = "kubernetes.io/config.mirror"
"""Annotation of the API server's image of a static pod, which nobody schedules (Kubernetes, static pods)."""

_POD = msgspec.json.Decoder(Pod)
_NOTHING = Metadata()


def mutate(body: bytes, cluster: Inventory, policy: Policy) -> Answer:
    """Review one request body against the cluster. Only pods at CREATE are ever patched."""
    try:
        review = read_review(body)
    except Unreadable as error:
        return unreadable(str(error))
    if not review.what("", "Pod", "CREATE"):
        return allowed(review)
    if bytes(review.object) == b"null":
        return allowed(review, ["there is no object in this review, so nothing was looked at"])
    try:
        pod = _POD.decode(review.object)
    except MALFORMED as error:
        return denied(review, Fault.INVALID, unreadable_object("Pod", error))
    metadata = pod.metadata or _NOTHING
    if metadata.deletion_timestamp or MIRROR in (metadata.annotations or {}) or not opted_in(pod):
        return allowed(review)
    decision = decide(pod, review.namespace, World(cluster, policy))
    return _audited(review, pod, decision) if policy.audit else _enforced(review, pod, decision)


def _enforced(review: Review, pod: Pod, decision: Decision) -> Answer:
    if decision.additions is None:
        return denied(review, decision.fault, decision.message, decision.warnings, audit(decision))
    return patched(review, operations(pod, decision.additions), decision.warnings, audit(decision))


def _audited(review: Review, pod: Pod, decision: Decision) -> Answer:
    """What would have happened, as a warning: nothing is patched or refused."""
    if decision.additions is None:
        would = f"audit: this pod would be refused: {decision.message.partition(chr(10))[0]}"
    else:
        added = ", ".join(sorted({step.path.split("/")[2] for step in operations(pod, decision.additions)}))
        would = f"audit: this pod would be given: {added}" if added else "audit: this pod would stay as it is"
    return allowed(review, (would, *decision.warnings), audit(decision))


def opted_in(pod: Pod) -> bool:
    """Whether the pod itself asks for placement, by an annotation of ours or by belonging to a job."""
    metadata = pod.metadata or _NOTHING
    labels = metadata.labels or {}
    if keys.JOB in labels or keys.PE in labels:
        return True
    return any(key.startswith(keys.PREFIX) for key in metadata.annotations or ())


def audit(decision: Decision) -> dict[str, str]:
    """The decision for the API server's audit log: verdict, the clauses behind it, and how many nodes were left."""
    clauses = decision.refusal.clauses if decision.refusal else map(str, decision.ask.clauses)
    rule = escape("; ".join(clauses))[:MESSAGE_LIMIT]
    found = {"verdict": "refused" if decision.refused else "admitted", "rule": rule}
    if decision.verdict:
        found["candidates"] = str(decision.verdict.candidates.bit_count())
    return found
