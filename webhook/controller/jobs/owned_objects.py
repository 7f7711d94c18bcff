"""The requests that create, change and delete the HostPools and ProcessingElements of a Job."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import Any, Final

from msgspec import Raw

from kubeapi.client.errors import ApiError, Cause
from webhook.controller.concurrency import gather_or_cancel
from webhook.controller.jobs.job_plan import JobPlan
from webhook.controller.jobstore.records import (
    StoredElement,
    StoredHostPool,
    StoredJob,
    element_path,
    host_pool_path,
    read_element,
)
from webhook.controller.jobstore.store import JobStore
from webhook.controller.object_editor import ObjectEditor
from webhook.placement.elements.names import owned_by
from webhook.placement.text import keys
from webhook.placement.text.api_kinds import HOST_POOL, PROCESSING_ELEMENT, STREAMS_JOB, ApiKind

AT_A_TIME: Final = 8
"""Requests for objects of one Job that are under way together: some milliseconds each."""


class OwnedObjects:
    """Does what a plan says; every request can be repeated."""

    def __init__(self, server: ObjectEditor, store: JobStore) -> None:
        self._server = server
        self._store = store

    async def make_pools(self, job: StoredJob, plan: JobPlan) -> None:
        """Create the HostPools that are missing. Raises ApiError."""
        await _together(self._make(HOST_POOL, job, name, spec) for name, spec in plan.pools_made.items())

    async def change_pools(self, plan: JobPlan) -> None:
        """Change HostPools, of which admission refuses most changes while they are used. Raises ApiError."""
        await _together(self._change(host_pool_path(*pool.key), pool, spec) for pool, spec in plan.pools_changed)

    async def make_elements(self, job: StoredJob, plan: JobPlan) -> None:
        """Create and change elements, in the order of the plan. Raises ApiError."""
        await _together(self._make(PROCESSING_ELEMENT, job, made.name, made.spec) for made in plan.elements_made)
        await _together(
            self._change(element_path(*element.key), element, spec) for element, spec in plan.elements_changed
        )

    async def remove(
        self, elements: Iterable[StoredElement], pools: Iterable[StoredHostPool], *, propagation: str = "Background"
    ) -> None:
        """Delete elements, and then HostPools. Raises ApiError."""
        await _together(self._delete(element_path(*each.key), each.uid, propagation) for each in elements)
        await _together(self._delete(host_pool_path(*each.key), each.uid, propagation) for each in pools)

    async def _make(self, kind: ApiKind, job: StoredJob, name: str, spec: dict[str, Any]) -> None:
        metadata = {
            "name": name,
            "labels": {keys.JOB: job.name},
            "ownerReferences": [owned_by(STREAMS_JOB, job.name, job.uid)],
        }
        body = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata, "spec": spec}
        try:
            made = await self._server.create(kind.path_in(job.namespace), body)
        except ApiError as failure:
            if failure.cause is not Cause.EXISTS:
                raise  # one that exists is looked at when the watch has brought it
            return
        if kind is PROCESSING_ELEMENT:
            self._store.unlaunched.add(read_element(Raw(made)).uid)

    async def _change(self, path: str, stored: StoredElement | StoredHostPool, spec: dict[str, Any]) -> None:
        operations = [
            {"op": "replace", "path": "/metadata/resourceVersion", "value": str(stored.version)},
            {"op": "replace", "path": "/spec", "value": spec},
        ]
        await self._server.json_patch(path, operations)

    async def _delete(self, path: str, uid: str, propagation: str) -> None:
        try:
            await self._server.delete(path, uid=uid, propagation=propagation)
        except ApiError as failure:
            if failure.cause not in {Cause.MISSING, Cause.CONFLICT}:
                raise


async def _together(requests: Iterable[Awaitable[None]]) -> None:
    """Send the requests in their order, :data:`AT_A_TIME` of them at a time."""
    turns = asyncio.Semaphore(AT_A_TIME)

    async def one(request: Awaitable[None]) -> None:
        async with turns:
            await request

    await gather_or_cancel(one(request) for request in requests)
