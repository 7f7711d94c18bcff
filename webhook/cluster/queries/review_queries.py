"""``ReviewQueries``: asks the API server the question that an answer carries, and completes the answer."""

import contextlib
import functools
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from msgspec.structs import replace

from kubeapi.client.errors import ApiError
from webhook.admission.answer import (
    Answer,
    ClassQuestion,
    FieldsQuestion,
    JobQuestion,
    OwnersQuestion,
    PodQuestion,
    PoolUse,
    PromisedQuestion,
    ReferenceQuestion,
    RegionQuestion,
    RightsQuestion,
    SizeQuestion,
    VolumesQuestion,
    WholeQuestion,
    WorkloadsQuestion,
)
from webhook.admission.responses import errored
from webhook.cluster.queries.job_verdicts import JobVerdicts
from webhook.cluster.queries.lookups.authorization import Authorization
from webhook.cluster.queries.lookups.job_workloads import JobWorkloads
from webhook.cluster.queries.lookups.pod_classes import PodClasses
from webhook.cluster.queries.lookups.pod_owners import PodOwners
from webhook.cluster.queries.lookups.referenced_objects import ReferencedObjects
from webhook.cluster.queries.lookups.scaled_jobs import ScaledJobs
from webhook.cluster.queries.lookups.streams_jobs import StreamsJobs
from webhook.cluster.queries.lookups.unknown_pods import UnknownPods
from webhook.cluster.queries.lookups.workload_sizes import WorkloadSizes
from webhook.cluster.queries.review_lookups import NO_LOOKUPS, ReviewLookups

Findable = RightsQuestion | ClassQuestion | VolumesQuestion | WorkloadsQuestion | FieldsQuestion
"""The questions to the API server on which the answer about a whole Job may depend."""


_Ask = Callable[[Answer, Any, float | None], Answer | Awaitable[Answer]]
"""Completes an answer by the question that it carries."""


