"""The reconciler of ProcessingElements: does the steps of the state machine, one after another (``docs/jobs.md``).

Each pass starts from what is stored and what the caches hold, so the controller can be killed after any step. A status
and a launch count are written with the version that was read. A pod is created, and deleted, only after the element was
read from the API server: a controller that has just begun to lead may not have heard of all that its predecessor did.
"""

import asyncio
import contextlib
from typing import Final

from msgspec import Raw
from msgspec.structs import replace

from kubeapi.client import decoding
from kubeapi.client.errors import ApiError, Cause
from kubeapi.clock import Clock
from webhook.controller.jobstore.editor import ObjectEditor
from webhook.controller.jobstore.pod_reader import read_element_pod
from webhook.controller.jobstore.records import StoredElement, element_path, read_element
from webhook.controller.jobstore.store import JobStore
from webhook.controller.processingelements.element_reports import ElementReports
from webhook.controller.processingelements.pod_hold import pod_hold
from webhook.controller.processingelements.stored_status import status_of_element
from webhook.placement.inventory.job_spec import JobSpec, ProcessingElementSpec, effective
from webhook.placement.inventory.pool_index import Name
from webhook.placement.jobs.element_pod import ElementPod
from webhook.placement.jobs.element_status import ElementStatus, Said
from webhook.placement.jobs.lifecycle import Act, ElementState, Step, next_step
from webhook.placement.jobs.names import pod_name
from webhook.placement.jobs.pe_pod import Launch, pod_of
from webhook.placement.jobs.restart_policy import restart_policy
from webhook.placement.text.api_kinds import POD

SOON: Final = 0.1
"""Seconds until the next pass after a conflict, and while the watch is behind."""

TAKEN: Final = 5.0
"""Seconds until the next pass while somebody else's pod has the name of the next one."""

STEPS: Final = 8
"""Steps of one pass; an end, the next launch and its pod are five."""

EARLIER: Final = 4
"""Earlier launches that are asked for if somebody has raised the launch count by several."""

_REFUSALS: Final = frozenset({Cause.FORBIDDEN, Cause.INVALID, Cause.BROKEN, Cause.BUSY})
"""Causes of failures that tell why a pod cannot be created: quota, admission, and a webhook that is away."""


class ProcessingElements:
    """The reconciler, called by any number of workers; ``image`` is that of the Streams runtime."""

    def __init__(
        self, server: ObjectEditor, store: JobStore, reports: ElementReports, *, image: str, now: Clock
    ) -> None:
        self._server = server
        self._store = store
        self._reports = reports
        self._image = image
        self._now = now

    async def reconcile(self, name: Name) -> float | None:
        """Reconcile the element; returns the seconds until the next pass, ``None`` if only a change needs one.

        Raises :class:`ApiError` for what may work later, and LostError when this process does not hold the Lease.
        """
        element = self._store.elements.all.get(name)
        if element is None or element.deleting:
            return None
        try:
            return await _Pass(self._server, self._store, self._reports, self._image, self._now).run(element)
        except ApiError as failure:
            if failure.cause is Cause.MISSING:
                return SOON  # it is gone, which the watch will say
            if failure.cause is not Cause.CONFLICT:
                raise
            await self._refresh(name)
            return SOON

    async def _refresh(self, name: Name) -> None:
        with contextlib.suppress(ApiError):
            self._store.elements.correct(read_element(Raw(await self._server.read(element_path(*name)))))


