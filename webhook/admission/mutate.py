"""``/mutate``: a pod that asks for hosts is given what it needs to get them, or refused (``docs/admission.md``)."""

from collections.abc import Callable

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webhook.admission.accounts import believed, controlled
from webhook.admission.answer import Answer, Outcome, Workload
from webhook.admission.patch import encode, operations
from webhook.admission.responses import allowed, denied, resumed, tail, unreadable, unreadable_object
from webhook.admission.review import MALFORMED, Review, Unreadable, read_review
from webhook.placement.decision.decision import Decision, decide
from webhook.placement.inventory.assumed_pods import AssumedPods
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Metadata, Pod
from webhook.placement.provision.intended_hardware import consumes
from webhook.placement.request.memo import LENGTH_LIMIT, Key, Memo, key_of
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.problem import MESSAGE_LIMIT, Fault, escape

MIRROR = "kubernetes.io/config.mirror"
"""Annotation of the API server's image of a static pod, which nobody schedules (Kubernetes, static pods)."""

_MEMORABLE = 16 * LENGTH_LIMIT
"""Bytes of an object whose ruling may be kept: most of one is never read, such as environment variables."""

_POD = msgspec.json.Decoder(Pod)
_NOTHING = Metadata()

_PATIENT = "patient"
"""What the key of a kept ruling ends in, of a pod that may wait."""


class Ruling(Struct, frozen=True, gc=False):
    """What becomes of a pod, whatever it is called: refused with a ``message``, else admitted.

    ``rest`` is then the answer but for its beginning, ``changes`` whether there is a patch in it, and ``waits`` why it
    is let in if no node can run it. ``refused`` is also said of a pod that would be refused but for audit mode.
    """

    message: str = ""
    fault: Fault = Fault.INVALID
    refused: bool = False
    waits: str = ""
    rest: bytes = b""
    changes: bool = False
    warnings: tuple[str, ...] = ()
    audit: dict[str, str] = {}
    depends: bool = False


class Known(Struct, frozen=True):
    """What is known beside the cluster: rulings that are kept, what was promised, how many pods workloads want.

    A ``memo`` keeps rulings for pods that ask the same; it serves one policy, and never changes an answer.
    ``assumed`` are made here, of hosts that pods are bound to. ``count`` says how many pods a workload is to have,
    ``None`` where that is not known.
    """

    memo: Memo[Ruling] | None = None
    assumed: AssumedPods | None = None
    count: Callable[[Workload], int | None] = lambda _: None


_NOTHING_KNOWN = Known()


def mutate(body: bytes, cluster: Inventory, policy: Policy, known: Known = _NOTHING_KNOWN) -> Answer:
    """Review one request body against the cluster. Only pods at CREATE are ever patched."""
    try:
        review = read_review(body)
    except Unreadable as error:
        return unreadable(str(error))
    if not review.what("", "Pod", "CREATE"):
        return allowed(review)
    return _created(review, World(cluster, policy, assumed=known.assumed), known)


def _created(review: Review, world: World, known: Known) -> Answer:
    if bytes(review.object) == b"null":
        return allowed(review, ["there is no object in this review, so nothing was looked at"])
    try:
        pod = believed(_POD.decode(review.object), review)
    except MALFORMED as error:
        return denied(review, Fault.INVALID, unreadable_object("Pod", error))
    metadata = pod.metadata or _NOTHING
    passes = metadata.deletion_timestamp or MIRROR in (metadata.annotations or {})
    if passes or not concerned(pod, review.namespace, world.inventory):
        return allowed(review)
    return _asked(pod, review, world, known)


def _asked(pod: Pod, review: Review, world: World, known: Known) -> Answer:
    """The answer about a pod that asks for placement; where the number of such pods matters, with that number.

    Who made it is looked at only if it would be refused: a pod of a workload that was decided about may wait.
    """
    small = len(review.object) <= _MEMORABLE  # of a larger object not even its key is made
    key = key_of(pod, review.namespace, world.inventory) if known.memo is not None and small else None
    ruling = _rule(pod, key, review, world, known)
    if ruling.refused and ruling.fault is Fault.FORBIDDEN and _may_wait(pod, review, world.policy):
        patient = World(world.inventory, world.policy, assumed=known.assumed, patient=True)
        patient_key = key and (*key, _PATIENT)
        patiently = _rule(pod, patient_key, review, patient, known)
        if not patiently.refused:
            world, key, ruling = patient, patient_key, patiently
    if not ruling.depends:
        return _answer(review, ruling)
    workload = _workload(pod.metadata or _NOTHING, review.namespace)
    count = known.count(workload)
    if count is None:
        return replace(_answer(review, ruling), depends=workload)
    return _answer(review, _rule(pod, key and (*key, count), review, world, known, count))


def _may_wait(pod: Pod, review: Review, policy: Policy) -> bool:
    return policy.unsatisfiable_pods == "wait" and controlled(review, pod.metadata)


def _answer(review: Review, ruling: Ruling) -> Answer:
    if ruling.message:
        return denied(review, ruling.fault, ruling.message, ruling.warnings, ruling.audit)
    answer = resumed(review, ruling.rest, Outcome.PATCHED if ruling.changes else Outcome.ALLOWED)
    return replace(answer, waits=ruling.waits) if ruling.waits else answer


def _workload(metadata: Metadata, namespace: str) -> Workload:
    """The controller of the pod, which has one if its ruling depends on a number of pods."""
    owner = next(found for found in metadata.owner_references or () if found.controller)
    return Workload(namespace, owner.api_version, owner.kind, owner.name)


def _rule(pod: Pod, key: Key | None, review: Review, world: World, known: Known, count: int | None = None) -> Ruling:
    """What becomes of the pod; kept under the ``key``, which says everything that is read of it."""
    if known.memo is None or key is None:
        return _decided(pod, review, world, known, count)[1]
    kept = known.memo.find(world.inventory, key)
    if kept is not None:
        return kept
    decision, ruling = _decided(pod, review, world, known, count)
    known.memo.keep(world, key, decision.ask, ruling)
    return ruling


def _decided(pod: Pod, review: Review, world: World, known: Known, count: int | None) -> tuple[Decision, Ruling]:
    """The decision about the pod, and what it comes to; a host that it is bound to is promised to it."""
    decision = decide(pod, review.namespace, world, count)
    if known.assumed and decision.additions and decision.additions.node_name:
        known.assumed.assume(review.uid, decision.additions.node_name, decision.ask.requests)
    return decision, _ruling(pod, decision, world.policy)


def _ruling(pod: Pod, decision: Decision, policy: Policy) -> Ruling:
    warnings, noted = decision.warnings, audit(decision)
    refused, fault = decision.refused, decision.fault
    waits = decision.wait.cause.value if decision.wait else ""
    if policy.audit:
        rest = tail(b"", (_would(pod, decision), *warnings), noted)
        return Ruling(fault=fault, refused=refused, waits=waits, rest=rest)
    if decision.additions is None:
        return Ruling(decision.message, fault, refused, warnings=warnings, audit=noted)
    steps = operations(pod, decision.additions)
    patch = encode(steps) if steps else b""
    rest = tail(patch, warnings, noted)
    return Ruling(rest=rest, changes=bool(patch), waits=waits, depends=decision.depends)


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
    found = {"verdict": "refused" if decision.refused else "waits" if decision.wait else "admitted", "rule": rule}
    if decision.verdict:
        found["candidates"] = str(decision.verdict.candidates.bit_count())
    return found
