"""``/mutate``: patches a pod that asks for placement, or refuses the pod (``docs/admission.md``)."""

import functools
from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webhook.admission.answer import Answer, JobQuestion, SizeQuestion, VolumesQuestion, WorkloadRef
from webhook.admission.application_pods import with_owners
from webhook.admission.opt_in import NO_METADATA, believed, concerned, controlled, exempt, unknown_job
from webhook.admission.patch import encode, operations
from webhook.admission.responses import (
    Admission,
    admission,
    allowed,
    answered,
    audit_annotations,
    denied,
    nested_too_deeply,
    patched,
    unreadable,
    unreadable_object,
)
from webhook.admission.review import MALFORMED, Review, UnreadableReviewError, read_review, subject_of
from webhook.placement.decision.decision import Decision, decide, forged_seal
from webhook.placement.decision.merge import Additions
from webhook.placement.inventory.assumed_pods import AssumedPods
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Metadata, Pod, PodSpec
from webhook.placement.objects.jobs.job import StreamsJob
from webhook.placement.objects.jobs.job_model import JobModel
from webhook.placement.objects.volumes import Volumes
from webhook.placement.request.claimed_volumes import claims_of, has_claims
from webhook.placement.request.memo import LENGTH_LIMIT, Key, Memo, key_of
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.api_kinds import POD
from webhook.placement.text.problem import Fault

_PODS: Final = subject_of(POD, "CREATE")

_MEMORABLE = 16 * LENGTH_LIMIT
"""Bytes of an object whose ruling may be kept: most of one is never read, such as environment variables."""

_POD = msgspec.json.Decoder(Pod)

_PATIENT = "patient"
"""What the key of a kept ruling ends in, of a pod that may wait."""


class Ruling(Struct, frozen=True, gc=False):
    """The answer to pods that differ only in their names: refused with a ``message``, else admitted.

    ``admission`` is ``None`` for a refusal. ``waits`` is why a pod is let in that no node can run. ``refused`` is true
    of a pod, too, that would be refused but for audit mode, and ``rules`` are those of the refusal. ``depends`` says
    that the number of such pods matters. ``text`` is the placement text of the pod that the answer was made for. A pod
    that asks the same by another text gets the same ``additions``, but a patch of its own: the seal in it depends on
    the text.
    """

    admission: Admission | None = None
    message: str = ""
    fault: Fault = Fault.INVALID
    refused: bool = False
    waits: str = ""
    warnings: tuple[str, ...] = ()
    audit: dict[str, str] = {}
    depends: bool = False
    text: str = ""
    additions: Additions | None = None
    rules: tuple[str, ...] = ()


class Known(Struct, frozen=True):
    """Knowledge beside the inventory that decisions use.

    ``memo`` keeps rulings for pods that ask the same; it serves one policy, and never changes an answer. ``assumed`` is
    filled here: pods bound to a node that the watch has not brought yet. ``count`` says how many pods a workload is to
    have, ``None`` where that is not known.
    """

    memo: Memo[Ruling] | None = None
    assumed: AssumedPods | None = None
    count: Callable[[WorkloadRef], int | None] = lambda _: None


_NOTHING_KNOWN = Known()


def mutate(body: bytes, inventory: Inventory, policy: Policy, known: Known = _NOTHING_KNOWN) -> Answer:
    """Review one request body against the cluster. Only pods at CREATE are ever patched."""
    try:
        review = read_review(body)
    except UnreadableReviewError as error:
        return unreadable(str(error))
    return _created(review, inventory, policy, known) if review.subject == _PODS else allowed(review)


def _created(review: Review, inventory: Inventory, policy: Policy, known: Known) -> Answer:
    if review.deep:
        return nested_too_deeply(review)
    if bytes(review.object) == b"null":
        return allowed(review, ["the review has no object, so nothing was checked"])
    try:
        pod = believed(_POD.decode(review.object), review)
    except MALFORMED as error:
        return denied(review, Fault.INVALID, unreadable_object("Pod", error, review.object))
    spared = exempt(pod.metadata or NO_METADATA, review)
    if spared or not concerned(pod, review.namespace, inventory):
        return answered(review, () if spared else forged_seal(pod), policy)
    answer = _concerned(pod, review, inventory, policy, known)
    if not has_claims(pod.spec):
        return answer
    resume = functools.partial(_with_volumes, pod, review, inventory, policy, replace(known, memo=None))
    return replace(answer, question=VolumesQuestion(claims_of(pod.spec or PodSpec(), review.namespace), resume))


def _with_volumes(
    pod: Pod, review: Review, inventory: Inventory, policy: Policy, known: Known, volumes: Volumes | None
) -> Answer:
    """The answer about a pod whose claims were looked up."""
    inventory = inventory if volumes is None else inventory.with_volumes(volumes)
    return _concerned(pod, review, inventory, policy, known)


def _concerned(pod: Pod, review: Review, inventory: Inventory, policy: Policy, known: Known) -> Answer:
    """The answer about a pod that asks for placement, with the question about its Job if that is not known."""
    answer = _asked(pod, review, inventory, policy, known)
    job = unknown_job(pod, review.namespace, inventory)
    if job is None:
        return answer
    resume = functools.partial(_of_job, pod, review, inventory, policy, known)
    return replace(answer, question=JobQuestion(job, resume, needed=not policy.audit))


def _of_job(
    pod: Pod, review: Review, inventory: Inventory, policy: Policy, known: Known, job: StreamsJob | None
) -> Answer:
    """The answer about a pod of that Job, as the API server has it; ``None`` if the Job does not exist.

    No answer is kept: what is known of the Job may be older, and changes when the watch says so.
    """
    if job is None:
        return _asked(pod, review, inventory, policy, known)
    return _asked(pod, review, inventory.with_job(JobModel(job)), policy, replace(known, memo=None))


