"""Writes the status of a ProcessingElement where it differs from the stored one, and records Events."""

from typing import Final, NamedTuple

from msgspec import Raw

from kubeapi.clock import Clock
from webhook.controller.events.event import Regarding
from webhook.controller.events.recorder import EventRecorder
from webhook.controller.jobstore.records import StoredElement, element_path, read_element
from webhook.controller.jobstore.store import JobStore
from webhook.controller.object_editor import ObjectEditor
from webhook.controller.processingelements.stored_status import status_of_element, status_patch
from webhook.placement.elements.element_status import FINAL, ElementPhase, ElementStatus
from webhook.placement.elements.restart_policy import LaunchOutcome
from webhook.placement.kube.timestamps import timestamp
from webhook.placement.text.api_kinds import PROCESSING_ELEMENT

SETTLED: Final = 2.0
"""Seconds in which most first pods run: the status is written once then, and not also when the pod was created."""

_DELAYED: Final = 10_000
"""With so many statuses held back, overdue ones are dropped."""


class _DelayedReport(NamedTuple):
    """A status that is written later, and when."""

    status: ElementStatus
    due: float


class ElementReports:
    """``now`` is the time in seconds since 1970."""

    def __init__(self, server: ObjectEditor, store: JobStore, events: EventRecorder, now: Clock) -> None:
        self._server = server
        self._store = store
        self._events = events
        self._now = now
        self._delayed: dict[str, _DelayedReport] = {}
        """The first statuses of elements, by uid, that are not written yet."""

    def status(self, element: StoredElement) -> ElementStatus:
        """The status of the element: the stored one, or that which is to be written."""
        delayed = self._delayed.get(element.uid)
        return delayed.status if delayed else status_of_element(element)

    def hold(self, element: StoredElement, status: ElementStatus) -> float | None:
        """Keep the first status of an element back; returns the seconds until it is written, ``None`` if that is now.

        A controller that dies meanwhile has created the pod and not said so, as between any two of its requests.
        """
        first = not element.status_document() and status.launch_count == 1 and not status.counted
        delayed = self._delayed.get(element.uid)
        due = delayed.due if delayed else self._now() + SETTLED
        wait = due - self._now()
        if not first or status.phase is not ElementPhase.PENDING or not 0 < wait <= SETTLED:
            return None
        if len(self._delayed) >= _DELAYED:
            # Those past their time are of elements that were deleted.
            self._delayed = {uid: delayed for uid, delayed in self._delayed.items() if delayed.due > self._now()}
        self._delayed[element.uid] = _DelayedReport(status, due)
        return wait

    async def say(self, element: StoredElement, status: ElementStatus) -> StoredElement:
        """The element with that status, written if it differs. Raises ApiError."""
        patch = status_patch(element, status, timestamp(self._now()))
        if patch is None:
            return element
        before = status_of_element(element)
        self._delayed.pop(element.uid, None)
        with self._store.elements.writing(element.key):
            body = await self._server.merge_patch(f"{element_path(*element.key)}/status", patch)
            written = read_element(Raw(body))
            self._store.elements.learn(written)
        if status.counted != before.counted:
            self._ended(element, status)
        return written

    def refused(self, element: StoredElement, pod: str, why: str) -> None:
        """Record that the API server has refused a pod."""
        self._events.warning(_about(element), "FailedCreate", f"pod {pod} cannot be created: {why}")

    def _ended(self, element: StoredElement, status: ElementStatus) -> None:
        ended = status.ended
        assert ended is not None  # noqa: S101 -- for the type: an end was counted
        then = "" if status.phase in FINAL else ", and the element is restarted"
        words = f": {status.ready.message}" if status.ready.message else ""
        note = f"launch {ended.launch_count} has {_VERBS[ended.outcome]}{then}{words}"
        tell = self._events.warning if ended.outcome == LaunchOutcome.FAILED else self._events.normal
        tell(_about(element), f"Pod{ended.outcome}", note)


_VERBS = {"Completed": "completed", "Failed": "failed", "Deleted": "been deleted"}


def _about(element: StoredElement) -> Regarding:
    return Regarding.of(PROCESSING_ELEMENT, element.key, element.uid)
