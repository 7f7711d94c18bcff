"""ParallelRegions at ``/validate``: a larger width is judged like a submission of the whole Job with that width.

What runs of the Job stays where it is, and counts. Fewer channels are never refused (``docs/fusion.md``).
"""

import functools
from typing import Final, TypeVar

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from webhook.admission.answer import Answer, RegionQuestion, VolumesQuestion, WholeQuestion
from webhook.admission.checks.jobs import SubmittedJob, after_classes
from webhook.admission.checks.submitted_scale import SubmittedScale
from webhook.admission.responses import allowed, answered, denied
from webhook.admission.review import MALFORMED, Review
from webhook.placement.decision.refusal.refusal import alternatives
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.element_pods import claims_of_job
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.operators.fusion_refusal import NONE
from webhook.placement.jobs.operators.region_widths import widest
from webhook.placement.jobs.operators.width_search import RegionOfJob, WidthSearch
from webhook.placement.jobs.problems import problem_steps
from webhook.placement.kube.pod import Metadata
from webhook.placement.objects.jobs.parallel_region import ParallelRegionSpec
from webhook.placement.objects.volumes import Volumes
from webhook.placement.planning.search.solver import Solving
from webhook.placement.text.api_kinds import PARALLEL_REGION
from webhook.placement.text.fix import Advice
from webhook.placement.text.problem import MESSAGE_LIMIT, Fault, Problem, counted, quote


class SubmittedRegion(Struct, frozen=True, gc=False):
    """``streams.ibm.com/v1 ParallelRegion`` as a user, or an autoscaler, changes it."""

    metadata: Metadata = Metadata()
    spec: ParallelRegionSpec = ParallelRegionSpec()


class _Width(Struct, frozen=True, gc=False):
    """A width that is asked for, in that field of the object under review."""

    field: str
    width: int


class _Scaled(Struct, frozen=True):
    """A region that is to have that ``width``."""

    field: str
    region: RegionOfJob
    width: int


_Submitted = TypeVar("_Submitted", SubmittedRegion, SubmittedScale)

_REGION: Final = msgspec.json.Decoder(SubmittedRegion)
_SCALE: Final = msgspec.json.Decoder(SubmittedScale)
_JOB: Final = msgspec.json.Decoder(SubmittedJob)


def created(review: Review, _inventory: Inventory, policy: Policy) -> Answer:
    """Refuse a ParallelRegion that the controller does not make: without a Job that has it, it would do nothing."""
    message = "the controller makes a ParallelRegion for each of spec.parallelRegions of a Job: state it there"
    return answered(review, [Problem("metadata.name", message, fault=Fault.FORBIDDEN)], policy)


def changed(review: Review, inventory: Inventory, policy: Policy) -> Answer:
    """Judge the width of a ParallelRegion that is updated, if it is larger than before."""
    new = _REGION.decode(review.object)
    if new.metadata.deletion_timestamp or new.spec.width <= _before(review, _REGION, SubmittedRegion()).spec.width:
        return allowed(review)
    resume = functools.partial(_of_job, review, inventory, policy, _Width("spec.width", new.spec.width))
    return replace(allowed(review), question=RegionQuestion(review.namespace, review.name, new.spec, resume))


def scaled(review: Review, inventory: Inventory, policy: Policy) -> Answer:
    """Judge the width of a ParallelRegion that is scaled (``kubectl scale``, an autoscaler), if it is larger."""
    if review.scaled != PARALLEL_REGION.full_resource:
        return allowed(review)
    width = _SCALE.decode(review.object).spec.replicas
    if width <= _before(review, _SCALE, SubmittedScale()).spec.replicas:
        return allowed(review)
    resume = functools.partial(_of_job, review, inventory, policy, _Width("spec.replicas", width))
    return replace(allowed(review), question=RegionQuestion(review.namespace, review.name, None, resume))


def _before(review: Review, decoder: msgspec.json.Decoder[_Submitted], absent: _Submitted) -> _Submitted:
    """The object as it was; ``absent`` if it cannot be read."""
    try:
        return decoder.decode(review.old)
    except MALFORMED:
        return absent


