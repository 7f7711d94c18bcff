"""The reconciler of ParallelRegions: one pass over those of one Job.

Each pass compares the Job with the stored objects, so the controller can be killed after any request. The width of a
ParallelRegion is its users': it is written only when the Job states another one, or to keep to the Job's bounds.
"""

from typing import Any, Final

from msgspec import Raw

from kubeapi.client.errors import ApiError, Cause
from kubeapi.clock import Clock
from webhook.controller.jobs.scaled_regions import ScaledRegions
from webhook.controller.jobstore.records import StoredJob, StoredRegion, read_region, region_path
from webhook.controller.jobstore.store import JobStore
from webhook.controller.object_editor import ObjectEditor
from webhook.controller.parallelregions.region_plan import RegionPlan, region_plan, region_status
from webhook.controller.reconciler_settings import SOON
from webhook.placement.elements.names import owned_by
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.timestamps import timestamp
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.text import keys
from webhook.placement.text.api_kinds import PARALLEL_REGION, STREAMS_JOB

LATER: Final = 30.0
"""Seconds until the next pass over a Job whose ParallelRegions cannot be written: their kind may yet be installed."""


class ParallelRegions:
    """The reconciler, called by one worker; ``now`` is the time in seconds since 1970."""

    def __init__(self, server: ObjectEditor, store: JobStore, scaled: ScaledRegions, now: Clock) -> None:
        self._server = server
        self._store = store
        self._scaled = scaled
        self._now = now

    async def reconcile(self, name: Name) -> float | None:
        """Reconcile the regions of the Job; returns the seconds until the next pass, ``None`` if none is due.

        Raises :class:`ApiError` for what may work later, and LostError when this process does not hold the Lease.
        """
        job = self._store.jobs.all.get(name)
        stated = job.model() if job is not None and not job.deleting else None
        if job is None or stated is None:
            return None  # they are deleted with the Job, and stay while it cannot be read
        try:
            return await self._advance(job, stated)
        except ApiError as failure:
            if failure.cause is Cause.MISSING:
                return LATER
            if failure.cause is not Cause.CONFLICT:
                raise
            return SOON

    async def _advance(self, job: StoredJob, stated: JobSpec) -> float | None:
        fusion = job.fusion()
        if fusion is None and not job.undone:
            return None  # nothing is made yet
        widths = self._scaled.wanted(job, stated)
        plan = region_plan(job, stated, widths, self._store)
        await self._do(job, plan)
        if fusion is not None:
            for region in self._settled(job, plan):
                refusal = self._scaled.refusal(job, widths)
                patch = region_status(region, job, stated, fusion, refusal, timestamp(self._now()))
                if patch is not None:
                    await self._write(region, "/status", patch)
        return None

    def _settled(self, job: StoredJob, plan: RegionPlan) -> list[StoredRegion]:
        """The Job's own regions, in the order of their names; what has yet to be deleted says nothing more."""
        removed = {region.name for region in plan.removed}
        own = [region for region in self._store.regions_of(job.key) if region.owner_uid == job.uid]
        kept = (region for region in own if not region.deleting and region.name not in removed)
        return sorted(kept, key=lambda region: region.name)

    async def _do(self, job: StoredJob, plan: RegionPlan) -> None:
        for name, spec in plan.made.items():
            await self._make(job, name, spec)
        for region, spec in plan.changed:
            operations = [
                {"op": "replace", "path": "/metadata/resourceVersion", "value": str(region.version)},
                {"op": "replace", "path": "/spec", "value": spec},
            ]
            written = await self._server.json_patch(region_path(*region.key), operations)
            self._store.regions.learn(read_region(Raw(written)))
        for region in plan.removed:
            await self._delete(region)

    async def _make(self, job: StoredJob, name: str, spec: dict[str, Any]) -> None:
        metadata = {
            "name": name,
            "labels": {keys.JOB: job.name},
            "ownerReferences": [owned_by(STREAMS_JOB, job.name, job.uid)],
        }
        kind = PARALLEL_REGION
        body = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata, "spec": spec}
        try:
            await self._server.create(kind.path_in(job.namespace), body)
        except ApiError as failure:
            if failure.cause is not Cause.EXISTS:
                raise  # one that exists is looked at when the watch has brought it

    async def _write(self, region: StoredRegion, subresource: str, patch: dict[str, Any]) -> None:
        written = await self._server.merge_patch(f"{region_path(*region.key)}{subresource}", patch)
        self._store.regions.learn(read_region(Raw(written)))

    async def _delete(self, region: StoredRegion) -> None:
        try:
            await self._server.delete(region_path(*region.key), uid=region.uid, propagation="Background")
        except ApiError as failure:
            if failure.cause not in {Cause.MISSING, Cause.CONFLICT}:
                raise
