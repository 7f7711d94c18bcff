"""Jobs and ProcessingElements at ``/validate``: mistakes that are found before any object is created from them.

Their own rules are in ``placement/jobs/problems.py``; ``docs/jobs.md`` describes the fields.
"""

import functools
import re
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from webhook.admission.answer import (
    Answer,
    ClassQuestion,
    FieldsQuestion,
    JobQuestion,
    JobRef,
    Outcome,
    PoolUse,
    RightsQuestion,
    VolumesQuestion,
    WholeQuestion,
)
from webhook.admission.pool_use import with_rights_to
from webhook.admission.responses import allowed, answered, denied
from webhook.admission.review import MALFORMED, Review
from webhook.admission.unstructured import Unstructured, mapping
from webhook.placement.elements.template_fields import Names, UnknownField, unknown_field_steps, unknown_fields
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.element_pods import claims_of_job, demands_more
from webhook.placement.jobs.named_pools import (
    foreign_pools,
    pool_clause_steps,
    pool_clauses,
    pools_of_element,
    undeclared_pools,
)
from webhook.placement.jobs.operators.fused_job import judge_model
from webhook.placement.jobs.operators.region_widths import made_widths, with_widths
from webhook.placement.jobs.problems import problem_steps, problems_of_element, problems_of_job, problems_of_nesting
from webhook.placement.kube.pod import Metadata, Pod, PodSpec
from webhook.placement.objects.jobs.job import StreamsJob
from webhook.placement.objects.jobs.job_fusion import JobFusion, fusion_of
from webhook.placement.objects.jobs.job_model import JobModel
from webhook.placement.objects.jobs.job_spec import ElementSpec, JobSpec, ProcessingElementSpec
from webhook.placement.objects.volumes import Volumes
from webhook.placement.planning.search.solver import Resting, Restless, Solving, finished, taken
from webhook.placement.planning.search.steps import Steps
from webhook.placement.pod_defaults.pod_defaults import PodDefaults
from webhook.placement.pools.allocation import pool_of
from webhook.placement.request.world import World
from webhook.placement.text.decoder_words import decoder_problem
from webhook.placement.text.problem import Fault, Problem, quote

_NO_STATUS: Final = Raw(b"{}")


class SubmittedJob(Struct, frozen=True, gc=False):
    """``streams.ibm.com/v1 Job`` as a user submits it."""

    metadata: Metadata = Metadata()
    spec: JobSpec = JobSpec()
    status: Raw = _NO_STATUS

    @property
    def fusion(self) -> JobFusion | None:
        """How its operators are fused, by its status; ``None`` if they are not."""
        return fusion_of(self.status)


class SubmittedElement(Struct, frozen=True, gc=False):
    """``streams.ibm.com/v1 ProcessingElement`` as a user, or the controller, submits it."""

    metadata: Metadata = Metadata()
    spec: ProcessingElementSpec = ProcessingElementSpec()


CONTAINERS_LIMIT: Final = 100_000
"""Lists and objects of a Job, with those of its templates: they take a tenth of a second to decode.

The largest Jobs that etcd stores have fewer, unless they are made to be expensive.
"""

_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)

_Submitted = TypeVar("_Submitted", SubmittedJob, SubmittedElement)

_JOB: Final = msgspec.json.Decoder(SubmittedJob)
_ELEMENT: Final = msgspec.json.Decoder(SubmittedElement)


_AT_ONCE: Final = 20
_AT_ONCE_BYTES: Final = 64 * 1024
"""Elements and bytes of a Job whose own rules are checked at once: that takes as long as the review of a pod."""


def submitted_job(review: Review, inventory: Inventory, policy: Policy) -> Answer:
    """Check a Job that is created, or whose spec changes: its own rules, rights, and whether all of it can run.

    The user who submits it needs the right to use the HostPools that it does not declare itself: its pods are the
    controller's. The rules of a large Job are checked while other reviews go on. A Job that is being deleted is only
    kept from becoming one that cannot be read.
    """
    if crowded := _crowded(bytes(review.object)):
        return answered(review, [crowded], policy)
    new = _JOB.decode(review.object)
    if new.metadata.deletion_timestamp:
        deep = problems_of_nesting(_stated(new.spec))
        return answered(review, deep, policy)
    if _unchanged(review, _JOB, new):
        return allowed(review)
    if review.operation == "UPDATE":  # regions keep the widths to which they were scaled
        new = replace(new, spec=with_widths(new.spec, made_widths(new.spec, new.fusion)))
    check = functools.partial(_checked, review, inventory, policy, new)
    if (
        len(new.spec.processing_elements or new.spec.operators or ()) <= _AT_ONCE
        and len(review.object) <= _AT_ONCE_BYTES
    ):
        return finished(check(Restless()))
    return replace(allowed(review), question=WholeQuestion(check))


