"""``ScaledRegions``: the widths that the parallel regions of a Job are to have, and those that did not fit.

What was refused is kept in memory only: a new leader judges it again, and says the same.
"""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from kubeapi.clock import Clock
from webhook.controller.jobstore.records import StoredJob
from webhook.controller.jobstore.store import JobStore
from webhook.placement.inventory.pool_index import Name
from webhook.placement.jobs.operators.region_widths import wanted_widths
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.objects.jobs.parallel_region import region_object_name

RETRY: Final = 30.0
"""Seconds after which widths that did not fit are judged again: something may have ended meanwhile."""


class _Refused(Struct, frozen=True):
    """Widths that did not fit: of which Job, why, and until when they are not judged again."""

    uid: str
    generation: int
    widths: Mapping[str, int]
    message: str
    until: float


class ScaledRegions:
    """``wake`` is called with the name of a Job whose widths were refused; ``clock`` is that of durations."""

    def __init__(self, store: JobStore, clock: Clock) -> None:
        self.wake: list[Callable[[Name], object]] = []
        self._store = store
        self._clock = clock
        self._refused: dict[Name, _Refused] = {}

    def wanted(self, job: StoredJob, stated: JobSpec) -> dict[str, int]:
        """The width that each region of the Job is to have; ``stated`` is the Job as its user states it."""
        if not stated.parallel_regions:
            return {}
        scaled = {}
        for region in self._store.regions_of(job.key):
            spec = region.stated
            if spec and region.owner_uid == job.uid and region.name == region_object_name(job.name, spec.region):
                scaled[spec.region] = spec
        return wanted_widths(stated, job.fusion(), scaled)

    def refuse(self, job: StoredJob, widths: Mapping[str, int], message: str) -> None:
        """These widths do not fit: they are judged again later."""
        until = self._clock() + RETRY
        self._refused[job.key] = _Refused(job.uid, job.generation, widths, message, until)
        for wake in self.wake:
            wake(job.key)

    def forget(self, name: Name) -> None:
        """The Job has the widths that it is to have, or is gone."""
        self._refused.pop(name, None)

    def refusal(self, job: StoredJob, widths: Mapping[str, int]) -> str:
        """Why these widths of the Job do not fit; empty if that is not known."""
        refused = self._find(job, widths)
        return refused.message if refused else ""

    def pause(self, job: StoredJob, widths: Mapping[str, int]) -> float:
        """Seconds until these widths are judged again; 0 if that is now."""
        refused = self._find(job, widths)
        return max(0.0, refused.until - self._clock()) if refused else 0.0

    def _find(self, job: StoredJob, widths: Mapping[str, int]) -> _Refused | None:
        refused = self._refused.get(job.key)
        same = refused and (refused.uid, refused.generation, refused.widths) == (job.uid, job.generation, widths)
        return refused if same else None
