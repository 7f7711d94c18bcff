"""Event handlers that turn changes of Jobs, their elements and their HostPools into keys of the queue of Jobs."""

from typing import Final

from webhook.controller.jobstore.records import StoredElement, StoredHostPool, StoredJob, StoredRegion, of_a_job
from webhook.controller.jobstore.store import JobStore
from webhook.controller.workqueue.queue import Queue
from webhook.placement.elements.element_status import ElementPhase
from webhook.placement.inventory.pool_index import Name

TOGETHER: Final = 0.5
"""Seconds in which changes of a Job's elements are merged: one pass over a Job examines all of its elements."""


class JobTriggers:
    """Listens to a store and fills the queue; nothing is queued before :meth:`begin`, which the leader calls."""

    def __init__(self, store: JobStore, queue: Queue[Name]) -> None:
        self._store = store
        self._queue = queue
        self._leading = False
        # A pass continues from its own writes; if these queued it, a refused one would be retried soon.
        store.jobs.on_news.append(self._job)
        store.elements.listeners.append(self._element)
        store.pools.listeners.append(self._pool)
        store.regions.listeners.append(self._region)

    def begin(self) -> None:
        """Queue every Job, and from now on what changes."""
        self._leading = True
        for name in self._store.jobs.all:
            self._queue.add(name)

    def _job(self, before: StoredJob | None, after: StoredJob | None) -> None:
        if self._leading and after is not None:
            # The controller's own status counts elements; each such write must not count them again at once.
            unchanged = before is not None and _asked(before) == _asked(after)
            self._queue.add_after(after.key, TOGETHER if unchanged else 0.0)

    def _element(self, before: StoredElement | None, after: StoredElement | None) -> None:
        known = after or before
        if self._leading and known is not None and (not before or not after or _matters(before) != _matters(after)):
            self._queue.add_after((known.namespace, known.job), TOGETHER)

    def _pool(self, before: StoredHostPool | None, after: StoredHostPool | None) -> None:
        known = after or before
        if self._leading and known is not None and (job := of_a_job(known)):
            self._queue.add_after((known.namespace, job), TOGETHER if before and after else 0.0)

    def _region(self, before: StoredRegion | None, after: StoredRegion | None) -> None:
        known = after or before
        scaled = before is None or after is None or before.stated != after.stated
        if self._leading and known is not None and scaled and (job := of_a_job(known)):
            self._queue.add((known.namespace, job))


def _asked(job: StoredJob) -> tuple[object, ...]:
    """The parts of a Job that are not its status."""
    return job.uid, job.generation, job.deleting


def _matters(element: StoredElement) -> tuple[object, ...]:
    """The parts of an element that its Job counts or waits for."""
    waits = "" if element.phase in {ElementPhase.RUNNING, ElementPhase.COMPLETED} else element.why
    return element.uid, element.phase, element.deleting, element.begun, element.job, element.content_id, waits