def _stated(spec: JobSpec) -> Iterator[tuple[str, ElementSpec]]:
    """What has a template of its own, with its path: processing elements, or operators that are yet to be fused."""
    for place, element in enumerate(spec.processing_elements or ()):
        yield f"spec.processingElements[{place}]", element
    for place, operator in enumerate(spec.operators or ()):
        yield f"spec.operators[{place}]", ElementSpec(template=operator.template)


def _crowded(text: bytes) -> Problem | None:
    """The problem of an object, as JSON, with more lists and objects than are read."""
    if text.count(b"{") + text.count(b"[") <= CONTAINERS_LIMIT:
        return None
    bare = _STRING.sub(b"", text)
    brackets = bare.count(b"{") + bare.count(b"[")
    if brackets <= CONTAINERS_LIMIT:
        return None
    return Problem("spec", f"has {brackets} lists and objects, at most {CONTAINERS_LIMIT} are allowed")


async def _checked(review: Review, inventory: Inventory, policy: Policy, new: SubmittedJob, solving: Resting) -> Answer:
    """The answer by the Job's own rules; if it keeps them, with the questions that are left."""
    known = _open_pools(review.namespace, inventory)
    problems = await taken(_problems(new), solving)
    clauses = await taken(pool_clause_steps(new.spec), solving)
    problems += undeclared_pools(clauses, new.spec, known.keys())
    uses = [(known[pool], clause.text) for pool, clause in foreign_pools(clauses, new.spec) if pool in known]
    answer = with_rights_to(
        answered(review, problems, policy),
        review,
        uses,
        "spec.operators" if new.spec.operators else "spec.processingElements",
        policy,
    )
    if problems:
        return answer
    fields = await taken(unknown_field_steps(_stated(new.spec)), solving)
    if not (new.metadata.name and await _demanding(review, new, solving)):
        return _known(review, policy, fields, functools.partial(_warned, review, answer))
    claims = await claims_of_job(review.namespace, new.metadata.name, new.spec, solving)

    def then(warnings: tuple[str, ...]) -> Answer:
        def whole(inventory: Inventory) -> VolumesQuestion | WholeQuestion:
            resume = functools.partial(_with_volumes, review, inventory, policy, new, warnings)
            return resume(None) if claims is None else VolumesQuestion(claims, lambda got: _asking(review, resume(got)))

        return _then(answer, after_classes(review, inventory, new, whole))

    return _known(review, policy, fields, then)


def _then(answer: Answer, whole: ClassQuestion | VolumesQuestion | WholeQuestion) -> Answer:
    """The answer with the question about the whole Job, after that about rights if there is one."""
    rights = answer.question
    return replace(answer, question=replace(rights, then=whole) if isinstance(rights, RightsQuestion) else whole)


def _warned(review: Review, answer: Answer, warnings: tuple[str, ...]) -> Answer:
    """The answer with the warnings, if it allows and depends on nothing else."""
    final = answer.outcome is Outcome.ALLOWED and answer.question is None
    return allowed(review, warnings) if warnings and final else answer


def _known(
    review: Review, policy: Policy, fields: list[UnknownField], check_rest: Callable[[tuple[str, ...]], Answer]
) -> Answer:
    """The answer about an object with fields that the table does not have: it depends on what the API server knows.

    ``check_rest`` makes the answer if the API server knows all of them. It gets a warning for each field that could not
    be checked.
    """
    if not fields:
        return check_rest(())

    def resume(unknown: frozenset[Names] | None) -> Answer:
        if unknown is None:
            return check_rest(tuple(f"{field.path}: {field.problem.message}" for field in fields))
        problems = [field.problem for field in fields if field.names in unknown]
        return answered(review, problems, policy) if problems else check_rest(())

    return replace(allowed(review), question=FieldsQuestion(tuple(field.names for field in fields), resume))