class _Pass:
    """One pass over one element."""

    def __init__(
        self, server: ObjectEditor, store: JobStore, reports: ElementReports, image: str, now: Clock
    ) -> None:
        self._server = server
        self._store = store
        self._reports = reports
        self._image = image
        self._now = now
        self._made: ElementPod | None = None
        """The pod that this pass has created."""
        self._lost: ElementPod | None = None
        """The pod that the API server does not have any more."""
        self._fresh = False
        """Whether the element was read from the API server in this pass."""

    async def run(self, element: StoredElement) -> float | None:
        """Do the steps until there is none."""
        for _ in range(STEPS):
            try:
                spec = element.stated()
            except decoding.ERRORS as error:
                await self._reports.say(element, _invalid(element, decoding.reason(error)))
                return None
            job = self._store.jobs.all.get((element.namespace, element.job))
            options = (job and job.options) or JobSpec()
            step = next_step(self._state(element, spec, options), self._now())
            if step.act in {Act.CREATE, Act.DELETE} and not self._fresh:
                element = await self._read(element)
                if element.deleting:
                    return None
                continue
            match step.act:
                case Act.NONE:
                    await self._reports.say(element, step.status)
                    return step.wait
                case Act.LOOK:
                    if not await self._looked(element):
                        return SOON
                case Act.RAISE:
                    element = await self._raise(await self._reports.say(element, step.status), step.launch)
                case Act.DELETE:
                    await self._reports.say(element, step.status)
                    await asyncio.gather(*map(self._delete, step.pods))
                    return None  # the watch says when they have ended
                case Act.CREATE:
                    wait = await self._create(element, step, spec, options)
                    if wait is not None:
                        return wait
        return SOON

    def _state(self, element: StoredElement, spec: ProcessingElementSpec, options: JobSpec) -> ElementState:
        pods = {pod.uid: pod for pod in self._store.pods_of(element.key)}
        if self._made is not None:
            pods.setdefault(self._made.uid, self._made)
        gone = self._lost or self._store.gone(element.key)
        return ElementState(
            uid=element.uid,
            launch=element.launch,
            content_id=element.content_id,
            policy=restart_policy(spec, effective(spec, options)),
            status=status_of_element(element),
            pods=tuple(pods.values()),
            gone=gone if gone and (gone.owner, gone.launch) == (element.uid, element.launch) else None,
            hold=pod_hold(element, self._store),
        )

    async def _read(self, element: StoredElement) -> StoredElement:
        """The element as the API server has it; raises ApiError, MISSING also for another element of its name."""
        found = read_element(Raw(await self._server.read(element_path(*element.key))))
        if found.uid != element.uid:
            raise ApiError(Cause.MISSING, f"the ProcessingElement {element.name} is another one now")
        self._store.elements.learn(found)
        self._fresh = True
        return found

    async def _looked(self, element: StoredElement) -> bool:
        """Whether the API server does not have the pod of the present launch any more."""
        found = await self._pod(element, element.launch)
        if found is not None and found.owner == element.uid:
            return False  # the watch has not brought it yet
        self._lost = ElementPod(
            namespace=element.namespace,
            name=pod_name(element.name, element.launch),
            uid=status_of_element(element).pod_uid,
            element=element.name,
            owner=element.uid,
            launch=element.launch,
            phase="",
        )
        return True

    async def _pod(self, element: StoredElement, launch: int) -> ElementPod | None:
        """The pod with the name of that launch; ``None`` if there is none, or its controller is of another kind."""
        path = f"{POD.path_in(element.namespace)}/{pod_name(element.name, launch)}"
        try:
            return read_element_pod(Raw(await self._server.read(path)))
        except ApiError as failure:
            if failure.cause is Cause.MISSING:
                return None
            raise

    async def _raise(self, element: StoredElement, launch: int) -> StoredElement:
        patch = {"metadata": {"resourceVersion": str(element.version)}, "spec": {"launchCount": launch}}
        found = read_element(Raw(await self._server.merge_patch(element_path(*element.key), patch)))
        self._store.elements.learn(found)
        return found

    async def _delete(self, pod: ElementPod) -> None:
        try:
            await self._server.delete(f"{POD.path_in(pod.namespace)}/{pod.name}", uid=pod.uid)
        except ApiError as failure:
            if failure.cause not in {Cause.MISSING, Cause.CONFLICT}:
                raise

    async def _create(
        self, element: StoredElement, step: Step, spec: ProcessingElementSpec, options: JobSpec
    ) -> float | None:
        """Create the pod; ``None`` if it is there now, else the seconds until the next attempt."""
        if await self._unseen(element):
            return SOON
        launch = Launch(job=element.job, element=element.name, uid=element.uid, count=step.launch, image=self._image)
        name = pod_name(element.name, step.launch)
        try:
            body = await self._server.create(POD.path_in(element.namespace), pod_of(launch, spec, options))
        except ApiError as failure:
            if failure.cause is Cause.EXISTS:
                return await self._found(element, step.status, name)
            if failure.cause in _REFUSALS:
                why = (failure.request and failure.request.detail) or str(failure)
                await self._reports.say(element, _held(step.status, "Refused", why))
                self._reports.refused(element, name, why)
            raise
        self._made = read_element_pod(Raw(body))
        return None

    async def _unseen(self, element: StoredElement) -> bool:
        """Whether the API server has a pod of an earlier launch that lives, and that the watch has not brought yet.

        Nothing is asked if the end of the last launch was counted, as it is before every restart.
        """
        status = status_of_element(element)
        known = {pod.launch for pod in self._store.pods_of(element.key)}
        if gone := self._store.gone(element.key):
            known.add(gone.launch)
        last = range(max(status.launch_count, status.counted + 1, 1), element.launch)
        for launch in (*last[:1], *last[1:][-EARLIER:]):
            found = None if launch in known else await self._pod(element, launch)
            if found is not None and found.owner == element.uid and not found.terminal:
                return True
        return False

    async def _found(self, element: StoredElement, status: ElementStatus, name: str) -> float | None:
        """The same if there is a pod of that name: one that this element's controller has made before, or another's."""
        found = await self._pod(element, element.launch)
        if found is not None and found.owner == element.uid:
            self._made = found
            return None
        await self._reports.say(element, _held(status, "NameTaken", f"pod {name} exists and belongs to somebody else"))
        return TAKEN


def _held(status: ElementStatus, reason: str, message: str) -> ElementStatus:
    said = Said(holds=False, reason=reason, message=message)
    return replace(status, created=said, ready=said)


def _invalid(element: StoredElement, why: str) -> ElementStatus:
    return _held(status_of_element(element), "Invalid", f"spec: {why}")
