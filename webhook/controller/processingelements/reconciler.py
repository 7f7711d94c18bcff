"""The reconciler of ProcessingElements: does the steps of the state machine, one after another (``docs/jobs.md``).

Each pass starts from what is stored and what the caches hold, so the controller can be killed after any step. A status
and a launch count are written with the version that was read. A pod is created, and deleted, only after the element was
read from the API server: a controller that has just begun to lead may not have heard of all that its predecessor did.
Elements that the same process has created, and that have had no pod yet, have no predecessor. For the same reason a Job
that the caches do not hold is read before its options decide about an end, or about which pods are deleted.
"""

import asyncio
import functools
from typing import Final

from msgspec import Raw
from msgspec.structs import replace

from kubeapi.client import decoding
from kubeapi.client.errors import ApiError, Cause
from kubeapi.clock import Clock
from webhook.cluster.watch.lists import listed
from webhook.controller.jobstore.pod_reader import read_element_pod
from webhook.controller.jobstore.records import (
    StoredElement,
    StoredJob,
    element_path,
    job_path,
    read_element,
    read_job,
)
from webhook.controller.jobstore.store import JobStore
from webhook.controller.object_editor import REFUSALS, ObjectEditor
from webhook.controller.processingelements.element_reports import ElementReports
from webhook.controller.processingelements.pod_hold import pod_hold
from webhook.controller.processingelements.steering import Steering
from webhook.controller.reconcile_pass import one_pass
from webhook.controller.reconciler_settings import SOON
from webhook.placement.elements.element_pod import ElementPod
from webhook.placement.elements.element_status import REFUSED, ElementStatus
from webhook.placement.elements.lifecycle import Act, ElementState, Step, next_step
from webhook.placement.elements.names import pod_name
from webhook.placement.elements.pod_manifest import Launch, pod_of
from webhook.placement.elements.restart_policy import restart_policy
from webhook.placement.inventory.pool_index import Name
from webhook.placement.objects.condition import ConditionState
from webhook.placement.objects.jobs.job_spec import JobSpec, ProcessingElementSpec, effective
from webhook.placement.text import keys
from webhook.placement.text.api_kinds import POD

TAKEN: Final = 5.0
"""Seconds until the next pass while a pod of another owner has the name of the next one."""

STRICT: Final = "fieldValidation=Strict"
"""A field that the API server does not know is an error, and is not left out of the pod."""

STEPS: Final = 8
"""Steps of one pass; an end, the next launch and its pod are five."""

BEHIND: Final = 5.0
"""Seconds until the next pass over an element whose pod the watch has not brought: it may go before it is seen."""

PLANNED: Final = 5.0
"""Seconds until the next pass over an element for which no plan was made meanwhile: the plan wakes it."""

HELD: Final = 1.0
"""Seconds until the next pass over an element whose pod must not be created yet, by the plan of its Job."""


class ProcessingElements:
    """The reconciler, called by any number of workers; ``image`` is that of the Streams runtime."""

    def __init__(
        self,
        server: ObjectEditor,
        store: JobStore,
        reports: ElementReports,
        steering: Steering,
        *,
        image: str,
        now: Clock,
    ) -> None:
        self.steering = steering
        self.server = server
        self.store = store
        self.reports = reports
        self.image = image
        self.now = now

    async def reconcile(self, name: Name) -> float | None:
        """Reconcile the element; returns the seconds until the next pass, ``None`` if only a change needs one.

        Raises :class:`ApiError` for what may work later, and LostError when this process does not hold the Lease.
        """
        element = self.store.elements.all.get(name)
        if element is None or element.deleting:
            return None
        return await one_pass(_ElementPass(self, element).run(), functools.partial(self._refresh, name))

    async def _refresh(self, name: Name) -> None:
        self.store.elements.correct(read_element(Raw(await self.server.read(element_path(*name)))))


