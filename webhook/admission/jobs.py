"""Jobs and ProcessingElements at ``/validate``: what can be wrong with them before anything is made of them.

Their own rules are in ``placement/jobs/problems.py``; ``docs/jobs.md`` describes the fields.
"""

import functools
from typing import Final, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webhook.admission.pool_use import with_rights_to
from webhook.admission.responses import (
    Answer,
    JobQuestion,
    JobRef,
    PoolUse,
    RightsQuestion,
    WholeQuestion,
    allowed,
    answered,
    denied,
)
from webhook.admission.review import MALFORMED, Review
from webhook.admission.unstructured import Unstructured
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.job_model import JobModel
from webhook.placement.inventory.job_spec import JobSpec, ProcessingElementSpec
from webhook.placement.inventory.objects import StreamsJob
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.named_pools import (
    foreign_pools,
    pool_clause_steps,
    pool_clauses,
    pools_of_element,
    undeclared_pools,
)
from webhook.placement.jobs.problems import problem_steps, problems_of_element, problems_of_job
from webhook.placement.jobs.whole_job import demands_more, judge_job
from webhook.placement.kube.pod import Metadata
from webhook.placement.planning.solver import Resting, Restless, Solving, finished, taken
from webhook.placement.planning.steps import Steps
from webhook.placement.pools.allocation import pool_of
from webhook.placement.text.problem import Fault, Problem, quote


class SubmittedJob(Struct, frozen=True, gc=False):
    """``streams.ibm.com/v1 Job`` as a user submits it."""

    metadata: Metadata = Metadata()
    spec: JobSpec = JobSpec()


class SubmittedElement(Struct, frozen=True, gc=False):
    """``streams.ibm.com/v1 ProcessingElement`` as a user, or the controller, submits it."""

    metadata: Metadata = Metadata()
    spec: ProcessingElementSpec = ProcessingElementSpec()


_Submitted = TypeVar("_Submitted", SubmittedJob, SubmittedElement)

_JOB: Final = msgspec.json.Decoder(SubmittedJob)
_ELEMENT: Final = msgspec.json.Decoder(SubmittedElement)


_AT_ONCE: Final = 20
"""Elements of a Job whose own rules are checked at once: that takes as long as the review of a pod."""


def submitted_job(review: Review, inventory: Inventory, policy: Policy) -> Answer:
    """Check a Job that is created, or whose spec changes: its own rules, rights, and whether all of it can run.

    Whoever submits it has to have the right to use the HostPools that it does not declare itself: its pods are the
    controller's. The rules of a large Job are checked while other reviews go on.
    """
    new = _JOB.decode(review.object)
    if new.metadata.deletion_timestamp or _unchanged(review, _JOB, new):
        return allowed(review)
    check = functools.partial(_checked, review, inventory, policy, new)
    if len(new.spec.processing_elements or ()) <= _AT_ONCE:
        return finished(check(Restless()))
    return replace(allowed(review), question=WholeQuestion(check))


async def _checked(review: Review, inventory: Inventory, policy: Policy, new: SubmittedJob, solving: Resting) -> Answer:
    """The answer by the Job's own rules; if it keeps them, with the questions that are left."""
    known = _open_pools(review.namespace, inventory)
    problems = await taken(_problems(new), solving)
    clauses = await taken(pool_clause_steps(new.spec), solving)
    problems += undeclared_pools(clauses, new.spec, known.keys())
    uses = [(known[pool], clause.text) for pool, clause in foreign_pools(clauses, new.spec) if pool in known]
    answer = with_rights_to(answered(review, problems, policy), review, uses, "spec.processingElements", policy)
    if problems or not new.metadata.name or not await _demanding(review, new, solving):
        return answer
    whole = WholeQuestion(functools.partial(_whole, review, inventory, policy, new.metadata.name, new.spec))
    rights = answer.question
    return replace(answer, question=replace(rights, then=whole) if isinstance(rights, RightsQuestion) else whole)


def _problems(new: SubmittedJob) -> Steps[list[Problem]]:
    """What is wrong with the Job by itself."""
    found = []
    for problem in problem_steps(new.metadata.name or "", new.spec):
        if problem is None:
            yield
        else:
            found.append(problem)
    return found


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
    review: Review, inventory: Inventory, policy: Policy, name: str, spec: JobSpec, solving: Solving
) -> Answer:
    """The answer about a Job without problems: whether all of its processing elements can run at a time."""
    verdict = await judge_job(review.namespace, name, spec, inventory, policy, solving)
    if not verdict.refused:
        return allowed(review, verdict.warnings)
    if policy.audit:
        return allowed(review, [f"audit: this would be refused: {verdict.headline}"], rules=verdict.rules)
    return denied(review, verdict.fault, verdict.text, rules=verdict.rules)


