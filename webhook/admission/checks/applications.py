"""Applications of other operators at ``/validate``: a FlinkDeployment, a RayCluster, ... judged before pods exist.

The kinds are data (``placement/kinds/data``). An object is not judged that says nothing of this product,
neither itself nor in its templates (``docs/applications.md``).
"""

import functools
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webhook.admission.answer import (
    Answer,
    ClassQuestion,
    Promise,
    PromisedObject,
    ReferenceQuestion,
    RightsQuestion,
    VolumesQuestion,
    WholeQuestion,
)
from webhook.admission.pool_use import with_rights_to
from webhook.admission.responses import allowed, answered, denied
from webhook.admission.review import Review
from webhook.admission.unstructured import Unstructured, mapping
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.whole_application import (
    PodsToJudge,
    judge_application,
    judge_at_once,
    pools_used,
    read_pods,
)
from webhook.placement.kinds.application import OperatorApplication, expanded
from webhook.placement.kinds.kind import OperatorKind
from webhook.placement.kinds.references import reference_of, says_something
from webhook.placement.kube.names import is_namespace, is_object_name
from webhook.placement.objects.volumes import Volumes
from webhook.placement.planning.search.solver import Solving
from webhook.placement.pod_defaults.pod_defaults import PodDefaults
from webhook.placement.request.claimed_volumes import claims_of, has_claims
from webhook.placement.request.world import World
from webhook.placement.text.keys import API_GROUP, PLACEMENT
from webhook.placement.text.problem import Fault

_MAY_ASK: Final = API_GROUP.encode()
"""In the JSON of every object that asks for placement: all keys of this product have it."""

WAIT: Final = "not all of the pods can run now, so some of them wait"
"""How the warning begins for an application that is scaled to more pods than fit."""

LEFT_OUT: Final = "not all of the pods can run now, so some of them are refused"
"""How that warning begins where the settings let no pod wait."""

REFUSED: Final = "pods of this application are refused"
"""How the warning begins for an application with a mistake, because of which its pods are refused."""

OPERATIONS: Final = frozenset({"CREATE", "UPDATE"})
"""What is done to objects that are judged."""


def kind_of(review: Review, policy: Policy) -> OperatorKind | None:
    """The kind of the object under review, if it is one of other operators, and the operation one that counts."""
    if review.subresource or review.operation not in OPERATIONS:
        return None
    return policy.kinds.get((review.kind.group, review.kind.kind))


def submitted(kind: OperatorKind, review: Review, inventory: Inventory, policy: Policy) -> Answer:
    """Decide about all components of the application that is created, or whose pods change.

    Raises one of ``MALFORMED``, which ``validate`` answers.
    """
    if _MAY_ASK not in bytes(review.object):
        return allowed(review)
    document = msgspec.json.decode(review.object)
    if not isinstance(document, dict) or mapping(document, "metadata").get("deletionTimestamp"):
        return allowed(review)
    reference = reference_of(kind, document, review.namespace)
    if reference is None or not says_something(kind, document):
        return _decided(kind, review, inventory, policy, document, None)

    def resume(referenced: Unstructured | None) -> Answer:
        return _decided(kind, review, inventory, policy, document, referenced)

    return replace(allowed(review), question=ReferenceQuestion(reference, resume))


def scaled(kind: OperatorKind, review: Review, inventory: Inventory, policy: Policy, document: Unstructured) -> Answer:
    """The answer about an application with more pods, which a review of its subresource ``scale`` asks for.

    Whatever does not fit is a warning: those who scale, and autoscalers among them, keep the application running.
    """
    return _decided(kind, review, inventory, policy, document, None)


def _decided(
    kind: OperatorKind,
    review: Review,
    inventory: Inventory,
    policy: Policy,
    document: Unstructured,
    referenced: Unstructured | None,
) -> Answer:
    """The answer about the application, once it is known to what it refers."""
    application = expanded(kind, document, referenced)
    changed = review.operation == "UPDATE"
    if not application.asks or (changed and not _demands_more(kind, review, application, referenced)):
        return allowed(review)
    pods = read_pods(application)
    if isinstance(pods, tuple):
        return allowed(review) if review.subresource else answered(review, pods, policy)
    return _checked(review, inventory, policy, application, pods)


def _demands_more(
    kind: OperatorKind, review: Review, application: OperatorApplication, referenced: Unstructured | None
) -> bool:
    """Whether the changed application describes other pods than before, or more of them, or is no longer suspended."""
    document = msgspec.json.decode(review.old)
    before = expanded(kind, document if isinstance(document, dict) else {}, referenced)
    had = {(one.name, one.apart): one for one in before.components}
    if (before.suspended and not application.suspended) or len(had) < len(before.components):
        return True  # what was called by one name twice cannot be compared
    for one in application.components:
        other = had.get((one.name, one.apart))
        if other is None or other.pod != one.pod or one.count > other.count or one.most > other.most:
            return True
    return bool(application.problems)


