"""Event handlers that turn changes of Jobs, elements, pods and HostPools into keys of the queue of elements."""

from typing import Final

from webhook.controller.jobstore.records import StoredElement, StoredHostPool, StoredJob, of_a_job
from webhook.controller.jobstore.store import JobStore
from webhook.controller.workqueue.queue import Queue
from webhook.placement.elements.element_pod import ElementPod
from webhook.placement.inventory.pool_index import Name

TOGETHER: Final = 0.2
"""Seconds in which changes of a pod that lives are merged: it is bound, begins and gets ready in a few moments."""


class ElementTriggers:
    """Listens to a store and fills the queue; nothing is queued before :meth:`begin`, which the leader calls."""

    def __init__(self, store: JobStore, queue: Queue[Name]) -> None:
        self._store = store
        self._queue = queue
        self._leading = False
        # A pass continues from its own writes; if these queued it, a refused one would be retried at once.
        store.elements.on_news.append(self._element)
        store.jobs.listeners.append(self._job)
        store.pools.listeners.append(self._pool)
        store.on_pod.append(self._pod)

    def begin(self) -> None:
        """Queue every element, and from now on what changes."""
        self._leading = True
        for name in self._store.elements.all:
            self._queue.add(name)

    def _element(self, _: StoredElement | None, after: StoredElement | None) -> None:
        if self._leading and after is not None:
            self._queue.add(after.key)

    def _pod(self, before: ElementPod | None, after: ElementPod | None) -> None:
        pod = after or before
        if not self._leading or pod is None:
            return
        at_once = before is None or after is None or after.terminal or after.deleting != before.deleting
        self._queue.add_after((pod.namespace, pod.element), 0.0 if at_once else TOGETHER)

    def _job(self, before: StoredJob | None, after: StoredJob | None) -> None:
        if self._leading and after is not None and (before is None or _gate(before) != _gate(after)):
            self._wake(after.key)

    def _pool(self, before: StoredHostPool | None, after: StoredHostPool | None) -> None:
        if self._leading and after is not None and (before is None or before.uid != after.uid):
            self._wake((after.namespace, of_a_job(after)))

    def _wake(self, job: Name) -> None:
        """Queue the elements of the Job, all of which may wait for it."""
        for element in self._store.elements_of(job):
            self._queue.add(element.key)


def _gate(job: StoredJob) -> tuple[object, ...]:
    """What of a Job keeps pods from being created, or controls restarts."""
    return (job.uid, job.deleting, job.undone, job.options)