def _of_job(
    review: Review,
    inventory: Inventory,
    policy: Policy,
    asked: _Width,
    spec: ParallelRegionSpec | None,
    stored: Raw | None,
) -> Answer:
    """The answer about that width of a region, as it is stored, of the Job that is ``stored``."""
    job = _read(stored)
    if spec is None or job is None or job.metadata.deletion_timestamp:
        return allowed(review, ["the ParallelRegion has no Job: its width has no effect"])
    region = next((each for each in job.spec.parallel_regions or () if each.name == spec.region), None)
    if region is None or job.spec.operators is None:
        message = f"Job {spec.job} has no parallel region {quote(spec.region)}: the width has no effect"
        return allowed(review, [message])
    if asked.width > widest(region):
        message = f"{asked.width} is more than maxWidth, {widest(region)}, which Job {spec.job} states"
        return answered(review, [Problem(asked.field, message)], policy)
    known = RegionOfJob((review.namespace, spec.job), spec.region, job.spec, job.fusion)
    if asked.width <= known.width:
        return allowed(review)  # as many run, because the Job was not made narrower yet
    scaled_job = _Scaled(asked.field, known, asked.width)
    return replace(
        allowed(review), question=WholeQuestion(functools.partial(_checked, review, inventory, policy, scaled_job))
    )


def _read(stored: Raw | None) -> SubmittedJob | None:
    try:
        return None if stored is None else _JOB.decode(stored)
    except MALFORMED:
        return None


async def _checked(review: Review, inventory: Inventory, policy: Policy, asked: _Scaled, solving: Solving) -> Answer:
    """The answer by the rules of the Job with that width; if it keeps them, with the questions that are left."""
    spec, (_, name) = asked.region.widened(asked.width), asked.region.job
    problems = []
    where = f"with {counted(asked.width, 'channel')} of parallel region {asked.region.region}"
    for problem in problem_steps(name, spec):
        await solving.rest()
        if problem is not None:
            problems.append(Problem(asked.field, f"{where}, {problem.field}: {problem.message}"))
    if problems:
        return answered(review, problems, policy)
    claims = await claims_of_job(review.namespace, name, spec, solving)

    def whole(inventory: Inventory) -> VolumesQuestion | WholeQuestion:
        def known(volumes: Volumes | None) -> Answer:
            seen = inventory if volumes is None else inventory.with_volumes(volumes)
            judging = functools.partial(_judged, review, seen, policy, asked)
            return replace(allowed(review), question=WholeQuestion(judging))

        if claims is None:
            return WholeQuestion(functools.partial(_judged, review, inventory, policy, asked))
        return VolumesQuestion(claims, known)

    return replace(allowed(review), question=after_classes(review, inventory, SubmittedJob(spec=spec), whole))


async def _judged(review: Review, inventory: Inventory, policy: Policy, asked: _Scaled, solving: Solving) -> Answer:
    """The answer about the whole Job with that width, beside what runs of it."""
    search = WidthSearch(asked.region, inventory, policy, solving)
    verdict = await search.verdict(asked.width)
    if not verdict.refused:
        return allowed(review, verdict.warnings)
    most = await search.most(asked.width)
    first = (
        f"{counted(asked.width, 'channel')} of parallel region {asked.region.region} do not fit beside the running pods"
    )
    first += f": {most.words}." if most.words else "."
    if policy.audit:
        return allowed(review, [f"audit: this would be refused: {first}"], rules=verdict.rules)
    return denied(review, verdict.fault, _text(first, verdict, most.width), rules=verdict.rules)


def _text(first: str, verdict: JobVerdict, most: int) -> str:
    """The refusal below its first line, without as many of its reasons as have no room; ``most`` channels fit."""
    lines = [first, *verdict.text.split("\n")]
    if most and verdict.refusal is not None and not verdict.of_element:
        others = (fix for fix in verdict.refusal.fixes if fix != NONE)
        lines[-1] = f"Nearest fix: {alternatives((Advice(f'scale to {most}'), *others))}."
    while len("\n".join(lines)) > MESSAGE_LIMIT and len(lines) > _ENDS:
        del lines[-2]
    return "\n".join(lines)[:MESSAGE_LIMIT]


_ENDS: Final = 3
"""The first line, what cannot hold, and the nearest fix."""