class ReviewQueries:
    """Asks the questions that answers carry; a question for which there is no lookup leaves its answer as it is.

    ``verdicts`` sends no request: it judges whole Jobs while other reviews go on.
    """

    def __init__(self, lookups: ReviewLookups = NO_LOOKUPS, verdicts: JobVerdicts | None = None) -> None:
        self.sizes = lookups.sizes
        self._lookups = lookups
        self._verdicts = verdicts or JobVerdicts()
        self._by_kind: dict[type, _Ask] = {**dict(self._asked()), **self._always()}

    def _asked(self) -> Iterator[tuple[type, _Ask]]:
        """What completes answers that stay as they are where nothing is asked."""
        lookups = self._lookups
        if sizes := lookups.sizes:
            yield SizeQuestion, lambda answer, question, _: _sized(answer, question, sizes)
        if pods := lookups.pods:
            yield PodQuestion, lambda answer, question, _: _looked_at(answer, question, pods)
        if jobs := lookups.jobs:
            yield JobQuestion, lambda answer, question, _: _of_job(self, answer, question, jobs)
        if regions := lookups.regions:
            yield RegionQuestion, lambda _, question, since: _of_region(self, question, regions, since)
        if owners := lookups.owners:
            yield OwnersQuestion, lambda answer, question, _: _of_owners(self, answer, question, owners)
        if workloads := lookups.workloads:
            yield WorkloadsQuestion, lambda answer, question, _: _beside(answer, question, workloads, self._verdicts)

    def _always(self) -> dict[type, _Ask]:
        """What completes answers also where nothing is asked."""
        references = self._lookups.references
        return {
            FieldsQuestion: lambda _, question, since: _fielded(self, question, since),
            ClassQuestion: lambda _, question, since: _of_classes(self, question, since),
            VolumesQuestion: lambda _, question, since: _claiming(self, question, since),
            ReferenceQuestion: lambda _, question, since: _referring(self, question, references, since),
            WholeQuestion: lambda _, question, since: _whole(self, question, self._verdicts, since),
            RightsQuestion: self._authorized,
        }

    def completed(self, answer: Answer, since: float | None = None) -> Answer | Awaitable[Answer]:
        """The answer at once, or later if the API server has to be asked first.

        The time of a whole Job counts ``since`` then on the monotonic clock, or else from now.
        """
        question = answer.question
        if question is None:  # nearly all answers
            return answer
        ask = self._by_kind.get(type(question))
        return answer if ask is None else ask(answer, question, since)

    async def found_out(self, question: Findable | PromisedQuestion) -> Any:  # noqa: ANN401 -- of each question
        """What the API server says to the question, for its ``resume``; nothing where such questions are not asked.

        Of classes it is what :meth:`PodDefaults.looked_up` takes. Raises ApiError if rights cannot be found out.
        """
        lookups = self._lookups
        if isinstance(question, RightsQuestion):
            return await refused_pools(question, lookups.rights) if lookups.rights else []
        if isinstance(question, ClassQuestion):
            return await _classes(question, lookups.classes)
        if isinstance(question, VolumesQuestion):
            return await lookups.volumes.find(question.claims) if lookups.volumes else None
        if isinstance(question, WorkloadsQuestion):
            return await lookups.workloads.find(question.namespace, question.job) if lookups.workloads else None
        if isinstance(question, PromisedQuestion):
            return await lookups.promised.stored(question) if lookups.promised else frozenset()
        return await lookups.fields.unknown(question.fields) if lookups.fields else None

    def _authorized(self, answer: Answer, question: RightsQuestion, since: float | None) -> Answer | Awaitable[Answer]:
        """The answer of a user who may use the HostPools; if rights are not checked, every user may."""
        permitted = functools.partial(self._permitted, answer, question, since)
        rights = self._lookups.rights
        return _authorized(question, rights, permitted) if rights else permitted()

    def _permitted(self, answer: Answer, question: RightsQuestion, since: float | None) -> Answer | Awaitable[Answer]:
        """The answer of a user who may use the HostPools; it may depend on more."""
        return self.completed(replace(answer, question=question.then), since) if question.then else answer


async def _claiming(queries: ReviewQueries, question: VolumesQuestion, since: float | None) -> Answer:
    """The answer once the claims are looked up, and the questions that it depends on."""
    begun = time.monotonic() if since is None else since
    answer = queries.completed(question.resume(await queries.found_out(question)), begun)
    return answer if isinstance(answer, Answer) else await answer


async def _sized(answer: Answer, question: SizeQuestion, sizes: WorkloadSizes) -> Answer:
    """The answer about a pod with the size of its workload; unchanged if the size stays unknown."""
    return question.resume() if await sizes.learn(question.workload) else answer


async def _looked_at(answer: Answer, question: PodQuestion, pods: UnknownPods) -> Answer:
    """The answer about a binding, once its pod was read; an error where that is not possible."""
    try:
        pod = await pods.look_up(question.pod)
    except ApiError as failure:
        return undetermined("whether the pod may be bound to an exclusive host", failure)
    return question.resume(pod) if pod else answer


async def _whole(queries: ReviewQueries, question: WholeQuestion, verdicts: JobVerdicts, since: float | None) -> Answer:
    """The answer about a whole Job, and what that answer depends on; all of it is to take the time of one verdict."""
    begun = time.monotonic() if since is None else since
    answer = queries.completed(await verdicts.find(question, since=begun), begun)
    return answer if isinstance(answer, Answer) else await answer


async def _authorized(
    question: RightsQuestion, rights: Authorization, permitted: Callable[[], Answer | Awaitable[Answer]]
) -> Answer:
    """The answer if the user may use all of the pools; else a refusal, or an error if the API server does not say."""
    try:
        refused = await refused_pools(question, rights)
    except ApiError as failure:
        return undetermined("whether the HostPools may be used", failure)
    answer = question.resume(refused) if refused else permitted()
    return answer if isinstance(answer, Answer) else await answer


