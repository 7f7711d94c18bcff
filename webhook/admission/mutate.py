"""``/mutate``: a pod that asks for hosts is given what it needs to get them, or refused (``docs/admission.md``)."""

import msgspec
from msgspec import Struct

from webhook.admission.answer import Answer, Outcome
from webhook.admission.patch import encode, operations
from webhook.admission.responses import allowed, denied, resumed, tail, unreadable, unreadable_object
from webhook.admission.review import MALFORMED, Review, Unreadable, read_review
from webhook.placement import keys
from webhook.placement.decision import Decision, decide
from webhook.placement.intended import consumes
from webhook.placement.inventory import Inventory
from webhook.placement.memo import Memo, key_of
from webhook.placement.pod import Metadata, Pod
from webhook.placement.policy import Policy
from webhook.placement.problem import MESSAGE_LIMIT, Fault, escape
from webhook.placement.world import World

MIRROR = "kubernetes.io/config.mirror"
"""Annotation of the API server's image of a static pod, which nobody schedules (Kubernetes, static pods)."""

_POD = msgspec.json.Decoder(Pod)
_NOTHING = Metadata()


class Ruling(Struct, frozen=True, gc=False):
    """What becomes of a pod, whatever it is called: refused with a ``message``, else admitted.

    ``rest`` is then the answer but for its beginning, ``changes`` whether there is a patch in it.
    """

    message: str = ""
    fault: Fault = Fault.INVALID
    rest: bytes = b""
    changes: bool = False
    warnings: tuple[str, ...] = ()
    audit: dict[str, str] = {}


def mutate(body: bytes, cluster: Inventory, policy: Policy, memo: Memo[Ruling] | None = None) -> Answer:
    """Review one request body against the cluster. Only pods at CREATE are ever patched.

    A ``memo`` keeps rulings for pods that ask the same; it serves one policy, and never changes an answer.
    """
    try:
        review = read_review(body)
    except Unreadable as error:
        return unreadable(str(error))
    return _created(review, World(cluster, policy), memo) if review.what("", "Pod", "CREATE") else allowed(review)


def _created(review: Review, world: World, memo: Memo[Ruling] | None) -> Answer:
    if bytes(review.object) == b"null":
        return allowed(review, ["there is no object in this review, so nothing was looked at"])
    try:
        pod = _POD.decode(review.object)
    except MALFORMED as error:
        return denied(review, Fault.INVALID, unreadable_object("Pod", error))
    metadata = pod.metadata or _NOTHING
    if metadata.deletion_timestamp or MIRROR in (metadata.annotations or {}):
        return allowed(review)
    if not concerned(pod, review.namespace, world.cluster):
        return allowed(review)
    ruling = _rule(pod, review.namespace, world, memo)
    if ruling.message:
        return denied(review, ruling.fault, ruling.message, ruling.warnings, ruling.audit)
    return resumed(review, ruling.rest, Outcome.PATCHED if ruling.changes else Outcome.ALLOWED)


def _rule(pod: Pod, namespace: str, world: World, memo: Memo[Ruling] | None) -> Ruling:
    key = key_of(pod, namespace, world.cluster) if memo is not None else None
    if memo is None or key is None:
        return _ruling(pod, decide(pod, namespace, world), world.policy)
    kept = memo.find(world.cluster, key)
    if kept is not None:
        return kept
    decision = decide(pod, namespace, world)
    ruling = _ruling(pod, decision, world.policy)
    memo.keep(world, key, decision.ask, ruling)
    return ruling


def _ruling(pod: Pod, decision: Decision, policy: Policy) -> Ruling:
    warnings, noted = decision.warnings, audit(decision)
    if policy.audit:
        return _admitted(b"", (_would(pod, decision), *warnings), noted)
    if decision.additions is None:
        return Ruling(decision.message, decision.fault, warnings=warnings, audit=noted)
    steps = operations(pod, decision.additions)
    return _admitted(encode(steps) if steps else b"", warnings, noted)


def _admitted(patch: bytes, warnings: tuple[str, ...], noted: dict[str, str]) -> Ruling:
    return Ruling(rest=tail(patch, warnings, noted), changes=bool(patch))


def _would(pod: Pod, decision: Decision) -> str:
    """What would have happened, as a warning: nothing is patched or refused."""
    if decision.additions is None:
        return f"audit: this pod would be refused: {decision.headline}"
    added = ", ".join(sorted({step.path.split("/")[2] for step in operations(pod, decision.additions)}))
    return f"audit: this pod would be given: {added}" if added else "audit: this pod would stay as it is"


def opted_in(pod: Pod) -> bool:
    """Whether the pod itself asks for placement, by an annotation of ours or by belonging to a job."""
    metadata = pod.metadata or _NOTHING
    labels = metadata.labels or {}
    if keys.JOB in labels or keys.PE in labels:
        return True
    return any(key.startswith(keys.PREFIX) for key in metadata.annotations or ())


def concerned(pod: Pod, namespace: str, cluster: Inventory) -> bool:
    """Whether the pod asks for placement, or an HPAIntent asks for its workload."""
    return opted_in(pod) or consumes(pod.metadata or _NOTHING, namespace, cluster.intents)


def audit(decision: Decision) -> dict[str, str]:
    """The decision for the API server's audit log: verdict, the clauses behind it, and how many nodes were left."""
    clauses = decision.refusal.clauses if decision.refusal else map(str, decision.ask.clauses)
    rule = escape("; ".join(clauses))[:MESSAGE_LIMIT]
    found = {"verdict": "refused" if decision.refused else "admitted", "rule": rule}
    if decision.verdict:
        found["candidates"] = str(decision.verdict.candidates.bit_count())
    return found