def problems_of(document: Unstructured, namespace: str, inventory: Inventory) -> list[Problem]:
    """What is wrong with a Job of that namespace; for callers that have no review."""
    try:
        new = msgspec.convert(document, SubmittedJob)
    except msgspec.ValidationError as error:
        return [Problem("spec", f"is not readable: {error}")]
    clauses = pool_clauses(new.spec)
    known = _open_pools(namespace, inventory)
    own = problems_of_job(new.metadata.name or "", new.spec)
    return [*own, *undeclared_pools(clauses, new.spec, known.keys())]


def _open_pools(namespace: str, inventory: Inventory) -> dict[str, str]:
    """The HostPools of the namespace that are open to all jobs: names in SPL, and of the objects."""
    return {pool.spl_name: pool.name for pool in inventory.pools.of_namespace(namespace).values() if not pool.job}


def submitted_element(review: Review, inventory: Inventory, policy: Policy) -> Answer:
    """Check a ProcessingElement that is created, or whose spec changes: its own rules, pools, and that its Job lives.

    The API server is asked for a Job that is not known. Whoever submits the element has to have the right to use the
    HostPools that it names, as for a pod; the elements of a Job are the controller's, and are not reviewed.
    """
    new = _ELEMENT.decode(review.object)
    if new.metadata.deletion_timestamp or _unchanged(review, _ELEMENT, new):
        return allowed(review)
    problems = list(problems_of_element(new.metadata.name or "", new.spec))
    if problems:
        return answered(review, problems, policy)
    if review.operation != "CREATE":
        return _on_pools(review, inventory, policy, new)
    model = inventory.jobs.get((review.namespace, new.spec.job))
    answer = _of_job(review, inventory, policy, new, model)
    if model is not None and not model.deleting:
        return answer
    resume = functools.partial(_of_job, review, inventory, policy, new)
    job = JobRef(review.namespace, new.spec.job)
    return replace(answer, question=JobQuestion(job, resume, needed=not policy.audit))


def _of_job(
    review: Review, inventory: Inventory, policy: Policy, new: SubmittedElement, job: JobModel | StreamsJob | None
) -> Answer:
    """The answer about a ProcessingElement of that Job; ``None`` if there is no such Job."""
    if job is not None and not job.deleting:
        return _on_pools(review, inventory, policy, new)
    named = quote(new.spec.job)
    message = f"this namespace has no Job {named}" if job is None else f"Job {named} is being deleted"
    return answered(review, [Problem("spec.job", message, fault=Fault.FORBIDDEN)], policy)


def _on_pools(review: Review, inventory: Inventory, policy: Policy, new: SubmittedElement) -> Answer:
    """The answer by the HostPools that the element names, and did not name before: they exist, and may be used."""
    before = _named_before(review)
    uses: list[PoolUse] = []
    problems: list[Problem] = []
    for path, clause, pool, text in pools_of_element(new.spec):
        if pool in before:
            continue
        found = pool_of(pool, review.namespace, new.spec.job, inventory)
        uses += ((each.name, clause.text) for each in found)
        if not found:
            message = f"this namespace has no HostPool {quote(pool)} that Job {quote(new.spec.job)} may use"
            problems.append(Problem(path, message, text, clause.offset, Fault.FORBIDDEN))
    return with_rights_to(answered(review, problems, policy), review, uses, "spec", policy)


def _named_before(review: Review) -> frozenset[str]:
    """The HostPools that the element named before it was changed."""
    try:
        old = _ELEMENT.decode(review.old)
    except MALFORMED:
        return frozenset()
    return frozenset(pool for _, _, pool, _ in pools_of_element(old.spec))


def _unchanged(review: Review, decoder: msgspec.json.Decoder[_Submitted], new: _Submitted) -> bool:
    """Whether an update leaves the spec as it is: an object that was there before a rule came can still be released."""
    if review.operation != "UPDATE":
        return False
    try:
        return decoder.decode(review.old).spec == new.spec
    except MALFORMED:
        return False