def _asking(review: Review, question: VolumesQuestion | WholeQuestion) -> Answer:
    """The answer about a Job without problems of its own, with the question that is left."""
    return replace(allowed(review), question=question)


def after_classes(
    review: Review,
    inventory: Inventory,
    new: SubmittedJob,
    whole: Callable[[Inventory], VolumesQuestion | WholeQuestion],
) -> ClassQuestion | VolumesQuestion | WholeQuestion:
    """The question about the whole Job; before it that about classes which the watch has not brought."""

    def resume(known: PodDefaults) -> Answer:
        return _asking(review, whole(inventory.with_pod_defaults(known)))

    unknown = dict.fromkeys(one for pod in _classes(new.spec) for one in inventory.pod_defaults.unknown(pod))
    return ClassQuestion(tuple(unknown), inventory.pod_defaults, resume) if unknown else whole(inventory)


def _classes(spec: JobSpec) -> Iterator[Pod]:
    """For each element that names a RuntimeClass or PriorityClass, a pod with that name alone."""
    for _, element in _stated(spec):
        stated = mapping(element.template, "spec") if isinstance(element.template, dict) else {}
        runtime, priority = stated.get("runtimeClassName"), stated.get("priorityClassName")
        if runtime is not None or priority:
            yield Pod(spec=msgspec.convert({"runtimeClassName": runtime, "priorityClassName": priority}, PodSpec))


def _with_volumes(
    review: Review,
    inventory: Inventory,
    policy: Policy,
    new: SubmittedJob,
    warnings: tuple[str, ...],
    volumes: Volumes | None,
) -> WholeQuestion:
    """The question whether all of the Job can run, by what is known of its claims; its answer has the ``warnings``."""
    inventory = inventory if volumes is None else inventory.with_volumes(volumes)
    return WholeQuestion(functools.partial(_whole, review, inventory, policy, new, warnings=warnings))


def _problems(new: SubmittedJob) -> Steps[list[Problem]]:
    """Problems of the Job alone, without the cluster."""
    problems = []
    for problem in problem_steps(new.metadata.name or "", new.spec):
        if problem is None:
            yield
        else:
            problems.append(problem)
    return problems


async def _demanding(review: Review, new: SubmittedJob, solving: Resting) -> bool:
    """Whether the Job is new, or demands more of the cluster than before."""
    if review.operation != "UPDATE":
        return True
    try:
        old = _JOB.decode(review.old).spec
    except MALFORMED:
        return True
    return await demands_more(new.metadata.name or "", old, new.spec, solving)


async def _whole(
    review: Review,
    inventory: Inventory,
    policy: Policy,
    new: SubmittedJob,
    solving: Solving,
    warnings: tuple[str, ...] = (),
) -> Answer:
    """The answer about a Job without problems: whether all of its processing elements can run at the same time."""
    name = new.metadata.name or ""
    model = await judge_model((review.namespace, name), new.spec, World(inventory, policy), solving)
    verdict = model.verdict
    promised = verdict.beside(inventory.promised)
    if not verdict.refused:
        return allowed(review, [*warnings, *verdict.warnings, *promised])
    if policy.audit:
        said = f"audit: this would be refused: {verdict.headline}"
        return allowed(review, [said, *promised], rules=verdict.rules)
    return denied(review, verdict.fault, verdict.text, promised, rules=verdict.rules)


def problems_of(document: Unstructured, namespace: str, inventory: Inventory) -> list[Problem]:
    """Problems of a Job of that namespace; for callers without a review."""
    try:
        new = msgspec.convert(document, SubmittedJob)
    except msgspec.ValidationError as error:
        return [decoder_problem(error, document)]
    clauses = pool_clauses(new.spec)
    known = _open_pools(namespace, inventory)
    own = list(problems_of_job(new.metadata.name or "", new.spec))
    unknown = [
        field.problem
        for path, element in (_stated(new.spec) if not own else ())
        for field in unknown_fields(element.template, f"{path}.template")
    ]
    return [*own, *unknown, *undeclared_pools(clauses, new.spec, known.keys())]


