"""Workloads at ``/validate``: all pods of a Deployment, a Job, ... are judged when it is submitted.

The user gets the refusal that the controllers of Kubernetes would get later, when they create the pods
(``docs/workloads.md``). ``CHECKS`` of ``validate`` calls :func:`submitted` at CREATE and UPDATE.
"""

import functools
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webhook.admission.answer import Answer, ClassQuestion, Outcome, VolumesQuestion
from webhook.admission.checks.job_workloads import with_others
from webhook.admission.checks.templates import DescribedPod, pods_of, with_misplaced
from webhook.admission.opt_in import concerned, opted_in
from webhook.admission.pool_use import with_rights
from webhook.admission.responses import allowed, audit_annotations, denied
from webhook.admission.review import Review
from webhook.admission.unstructured import Unstructured, mapping, sequence
from webhook.placement.decision.decision import Decision
from webhook.placement.decision.merge import NOTHING
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Pod, PodSpec
from webhook.placement.kube.size_limits import oversized
from webhook.placement.objects.volumes import Volumes
from webhook.placement.pod_defaults.pod_defaults import PodDefaults
from webhook.placement.request.ask import read
from webhook.placement.request.claimed_volumes import claims_of, has_claims
from webhook.placement.request.world import World
from webhook.placement.text.problem import Problem
from webhook.placement.workload.ordinal_claims import claims_of_set
from webhook.placement.workload.workload import decide_replicas, guard_replicas

_LARGE: Final = 256 * 1024
"""Bytes of a workload above which its pod template is decoded alone first, to find out whether it is oversized."""

_MAKERS: Final = frozenset({"Deployment", "CronJob"})
"""Kinds whose controllers make other workloads (ReplicaSets, Jobs), and that were judged themselves."""


def submitted(review: Review, inventory: Inventory, policy: Policy) -> Answer:
    """Decide about all pods that the workload is going to have, and about annotations in the wrong place.

    The answer may carry a ``RightsQuestion`` about HostPools, and a ``WorkloadsQuestion`` about its job. Raises
    one of ``MALFORMED``, which ``validate`` answers.
    """
    if len(review.object) > _LARGE and (too_much := _oversized(review)):
        return _too_large(too_much, review, World(inventory, policy))
    described = _described(review)
    if described is None or (described.same and not described.misplaced):
        return allowed(review)
    pod = msgspec.convert(described.pod, Pod)
    if described.same:
        decision = Decision(read(pod, review.namespace, World(inventory, policy))[0], additions=NOTHING)
        return _answer(review, with_misplaced(decision, described.misplaced, policy), policy)
    if unknown := tuple(inventory.pod_defaults.unknown(pod)):

        def resume(known: PodDefaults) -> Answer:
            return _decided(review, described, pod, inventory.with_pod_defaults(known), policy)

        return replace(allowed(review), question=ClassQuestion(unknown, inventory.pod_defaults, resume))
    return _decided(review, described, pod, inventory, policy)


def _decided(review: Review, described: DescribedPod, pod: Pod, inventory: Inventory, policy: Policy) -> Answer:
    """The answer about a workload of which all classes are known that can be."""
    if concerned(pod, review.namespace, inventory):
        return _claiming(review, described, pod, inventory, policy)
    decision = guard_replicas(pod, review.namespace, World(inventory, policy), described.replicas)
    if not (decision.refused or decision.warnings or described.misplaced):
        return allowed(review)
    return _whole(review, described, decision, inventory, policy)


def _claiming(review: Review, described: DescribedPod, pod: Pod, inventory: Inventory, policy: Policy) -> Answer:
    """The answer about pods that ask for placement, with the question about the claims that they have."""
    answer = _concerned(review, described, pod, policy, inventory, None)
    own, count = described.replicas.claims, described.replicas.count
    if not (own or has_claims(pod.spec)):
        return answer
    claims = claims_of(pod.spec or PodSpec(), review.namespace)
    claims += claims_of_set(own, review.namespace, count) if own else ()
    return replace(
        answer,
        question=VolumesQuestion(claims, functools.partial(_concerned, review, described, pod, policy, inventory)),
    )


