"""Writes the status of a ProcessingElement where it differs from the stored one, and records Events."""

from msgspec import Raw

from kubeapi.clock import Clock
from webhook.controller.events.event import Regarding
from webhook.controller.events.recorder import EventRecorder
from webhook.controller.jobstore.records import StoredElement, element_path, read_element
from webhook.controller.jobstore.store import JobStore
from webhook.controller.object_editor import ObjectEditor
from webhook.controller.processingelements.stored_status import status_of_element, status_patch
from webhook.placement.elements.element_status import FINAL, ElementStatus
from webhook.placement.elements.restart_policy import LaunchOutcome
from webhook.placement.kube.timestamps import timestamp
from webhook.placement.text.api_kinds import PROCESSING_ELEMENT


class ElementReports:
    """``now`` is the time in seconds since 1970."""

    def __init__(self, server: ObjectEditor, store: JobStore, events: EventRecorder, now: Clock) -> None:
        self._server = server
        self._store = store
        self._events = events
        self._now = now

    async def say(self, element: StoredElement, status: ElementStatus) -> StoredElement:
        """The element with that status, written if it differs. Raises ApiError."""
        patch = status_patch(element, status, timestamp(self._now()))
        if patch is None:
            return element
        before = status_of_element(element)
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
        then = "" if status.phase in FINAL else ", and it is started again"
        words = f": {status.ready.message}" if status.ready.message else ""
        note = f"launch {ended.launch_count} has {_VERBS[ended.outcome]}{then}{words}"
        tell = self._events.warning if ended.outcome == LaunchOutcome.FAILED else self._events.normal
        tell(_about(element), f"Pod{ended.outcome}", note)


_VERBS = {"Completed": "completed", "Failed": "failed", "Deleted": "been deleted"}


def _about(element: StoredElement) -> Regarding:
    return Regarding.of(PROCESSING_ELEMENT, element.key, element.uid)