def _open_pools(namespace: str, inventory: Inventory) -> dict[str, str]:
    """The HostPools of the namespace that are open to all jobs: names in SPL, and of the objects."""
    return {pool.spl_name: pool.name for pool in inventory.pools.of_namespace(namespace).values() if not pool.job}


def submitted_element(review: Review, inventory: Inventory, policy: Policy) -> Answer:
    """Check a ProcessingElement that is created, or whose spec changes: its own rules, pools, and that its Job lives.

    The API server is asked for a Job that is not known. The user who submits the element needs the right to use the
    HostPools that it names, as for a pod; the elements of a Job are the controller's, and are not reviewed.
    """
    if crowded := _crowded(bytes(review.object)):
        return answered(review, [crowded], policy)
    new = _ELEMENT.decode(review.object)
    if new.metadata.deletion_timestamp:
        return answered(review, problems_of_nesting([("spec", new.spec)]), policy)
    if _unchanged(review, _ELEMENT, new):
        return allowed(review)
    return _submitted_element(review, inventory, policy, new)


def _submitted_element(review: Review, inventory: Inventory, policy: Policy, new: SubmittedElement) -> Answer:
    """The answer about a ProcessingElement that is new, or has another spec."""
    problems = list(problems_of_element(new.metadata.name or "", new.spec))
    if problems:
        return answered(review, problems, policy)
    fields = list(unknown_fields(new.spec.template, "spec.template"))
    return _known(review, policy, fields, functools.partial(_of_element, review, inventory, policy, new))


def _of_element(
    review: Review, inventory: Inventory, policy: Policy, new: SubmittedElement, warnings: tuple[str, ...]
) -> Answer:
    """The answer about a ProcessingElement without problems of its own."""
    if review.operation != "CREATE":
        return _warned(review, _on_pools(review, inventory, policy, new), warnings)
    model = inventory.jobs.get((review.namespace, new.spec.job))
    answer = _of_job(review, inventory, policy, new, model)
    if model is not None and not model.deleting:
        return _warned(review, answer, warnings)
    resume = functools.partial(_of_job, review, inventory, policy, new)
    job = JobRef(review.namespace, new.spec.job)
    return replace(answer, question=JobQuestion(job, resume, needed=not policy.audit))


def _of_job(
    review: Review, inventory: Inventory, policy: Policy, new: SubmittedElement, job: JobModel | StreamsJob | None
) -> Answer:
    """The answer about a ProcessingElement of that Job; ``None`` if the Job does not exist."""
    if job is not None and not job.deleting:
        return _on_pools(review, inventory, policy, new)
    named = quote(new.spec.job)
    message = f"this namespace has no Job {named}" if job is None else f"Job {named} is being deleted"
    return answered(review, [Problem("spec.job", message, fault=Fault.FORBIDDEN)], policy)


def _on_pools(review: Review, inventory: Inventory, policy: Policy, new: SubmittedElement) -> Answer:
    """The answer by the HostPools that the element names, and did not name before: they exist, and may be used."""
    before = _named_before(review)
    uses: list[PoolUse] = []
    findings: list[Problem | str] = []
    for path, clause, pool, text, soft in pools_of_element(new.spec):
        if pool.name in before:
            continue
        pool_ref = pool_of(pool.name, review.namespace, new.spec.job, inventory)
        uses += ((each.name, clause.text) for each in pool_ref)
        if not pool_ref:
            message = f"this namespace has no HostPool {quote(pool.name)} that Job {quote(new.spec.job)} may use"
            problem = Problem(path, message, text, clause.offset, Fault.FORBIDDEN)
            findings.append(f"{clause}: {message}" if soft else problem)
    return with_rights_to(answered(review, findings, policy), review, uses, "spec", policy)


def _named_before(review: Review) -> frozenset[str]:
    """The HostPools that the element named before it was changed."""
    try:
        old = _ELEMENT.decode(review.old)
    except MALFORMED:
        return frozenset()
    return frozenset(named.pool.name for named in pools_of_element(old.spec))


def _unchanged(review: Review, decoder: msgspec.json.Decoder[_Submitted], new: _Submitted) -> bool:
    """Whether an update leaves the spec as it is: an object that was there before a rule came can still be released."""
    if review.operation != "UPDATE":
        return False
    try:
        return decoder.decode(review.old).spec == new.spec
    except MALFORMED:
        return False