class _ElementPass:
    """One pass over one element: the steps until one of them is the last."""

    def __init__(self, work: ProcessingElements, element: StoredElement) -> None:
        self._server = work.server
        self._store = work.store
        self._reports = work.reports
        self._steering = work.steering
        self._image = work.image
        self._now = work.now
        self._element = element
        self._spec = ProcessingElementSpec()
        self._wait: float | None = None
        """What the pass returns after its last step."""
        self._pod: ElementPod | None = None
        """The pod of the present launch, if this pass has created or read it."""
        self._looked = False
        """Whether the API server has just answered that the pod does not exist."""
        self._fresh = False
        """Whether the element was read from the API server in this pass, or no other process can have acted on it."""
        self._asked_job: StoredJob | None = None
        """The Job, if this pass has read it."""
        self._asked = False
        """Whether this pass has asked for the Job, which may not exist."""

    async def run(self) -> float | None:
        """Do the steps; returns the seconds until the next pass."""
        for _ in range(STEPS):
            try:
                self._spec = self._element.stated()
            except decoding.ERRORS as error:
                why = f"spec: {decoding.reason(error)}"
                await self._say(_not_created(self._reports.status(self._element), "Invalid", why))
                return None
            if self._element.deleting or await self._last():
                return self._wait
        return SOON

    async def _last(self) -> bool:
        """Do one step; whether it is the last one."""
        step = next_step(self._state(), self._now())
        if not await self._certain(step):
            return False
        match step.act:
            case Act.NONE:
                return await self._report(step)
            case Act.LOOK:
                return await self._look()
            case Act.RAISE:
                await self._say(step.status)
                return await self._raise(step.launch)
            case Act.DELETE:
                await self._say(step.status)
                await asyncio.gather(*map(self._delete, step.pods))
                return True  # the watch says when they have ended
        return await self._create(step)

    async def _certain(self, step: Step) -> bool:
        """Whether what the step follows from is true now; if the caches may not hold it, it has been read instead."""
        counts = step.status.counted != self._reports.status(self._element).counted
        if (counts or step.act is Act.DELETE) and self._job is None and not self._asked:
            await self._ask_job()
            return False
        if step.act not in {Act.CREATE, Act.DELETE} or self._fresh:
            return True
        self._fresh = True
        if self._element.uid not in self._store.unlaunched:
            await self._read()
            return False
        self._store.unlaunched.discard(self._element.uid)
        return True

    @property
    def _job(self) -> StoredJob | None:
        """The Job of the element, as the watch has brought it, or as this pass has read it."""
        job = self._store.jobs.all.get((self._element.namespace, self._element.job))
        return self._own(job) or self._asked_job

    @property
    def _options(self) -> JobSpec:
        """The options of the Job; without a Job none."""
        job = self._job
        return (job and job.options) or JobSpec()

    def _own(self, job: StoredJob | None) -> StoredJob | None:
        """The Job, unless it is another one than that of the element, under its name."""
        return job if job is not None and self._element.owner_uid in {"", job.uid} else None

    def _state(self) -> ElementState:
        element, status = self._element, self._reports.status(self._element)
        pods = {pod.uid: pod for pod in self._store.pods_of(element.key)}
        if self._pod is not None:
            pods.setdefault(self._pod.uid, self._pod)
        return ElementState(
            uid=element.uid,
            launch=element.launch,
            content_id=element.content_id,
            policy=restart_policy(self._spec, effective(self._spec, self._options)),
            status=status,
            pods=tuple(pods.values()),
            present=self._pod.uid if self._pod and self._pod.launch == element.launch else "",
            looked=self._looked,
            gone=self._gone(status),
            hold=pod_hold(element, self._store),
        )

    def _watched(self) -> bool:
        """Whether the watch has delivered the pod that this pass has created or read, if it has."""
        return self._pod is None or any(pod.uid == self._pod.uid for pod in self._store.pods_of(self._element.key))

    def _gone(self, status: ElementStatus) -> ElementPod | None:
        """The pod of the present launch, as it was last seen, if it is known to be deleted."""
        element, created = self._element, status.launch_count == self._element.launch
        last = self._store.gone(element.key)
        known = self._looked or (created and last is not None and last.uid == status.pod_uid)
        if known and last is not None and (last.owner, last.launch) == (element.uid, element.launch):
            return last
        if not self._looked or not created:
            return None
        return ElementPod(
            namespace=element.namespace,
            name=pod_name(element.name, element.launch),
            uid=status.pod_uid,
            element=element.name,
            owner=element.uid,
            launch=element.launch,
            phase="",
        )

    async def _report(self, step: Step) -> bool:
        """Write the status, or keep it back for a moment; the last step."""
        self._wait = step.wait if self._watched() else BEHIND
        delay = self._reports.hold(self._element, step.status)
        if delay is None:
            return await self._say(step.status)
        self._wait = min(delay, self._wait or delay)
        return True

    async def _say(self, status: ElementStatus) -> bool:
        """Write the status; always the last step, unless its caller continues."""
        self._element = await self._reports.say(self._element, status)
        return True

    async def _read(self) -> None:
        """Read the element from the API server; raises ApiError, MISSING also for another element of its name."""
        element = read_element(Raw(await self._server.read(element_path(*self._element.key))))
        if element.uid != self._element.uid:
            raise ApiError(
                Cause.MISSING, f"the ProcessingElement {element.name} was replaced by another object of that name"
            )
        self._store.elements.learn(element)
        self._element = element
        self._looked = False  # the pod that did not exist may have been that of an earlier launch

    async def _ask_job(self) -> None:
        """Ask the API server for the Job of the element."""
        self._asked = True
        path = job_path(self._element.namespace, self._element.job)
        try:
            self._asked_job = self._own(read_job(Raw(await self._server.read(path))))
        except ApiError as failure:
            if failure.cause is not Cause.MISSING:
                raise

    async def _look(self) -> bool:
        """Ask the API server for the pod of the present launch."""
        self._pod = await self._read_pod(self._element.launch)
        self._looked = self._pod is None
        return False

    async def _read_pod(self, launch: int) -> ElementPod | None:
        """The element's pod of that launch, as the API server has it."""
        path = f"{POD.path_in(self._element.namespace)}/{pod_name(self._element.name, launch)}"
        try:
            pod = read_element_pod(Raw(await self._server.read(path)))
        except ApiError as failure:
            if failure.cause is Cause.MISSING:
                return None
            raise
        return pod if pod is not None and pod.owner == self._element.uid else None

    async def _raise(self, launch: int) -> bool:
        patch = {"metadata": {"resourceVersion": str(self._element.version)}, "spec": {"launchCount": launch}}
        body = await self._server.merge_patch(element_path(*self._element.key), patch)
        self._element = read_element(Raw(body))
        self._store.elements.learn(self._element)
        self._looked = False
        return False

    async def _delete(self, pod: ElementPod) -> None:
        try:
            await self._server.delete(f"{POD.path_in(pod.namespace)}/{pod.name}", uid=pod.uid)
        except ApiError as failure:
            if failure.cause not in {Cause.MISSING, Cause.CONFLICT}:
                raise

    async def _create(self, step: Step) -> bool:
        """Create the pod; the last step if it cannot be created now."""
        planned = self._steering.planned(self._element)
        if planned is None:
            self._wait = PLANNED
            return True
        if planned.blocked is not None:
            self._wait = HELD
            return await self._say(_not_created(step.status, planned.blocked.reason, planned.blocked.message))
        if await self._unseen():
            self._wait = SOON
            return True
        element = self._element
        launch = Launch(job=element.job, element=element.name, uid=element.uid, count=step.launch, image=self._image)
        name = pod_name(element.name, step.launch)
        try:
            pod = self._steering(pod_of(launch, self._spec, self._options), planned)
            path = f"{POD.path_in(element.namespace)}?{STRICT}"
            self._pod = read_element_pod(Raw(await self._server.create(path, pod)))
        except ApiError as failure:
            if failure.cause is Cause.EXISTS:
                return await self._name_exists(step, name)
            if failure.cause in REFUSALS:
                why = (failure.request and failure.request.detail) or str(failure)
                await self._say(_not_created(step.status, REFUSED, why))
                self._reports.refused(element, name, why)
            raise
        return False

    async def _unseen(self) -> bool:
        """Whether the API server has another pod of the element that lives, and that the watch has not brought yet.

        Nothing is asked if the end of the last launch was counted, as it is before every restart, or if the watch has
        said that its pod is gone.
        """
        element, status = self._element, self._reports.status(self._element)
        earlier = range(max(status.launch_count, status.counted + 1, 1), element.launch)
        gone = self._store.gone(element.key)
        ended = gone is not None and gone.uid == status.pod_uid
        if not earlier or (ended and [*earlier] == [status.launch_count]):
            return False
        own = {"labelSelector": f"{keys.PE}={element.name}"}
        async for item in listed(self._server, POD.path_in(element.namespace), own):
            pod = read_element_pod(item)
            if pod is not None and pod.element == element.name and not pod.terminal:
                return True
        return False

    async def _name_exists(self, step: Step, name: str) -> bool:
        """A pod of that name exists: this element's, created in an earlier pass, or one of another owner."""
        self._pod = await self._read_pod(step.launch)
        if self._pod is not None:
            return False
        self._wait = TAKEN
        return await self._say(_not_created(step.status, "NameTaken", f"pod {name} exists and has another owner"))


def _not_created(status: ElementStatus, reason: str, message: str) -> ElementStatus:
    said = ConditionState(holds=False, reason=reason, message=message)
    return replace(status, created=said, ready=said)