def _checked(
    review: Review, inventory: Inventory, policy: Policy, application: OperatorApplication, pods: Sequence[PodsToJudge]
) -> Answer:
    """The answer about an application that can be read, with the questions that are left."""
    answer = allowed(review)
    if not review.subresource:  # who submitted the application had the rights, and autoscalers have none of them
        uses = pools_used(pods, review.namespace, World(inventory, policy))
        answer = with_rights_to(answer, review, uses, f"metadata.annotations[{PLACEMENT}]", policy)

    def whole(inventory: Inventory) -> VolumesQuestion | WholeQuestion:
        claims = tuple(
            dict.fromkeys(
                claim
                for one in pods
                if one.pod.spec and has_claims(one.pod.spec)
                for claim in claims_of(one.pod.spec, review.namespace)
            )
        )
        resume = functools.partial(_with_volumes, review, inventory, policy, application, pods)
        if not claims:
            return resume(None)
        return VolumesQuestion(claims, lambda volumes: replace(allowed(review), question=resume(volumes)))

    def resume(known: PodDefaults) -> Answer:
        return replace(allowed(review), question=whole(inventory.with_pod_defaults(known)))

    unknown = tuple(dict.fromkeys(name for one in pods for name in inventory.pod_defaults.unknown(one.pod)))
    question = ClassQuestion(unknown, inventory.pod_defaults, resume) if unknown else whole(inventory)
    rights = answer.question
    return replace(answer, question=replace(rights, then=question) if isinstance(rights, RightsQuestion) else question)


def _with_volumes(
    review: Review,
    inventory: Inventory,
    policy: Policy,
    application: OperatorApplication,
    pods: Sequence[PodsToJudge],
    volumes: Volumes | None,
) -> WholeQuestion:
    """The question whether the whole application can run, by what is known of its claims."""
    inventory = inventory if volumes is None else inventory.with_volumes(volumes)

    def promise(verdict: JobVerdict) -> Promise | None:
        return _promise(review, inventory, policy, (application, pods), verdict)

    async def resume(solving: Solving) -> Answer:
        changed = review.operation == "UPDATE"
        beside = policy.kinds[review.kind.group, review.kind.kind].changes_beside
        verdict = await judge_application(
            pods, review.namespace, inventory, policy, solving, changed=changed, beside=beside
        )
        verdict = replace(verdict, warnings=(*application.warnings(review.kind.kind), *verdict.warnings))
        if verdict.refused and application.suspended:
            verdict = verdict.postponed()
        verdict = replace(verdict, warnings=(*verdict.warnings, *verdict.beside(inventory.promised)))
        if not verdict.refused:
            return replace(allowed(review, verdict.warnings), promise=promise(verdict))
        if review.subresource:
            said = f"{_becoming(verdict.fault, policy)}: {verdict.headline}"
            return allowed(review, [said, *verdict.warnings])  # in no mode is it a refusal, which rules would count
        if policy.audit:
            would = f"audit: this would be refused: {verdict.headline}"
            return allowed(review, [would, *verdict.warnings], rules=verdict.rules)
        return denied(review, verdict.fault, verdict.text, verdict.warnings, rules=verdict.rules)

    return WholeQuestion(resume)


class _SubmittedIdentity(Struct, frozen=True):
    name: str = ""
    uid: str = ""


class _SubmittedApplication(Struct, frozen=True):
    metadata: _SubmittedIdentity = _SubmittedIdentity()


def _promise(
    review: Review,
    inventory: Inventory,
    policy: Policy,
    judged: tuple[OperatorApplication, Sequence[PodsToJudge]],
    verdict: JobVerdict,
) -> Promise | None:
    """The room that a new application is promised, if its operator makes the pods at once.

    The API server has given the object its name and uid before this review.
    """
    application, pods = judged
    if review.operation != "CREATE" or review.subresource or review.dry_run or application.suspended:
        return None
    kind = policy.kinds[review.kind.group, review.kind.kind]
    together = tuple(one for one in pods if one.component.count and not one.component.apart)
    if kind.scheduled or not together:
        return None
    metadata = msgspec.json.decode(review.object, type=_SubmittedApplication).metadata
    if not metadata.uid or not is_object_name(metadata.name) or not is_namespace(review.namespace):
        return None
    if verdict.group is None or verdict.room is None or not any(verdict.room.slots):
        return None
    home = f"/apis/{review.kind.group}/{review.kind.version}/namespaces/{review.namespace}"
    stored = PromisedObject(review.namespace, f"{home}/{kind.kind.resource}/{metadata.name}", metadata.uid)

    judge = functools.partial(
        _judged_later, review.namespace, inventory.volumes, inventory.pod_defaults, policy
    )  # nothing else of the review is kept, whose body may be large
    return Promise(stored, verdict.group, verdict.room, tuple(one.without_document() for one in together), judge)


async def _judged_later(  # noqa: PLR0913, PLR0917 -- what is known of the namespace, and what is asked
    namespace: str,
    volumes: Volumes,
    defaults: PodDefaults,
    policy: Policy,
    pods: Sequence[PodsToJudge],
    inventory: Inventory,
    solving: Solving,
) -> JobVerdict:
    """The verdict on some of the pods, over an inventory of later."""
    known = inventory.with_volumes(volumes).with_pod_defaults(defaults)
    return await judge_at_once(pods, namespace, known, policy, solving)


def _becoming(fault: Fault, policy: Policy) -> str:
    """What becomes of the pods of an application that is scaled; in audit mode, what would."""
    if fault is not Fault.FORBIDDEN:
        return "audit: pods of this application would be refused" if policy.audit else REFUSED
    if policy.unsatisfiable_pods == "wait":
        return "audit: some of the pods would wait" if policy.audit else WAIT
    return "audit: some of the pods would be refused" if policy.audit else LEFT_OUT
