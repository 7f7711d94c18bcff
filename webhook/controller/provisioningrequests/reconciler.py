"""Asks the cluster autoscaler about Jobs that wait for new nodes, and repeats its answer in their status.

The condition CapacityFound of a Job says whether a question is open, and the name of a request follows from the Job, so
a controller can be killed after any request and the next one continues. A request that is answered is deleted: the
autoscaler would keep room for its pods a second time, beside the Job's own pods.
"""

import functools
from typing import Final

from msgspec import Raw
from msgspec.structs import replace

from kubeapi.client.errors import ApiError, Cause
from kubeapi.clock import Clock
from webhook.controller.jobs.job_reports import JobReports
from webhook.controller.jobs.stored_job_status import ASKED, CAPACITY_NOT_NEEDED, INVALID, NOT_ASKED, status_of_job
from webhook.controller.jobstore.records import StoredJob, job_path, read_job
from webhook.controller.jobstore.store import JobStore
from webhook.controller.object_editor import ObjectEditor
from webhook.controller.provisioningrequests.asked_pods import AskedPod, AskedPods
from webhook.controller.provisioningrequests.request_object import (
    MOST,
    request_names,
    request_object,
    template_name,
    template_object,
)
from webhook.controller.provisioningrequests.request_store import RequestStore
from webhook.controller.provisioningrequests.stored_request import (
    NOT_ANSWERED,
    StoredRequest,
    owner_uid,
    read_request,
)
from webhook.controller.reconcile_pass import one_pass
from webhook.controller.reconciler_settings import SOON
from webhook.controller.workqueue.queue import Queue
from webhook.controller.workqueue.workers import fair_queue
from webhook.placement.elements.content import content_id
from webhook.placement.elements.element_pod import ElementPod
from webhook.placement.elements.element_status import FINAL
from webhook.placement.inventory.pool_index import Name
from webhook.placement.objects.condition import ConditionState
from webhook.placement.objects.jobs.job_spec import JobSpec, element_name
from webhook.placement.text.api_kinds import POD_TEMPLATE, PROVISIONING_REQUEST
from webhook.placement.text.problem import counted

ANSWERED: Final = 600.0
"""Seconds until an autoscaler that has not answered is not waited for any more."""

OPEN_IN_NAMESPACE: Final = 10
OPEN: Final = 100
"""Requests of Jobs that are open at a time: the autoscaler looks at one in each of its rounds, some ten seconds."""

BEHIND: Final = 5.0
"""Seconds until the next pass if the watch has not brought by then what was made."""

_TOGETHER: Final = 0.5
"""Seconds in which changes of a Job's pods are merged."""

_MAY_ASK: Final = f'"{ASKED}"'.encode()
"""In the JSON of every status in which a question is open."""


class _UnaskableError(Exception):
    """Why the cluster autoscaler is not asked, for the user."""


