"""Event handlers that turn changes of Jobs and ParallelRegions into keys of the queue of Jobs with such regions."""

from typing import Final

from webhook.controller.jobstore.records import StoredJob, StoredRegion, of_a_job
from webhook.controller.jobstore.store import JobStore
from webhook.controller.workqueue.queue import Queue
from webhook.placement.inventory.pool_index import Name

TOGETHER: Final = 0.2
"""Seconds in which changes of a Job are merged: its status changes several times while it is fused."""


class RegionTriggers:
    """Listens to a store and fills the queue; nothing is queued before :meth:`begin`, which the leader calls."""

    def __init__(self, store: JobStore, queue: Queue[Name]) -> None:
        self._store = store
        self._queue = queue
        self._leading = False
        store.jobs.listeners.append(self._job)
        store.regions.listeners.append(self._region)

    def begin(self) -> None:
        """Queue every Job that has parallel regions or had some, and from now on what changes."""
        self._leading = True
        for job in self._store.jobs.all.values():
            self._job(None, job)

    def _job(self, before: StoredJob | None, after: StoredJob | None) -> None:
        if not self._leading or after is None or not self._concerned(after):
            return
        if before is None or _asked(before) != _asked(after):
            self._queue.add_after(after.key, TOGETHER)

    def _concerned(self, job: StoredJob) -> bool:
        """Whether the Job has parallel regions, or objects of such: no other Job is looked at."""
        stated = job.options.parallel_regions if job.options else None
        return bool(stated) or any(self._store.regions_of(job.key))

    def _region(self, before: StoredRegion | None, after: StoredRegion | None) -> None:
        known = after or before
        if self._leading and known is not None:
            # One that has no owner may have the name of a Job's own.
            job = of_a_job(known) or (known.stated.job if known.stated else "")
            self._queue.add_after((known.namespace, job), TOGETHER)


def _asked(job: StoredJob) -> tuple[object, ...]:
    """The parts of a Job that its regions depend on."""
    return job.uid, job.generation, job.deleting, job.undone, job.fusion()