async def refused_pools(question: RightsQuestion, rights: Authorization) -> list[PoolUse]:
    """The pools that the user may not use; raises ApiError if the API server does not say."""
    return [
        (pool, clause)
        for pool, clause in question.pools
        if not await rights.may_use(question.user, question.namespace, pool)
    ]


async def _fielded(queries: ReviewQueries, question: FieldsQuestion, since: float | None) -> Answer:
    """The answer once it is known which fields the API server knows, and what that answer depends on."""
    answer = queries.completed(question.resume(await queries.found_out(question)), since)
    return answer if isinstance(answer, Answer) else await answer


async def _of_classes(queries: ReviewQueries, question: ClassQuestion, since: float | None) -> Answer:
    """The answer once the classes were looked up, and what it depends on.

    Where that is not possible, they stay unknown.
    """
    classes = await queries.found_out(question)
    known = question.known if classes is None else question.known.looked_up(*classes)
    later = queries.completed(question.resume(known), since)
    return later if isinstance(later, Answer) else await later


async def _classes(question: ClassQuestion, classes: PodClasses | None) -> Any:  # noqa: ANN401 -- arguments
    """The classes that exist, and those that do not; ``None`` if that cannot be found out."""
    if classes is not None:
        with contextlib.suppress(ApiError):
            return await classes.look_up(question.classes)
    return None


async def _of_job(queries: ReviewQueries, answer: Answer, question: JobQuestion, jobs: StreamsJobs) -> Answer:
    """The answer once the Job was read, and what that answer depends on.

    Where that is not possible, the answer that there is, or an error if the Job is needed.
    """
    try:
        job = await jobs.look_up(question.job)
    except ApiError as failure:
        return undetermined(f"what Job {question.job.name} says", failure) if question.needed else answer
    completed = queries.completed(question.resume(job))
    return completed if isinstance(completed, Answer) else await completed


async def _referring(
    queries: ReviewQueries, question: ReferenceQuestion, references: ReferencedObjects | None, since: float | None
) -> Answer:
    """The answer once the object was read that the one under review refers to, and what that answer depends on."""
    begun = time.monotonic() if since is None else since
    referenced = await references.find(question.reference) if references else None
    answer = queries.completed(question.resume(referenced), begun)
    return answer if isinstance(answer, Answer) else await answer


async def _of_owners(queries: ReviewQueries, answer: Answer, question: OwnersQuestion, owners: PodOwners) -> Answer:
    """The answer about a pod of an application that was judged, and what it depends on; unchanged for other pods."""
    if not await owners.of_application(question):
        return answer
    completed = queries.completed(question.resume())
    return completed if isinstance(completed, Answer) else await completed


async def _of_region(
    queries: ReviewQueries, question: RegionQuestion, regions: ScaledJobs, since: float | None
) -> Answer:
    """The answer once the Job of the parallel region was read, and what that answer depends on."""
    begun = time.monotonic() if since is None else since
    try:
        spec, job = await regions.look_up(question)
    except ApiError as failure:
        return undetermined(f"which Job ParallelRegion {question.name} is of", failure)
    answer = queries.completed(question.resume(spec, job), begun)
    return answer if isinstance(answer, Answer) else await answer


async def _beside(
    answer: Answer, question: WorkloadsQuestion, workloads: JobWorkloads, verdicts: JobVerdicts
) -> Answer:
    """The answer about a workload together with the others of its job; unchanged if these are none or unknown.

    Listing them counts as time of the verdict, so that both fit into what the API server gives a review.
    """
    since = time.monotonic()
    others = await workloads.find(question.namespace, question.job)
    return await verdicts.find(question.resume(others), since=since) if others else answer


def undetermined(what: str, failure: ApiError) -> Answer:
    """The answer where the API server does not say what it depends on."""
    text = f"{what} could not be determined: {failure}"
    return replace(errored(text), message=text)