class ProvisioningRequests:
    """The reconciler; ``queue`` has the names of Jobs, and nothing before :meth:`begin`."""

    def __init__(
        self,
        server: ObjectEditor,
        jobs: JobStore,
        requests: RequestStore,
        reports: JobReports,
        pods: AskedPods,
        clock: Clock,
    ) -> None:
        self.queue: Queue[Name] = fair_queue(clock)
        self._server = server
        self._jobs = jobs
        self._requests = requests
        self._reports = reports
        self._pods = pods
        self._clock = clock
        self._leading = False
        self._described: dict[Name, tuple[str, float]] = {}
        """By Job, the name of the request of which this process has made, or found, all templates, and when."""
        jobs.jobs.listeners.append(self._job)
        jobs.on_pod.append(self._pod)
        requests.listeners.append(self._request)

    def begin(self) -> None:
        """Queue all Jobs that ask or have requests, and from now on what changes."""
        self._leading = True
        for job in self._jobs.jobs.all.values():
            self._job(None, job)

    async def reconcile(self, name: Name) -> float | None:
        """Do the next step for that Job; returns the seconds until the next pass, if one is due.

        Raises :class:`ApiError` for what may work later, and LostError when this process does not hold the Lease.
        """
        job = self._jobs.jobs.all.get(name)
        if job is None or job.deleting:
            self._described.pop(name, None)
            return None  # the garbage collector deletes what it owned
        if status_of_job(job).generation != job.generation:
            return None  # a change is judged first: until then the answer is about what the Job was
        return await one_pass(self._advance(job), functools.partial(self._current, job))

    async def _advance(self, job: StoredJob) -> float | None:
        spec, status = job.stated(), status_of_job(job)
        asks = status.capacity.reason == ASKED and status.submitted.reason != INVALID
        mine = {one.name: one for one in self._requests.of_job(job.key) if one.owner == job.uid}
        names = request_names(job, spec) if spec and asks and not job.undone else [""]
        wanted = next((name for name in names if name not in mine or not mine[name].unread), names[-1])
        for request in mine.values():
            if request.name not in names:  # one that is unread says that the next one is open
                await self._delete(request)
        if not spec or not wanted:
            self._described.pop(job.key, None)
            if asks and job.undone:
                await self._say(job, CAPACITY_NOT_NEEDED)
            return None
        waiting = self._waiting(job, spec)
        known = mine.get(wanted)
        if not waiting:
            await self._say(job, CAPACITY_NOT_NEEDED)
            return None
        if known and known.answer:
            await self._say(job, known.answer)
            return None
        name, since = self._described.get(job.key, ("", 0.0))
        remaining = since + ANSWERED - self._clock()
        if name == wanted and remaining <= 0:
            why = f"the cluster autoscaler has not answered ProvisioningRequest {name} for {ANSWERED:.0f} s"
            await self._say(job, ConditionState(holds=False, reason=NOT_ANSWERED, message=why))
            return None
        if known and name == wanted:
            await self._wait(job, known)
            return remaining
        return await self._ask(job, spec, wanted, waiting)

    async def _wait(self, job: StoredJob, request: StoredRequest) -> None:
        """Say that the autoscaler has not answered yet."""
        verb = "looks for" if request.accepted else "is asked for"
        pods = counted(request.count, "pod")
        what = f"the cluster autoscaler {verb} room for {pods} (ProvisioningRequest {request.name})"
        await self._say(job, ConditionState(holds=False, reason=ASKED, message=what))

    async def _ask(self, job: StoredJob, spec: JobSpec, name: str, waiting: frozenset[str]) -> float | None:
        """Make the request and its templates, or say why not."""
        if not await self._current(job):
            return SOON
        try:
            await self._make(job, spec, name, waiting)
        except _UnaskableError as reason:
            why = str(reason)
        except ApiError as failure:
            if failure.cause not in {Cause.MISSING, Cause.FORBIDDEN, Cause.INVALID}:
                raise
            why = (failure.request and failure.request.detail) or str(failure)
            if failure.cause is Cause.MISSING:
                why = "the API server serves no ProvisioningRequests"
        else:
            before, since = self._described.get(job.key, ("", 0.0))
            self._described[job.key] = name, since if before == name else self._clock()
            return BEHIND
        message = f"the cluster autoscaler is not asked: {why}"
        await self._say(job, ConditionState(holds=False, reason=NOT_ASKED, message=message))
        return None

    async def _make(self, job: StoredJob, spec: JobSpec, name: str, waiting: frozenset[str]) -> None:
        """Make the request and its templates. Raises ApiError, or _UnaskableError."""
        if not self._requests.of_job(job.key):
            if self._requests.open_in(job.namespace) >= OPEN_IN_NAMESPACE:
                raise _UnaskableError(f"{OPEN_IN_NAMESPACE} requests of this namespace are open")
            if self._requests.open(OPEN_IN_NAMESPACE) >= OPEN:
                raise _UnaskableError(f"{OPEN} requests are open")
        made = await self._pods.of(job.key, spec)
        if isinstance(made, str):
            raise _UnaskableError(f"no node can run {made} any more, and no node group can make one")
        pods = [pod for each in made if (pod := each.only(waiting))]
        if len(pods) > MOST:
            raise _UnaskableError(f"{len(pods)} kinds of pods wait, and a request has {MOST} at most")
        request = await self._create(job, name, pods)
        if request.owner != job.uid:
            raise _UnaskableError(_foreign(name))
        await self._describe(job, request, pods)

    async def _create(self, job: StoredJob, name: str, pods: list[AskedPod]) -> StoredRequest:
        """The request as it is stored, in the first version that is served; it may be of another owner."""
        paths = zip(PROVISIONING_REQUEST.api_versions, PROVISIONING_REQUEST.paths_in(job.namespace), strict=True)
        missing: ApiError | None = None
        for version, path in paths:
            try:
                made = await self._server.create(path, request_object(job, name, pods, version))
                return read_request(Raw(made))
            except ApiError as failure:
                if failure.cause is Cause.EXISTS:
                    return read_request(await self._taken(f"{path}/{name}"))
                if failure.cause is not Cause.MISSING:
                    raise
                missing = failure
        assert missing is not None  # noqa: S101 -- for the type: there are versions
        raise missing

    async def _describe(self, job: StoredJob, request: StoredRequest, pods: list[AskedPod]) -> None:
        """Make the templates that the request names."""
        home = POD_TEMPLATE.path_in(job.namespace)
        for place, pod in enumerate(pods):
            try:
                await self._server.create(home, template_object(request, place, pod))
            except ApiError as failure:
                if failure.cause is not Cause.EXISTS:
                    raise
                name = template_name(request.name, place)
                if owner_uid(await self._taken(f"{home}/{name}")) != request.uid:
                    why = f"PodTemplate {name} exists and does not belong to ProvisioningRequest {request.name}"
                    raise _UnaskableError(why) from None

    async def _taken(self, path: str) -> Raw:
        """What has the name already; CONFLICT if it has gone meanwhile."""
        try:
            return Raw(await self._server.read(path))
        except ApiError as failure:
            if failure.cause is Cause.MISSING:
                raise ApiError(Cause.CONFLICT, str(failure)) from failure
            raise

    async def _current(self, job: StoredJob) -> bool:
        """Whether the API server has the same version of the Job."""
        stored = read_job(Raw(await self._server.read(job_path(*job.key))))
        if (stored.uid, stored.version) == (job.uid, job.version):
            return True
        self._jobs.jobs.correct(stored)
        return False

    async def _delete(self, request: StoredRequest) -> None:
        path = f"/apis/{request.api_version}/namespaces/{request.namespace}/{PROVISIONING_REQUEST.resource}"
        try:
            await self._server.delete(f"{path}/{request.name}", uid=request.uid, propagation="Background")
        except ApiError as failure:
            if failure.cause not in {Cause.MISSING, Cause.CONFLICT}:
                raise

    async def _say(self, job: StoredJob, said: ConditionState) -> None:
        """Write the condition; what follows from it is done in the next pass."""
        await self._reports.say(job, replace(status_of_job(job), capacity=said))

    def _waiting(self, job: StoredJob, spec: JobSpec) -> frozenset[str]:
        """The elements that, as they are stated now, run on no node and have not ended."""
        stated = {element_name(job.name, at, each): each for at, each in enumerate(spec.processing_elements or ())}
        return frozenset(
            name for name, each in stated.items() if self._waits((job.namespace, name), content_id(each, spec))
        )

    def _waits(self, name: Name, content: str) -> bool:
        element = self._jobs.elements.all.get(name)
        if element is not None and element.phase in FINAL and element.content_id == content:
            return False
        return not any(pod.node and pod.content_id == content for pod in self._jobs.pods_of(name))

    def _job(self, before: StoredJob | None, after: StoredJob | None) -> None:
        job = after or before
        if self._leading and job is not None and (_MAY_ASK in job.status or self._requests.of_job(job.key)):
            self.queue.add_after(job.key, _TOGETHER if before else 0.0)

    def _pod(self, before: ElementPod | None, after: ElementPod | None) -> None:
        if self._leading and (before and before.node) != (after and after.node):
            known = after or before
            element = self._jobs.elements.all.get((known.namespace, known.element)) if known else None
            if element and self._requests.of_job((element.namespace, element.job)):
                self.queue.add_after((element.namespace, element.job), _TOGETHER)

    def _request(self, job: Name) -> None:
        if self._leading:
            self.queue.add(job)


def _foreign(name: str) -> str:
    return f"ProvisioningRequest {name} exists and does not belong to this Job"