def _concerned(
    review: Review, described: DescribedPod, pod: Pod, policy: Policy, inventory: Inventory, volumes: Volumes | None
) -> Answer:
    """The answer about pods that ask for placement, by what is known of their claims."""
    inventory = inventory if volumes is None else inventory.with_volumes(volumes)
    decision = decide_replicas(pod, review.namespace, inventory, policy, described.replicas)
    return _whole(review, described, decision, inventory, policy)


def _whole(review: Review, described: DescribedPod, decision: Decision, inventory: Inventory, policy: Policy) -> Answer:
    """The answer by the decision, with what the workload says in the wrong place and the questions that are left."""
    decision = with_misplaced(decision, described.misplaced, policy)
    answer = with_rights(_answer(review, decision, policy), review, decision.ask, policy)
    return with_others(answer, review, described, decision, inventory, policy)


class _Pods(Struct, frozen=True, gc=False):
    """The spec of a workload: the template of its pods."""

    template: Pod | None = None


class _Jobs(Struct, frozen=True, gc=False):
    """The template of a CronJob's Jobs."""

    spec: _Pods | None = None


class _DescribingSpec(_Pods, frozen=True, gc=False, rename="camel"):
    """The spec of a workload of any kind."""

    job_template: _Jobs | None = None


class _DescribingWorkload(Struct, frozen=True, gc=False):
    """A workload: only the templates of its pods, which is decoded many times faster than the whole of it."""

    spec: _DescribingSpec | None = None
    template: Pod | None = None
    """The template of a PodTemplate, which has no spec."""


_WORKLOAD: Final = msgspec.json.Decoder(_DescribingWorkload)


def _oversized(review: Review) -> tuple[Pod, tuple[Problem, ...]] | None:
    """The template of the workload, if it asks for placement and says more than is judged, and what is too much."""
    workload = _WORKLOAD.decode(review.object)
    spec = workload.spec or _DescribingSpec()
    jobs = spec.job_template.spec if spec.job_template else None
    pod = (jobs.template if jobs else spec.template) or workload.template
    problems = oversized(pod) if pod and opted_in(pod) else ()
    return (pod, problems) if pod and problems else None


def _too_large(template: tuple[Pod, tuple[Problem, ...]], review: Review, world: World) -> Answer:
    """The refusal of a workload whose pods say too much; in audit mode a warning.

    The warning comes with the question whether the user may use the HostPools.
    """
    pod, problems = template
    decision = Decision(read(replace(pod, spec=None), review.namespace, world)[0], problems)
    answer = _answer(review, decision, world.policy)
    if answer.outcome is not Outcome.ALLOWED:
        return answer
    whole = _described(review)
    return answer if whole is None or whole.same else with_rights(answer, review, decision.ask, world.policy)


def _described(review: Review) -> DescribedPod | None:
    """The pods of the workload under review; ``None`` if it is not judged.

    That is so if the object is not a JSON object, if it is being deleted, and if a controller of Kubernetes created it
    for a Deployment or CronJob that was judged. Raises one of ``MALFORMED``.
    """
    document = msgspec.json.decode(review.object)
    old = msgspec.json.decode(review.old) if review.operation == "UPDATE" else None
    if not isinstance(document, dict):
        return None
    document |= {"apiVersion": f"{review.kind.group}/v1".lstrip("/"), "kind": review.kind.kind}
    if _excused(document, review):
        return None
    [described] = pods_of(document, old if isinstance(old, dict) else None)
    return described


def _answer(review: Review, decision: Decision, policy: Policy) -> Answer:
    noted = audit_annotations(decision)
    if not decision.refused:
        return allowed(review, decision.warnings, noted)
    rules = decision.rules
    if policy.audit:
        would = f"audit: this would be refused: {decision.headline}"
        return allowed(review, [would, *decision.warnings], noted, rules)
    return denied(review, decision.fault, decision.message, decision.warnings, noted, rules=rules)


def _excused(document: Unstructured, review: Review) -> bool:
    """Whether the workload is not judged: it is being deleted, or belongs to one that was judged."""
    metadata = mapping(document, "metadata")
    if metadata.get("deletionTimestamp"):
        return True
    makers = (str(owner.get("kind")) for owner in sequence(metadata, "ownerReferences") if owner.get("controller"))
    return any(kind in _MAKERS for kind in makers) and review.user.is_kubernetes_controller