def _asked(
    pod: Pod, review: Review, inventory: Inventory, policy: Policy, known: Known, *, of_application: bool = False
) -> Answer:
    """The answer about a pod that asks for placement; where the number of such pods matters, with that number.

    The user who made the pod is looked at only if the pod would be refused: one of a workload that was judged
    when it was submitted may wait, and so may one of an application of another operator.
    """
    world = World(inventory, policy, assumed=known.assumed)
    small = len(review.object) <= _MEMORABLE  # of a larger object not even its key is made
    key = key_of(pod, review.namespace, inventory) if known.memo is not None and small else None
    ruling = _rule(pod, key, review, world, known)
    impossible = ruling.refused and ruling.fault is Fault.FORBIDDEN
    if impossible and not of_application and not _may_wait(pod, review, policy):
        owned = functools.partial(_asked, pod, review, inventory, policy, known, of_application=True)
        return with_owners(_answer(review, ruling), review, policy, owned)
    if impossible:
        patient = World(inventory, policy, assumed=known.assumed, patient=True)
        patient_key = key and (*key, _PATIENT)
        patiently = _rule(pod, patient_key, review, patient, known)
        if not patiently.refused:
            world, key, ruling = patient, patient_key, patiently
    if not ruling.depends:
        return _answer(review, ruling)
    workload = _workload(pod.metadata or NO_METADATA, review.namespace)
    count = known.count(workload)
    if count is not None:
        return _answer(review, _rule(pod, key and (*key, count), review, world, known, count))
    again = functools.partial(_asked, pod, review, inventory, policy, known, of_application=of_application)
    question = SizeQuestion(workload, again)
    return replace(_answer(review, ruling), question=question)


def _may_wait(pod: Pod, review: Review, policy: Policy) -> bool:
    return policy.unsatisfiable_pods == "wait" and controlled(review, pod.metadata, policy)


def _answer(review: Review, ruling: Ruling) -> Answer:
    if ruling.admission is None:
        return denied(review, ruling.fault, ruling.message, ruling.warnings, ruling.audit, rules=ruling.rules)
    answer = patched(review, ruling.admission)
    return replace(answer, waits=ruling.waits, rules=ruling.rules) if ruling.waits or ruling.rules else answer


def _workload(metadata: Metadata, namespace: str) -> WorkloadRef:
    """The controller of the pod; a pod whose ruling depends on a number of pods has one."""
    owner = next(reference for reference in metadata.owner_references or () if reference.controller)
    return WorkloadRef(namespace, owner.api_version, owner.kind, owner.name)


def _rule(pod: Pod, key: Key | None, review: Review, world: World, known: Known, count: int | None = None) -> Ruling:
    """The ruling about the pod; kept under the ``key``, which holds everything that a decision reads of the pod."""
    if known.memo is None or key is None:
        return _decided(pod, review, world, known, count)[1]
    text = _text(pod)
    kept = known.memo.find(world.inventory, key, text)
    if kept is not None:
        return kept if kept.additions is None or kept.text == text else _resealed(pod, kept, kept.additions)
    decision, ruling = _decided(pod, review, world, known, count)
    known.memo.keep(world, key, decision.ask, ruling, text if ruling.refused else None)
    return ruling


def _resealed(pod: Pod, kept: Ruling, additions: Additions) -> Ruling:
    """The ruling about a pod that asks by another placement text what the kept one is about."""
    return replace(kept, admission=_patching(pod, additions, kept.warnings, kept.audit))


def _patching(pod: Pod, additions: Additions, warnings: tuple[str, ...], audit: dict[str, str]) -> Admission:
    steps = operations(pod, additions)
    return admission(encode(steps) if steps else b"", warnings, audit)


def _decided(pod: Pod, review: Review, world: World, known: Known, count: int | None) -> tuple[Decision, Ruling]:
    """The decision about the pod and the ruling from it; a pod that it binds to a node is assumed to run there."""
    decision = decide(pod, review.namespace, world, count)
    if known.assumed and decision.additions and decision.additions.node_name:
        known.assumed.assume(review.uid, decision.additions.node_name, decision.ask.requests)
    return decision, _ruling(pod, decision, world.policy)


def _ruling(pod: Pod, decision: Decision, policy: Policy) -> Ruling:
    warnings, audit = decision.warnings, audit_annotations(decision)
    waits = decision.wait.cause.value if decision.wait else ""
    if policy.audit:
        admitted = admission(b"", (_would(pod, decision), *warnings), audit)
        refused, fault, rules = decision.refused, decision.fault, decision.rules
        return Ruling(admitted, fault=fault, refused=refused, waits=waits, rules=rules)
    if decision.additions is None:
        fault, rules = decision.fault, decision.rules
        return Ruling(None, decision.message, fault, refused=True, warnings=warnings, audit=audit, rules=rules)
    return Ruling(
        _patching(pod, decision.additions, warnings, audit),
        waits=waits,
        warnings=warnings,
        audit=audit,
        depends=decision.depends,
        text=_text(pod),
        additions=decision.additions,
    )


def _text(pod: Pod) -> str:
    return ((pod.metadata or NO_METADATA).annotations or {}).get(keys.PLACEMENT, "")


def _would(pod: Pod, decision: Decision) -> str:
    """The warning of audit mode: what would have been patched or refused."""
    if decision.additions is None:
        return f"audit: this pod would be refused: {decision.headline}"
    added = ", ".join(sorted({step.path.split("/")[2] for step in operations(pod, decision.additions)}))
    return f"audit: this pod would get: {added}" if added else "audit: this pod would stay unchanged"
