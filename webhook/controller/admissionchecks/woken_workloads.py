"""Wakes Workloads that could not run when they were judged, once nodes, node groups, devices or HostPools change.

Kueue queues such a Workload again when the time has passed that its check stated. One that fits by now need not wait
for that, and those that do not are left alone: each further try takes quota from others for a moment.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

from msgspec import Raw, Struct

from kubeapi.client.errors import ApiError, Cause
from kubeapi.clock import Clock
from webhook.controller.admissionchecks.check_store import CheckStore
from webhook.controller.admissionchecks.records import CheckedWorkload, read_workload
from webhook.controller.admissionchecks.workload_judge import WorkloadJudge
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.controller.object_editor import ObjectEditor
from webhook.controller.workqueue.queue import Queue
from webhook.placement.inventory.pool_index import Name
from webhook.placement.jobs.whole_application import PodsToJudge

DELAY: Final = 2.0
"""Seconds from a change of the cluster until Workloads are looked at: a rolling restart changes many nodes."""

IDLE: Final = 9
"""For so many times as long as a Workload was judged, none is judged here: at most a tenth of the leader's time."""

MOST: Final = 1000
"""Workloads that are remembered; the others wait for their time."""

_EVERY: Final[Name] = "", ""
"""The key of the queue that stands for all Workloads that wait."""


class _WaitingWorkload(Struct, frozen=True, eq=False):
    uid: str
    pods: Sequence[PodsToJudge]


class WokenWorkloads:
    """Fills its queue by changes; :meth:`look` is called by one worker. ``clock`` measures how long a look takes."""

    def __init__(
        self, server: ObjectEditor, watched: ObservedInventory, store: CheckStore, judge: WorkloadJudge, clock: Clock
    ) -> None:
        self.queue: Queue[Name] = Queue(clock=clock)
        self._server = server
        self._store = store
        self._judge = judge
        self._clock = clock
        self._waiting: dict[Name, _WaitingWorkload] = {}
        watched.on_node.append(lambda *_: self._changed())
        watched.on_pool.append(lambda *_: self._changed())
        watched.devices.on_change.append(self._changed)
        watched.topologies.on_change.append(self._changed)
        watched.node_groups.on_change.append(self._changed)
        store.on_workload.append(self._workload)

    def remember(self, workload: CheckedWorkload, pods: Sequence[PodsToJudge]) -> None:
        """The Workload with these pods could not run."""
        if len(self._waiting) < MOST:
            self._waiting[workload.key] = _WaitingWorkload(workload.uid, [one.without_document() for one in pods])

    def forget(self, key: Name) -> None:
        """The Workload does not wait any more."""
        self._waiting.pop(key, None)

    async def look(self, key: Name) -> float | None:
        """Wake that Workload if it fits, or queue all that wait; returns the seconds until the next look if one is due.

        Raises :class:`ApiError` for what may work later, and LostError when this process does not hold the Lease.
        """
        if key == _EVERY:
            for each in self._waiting:
                self.queue.add(each)
            return None
        waiting, workload = self._waiting.get(key), self._store.workloads.get(key)
        if waiting is None or workload is None:
            return None
        if not workload.delayed(self._store.active):
            return DELAY if workload.reserved else None  # Kueue may have yet to say how long it waits
        begun = self._clock()
        try:
            async with self._judge.turn:
                fits = await self._judge.fits(waiting.pods, key[0])
            return await self._wake(workload) if fits else None
        finally:
            await asyncio.sleep((self._clock() - begun) * IDLE)

    async def _wake(self, known: CheckedWorkload) -> float | None:
        """Have Kueue queue the Workload now, by the removal of the time at which it would, and of what that is from."""
        try:
            workload = read_workload(Raw(await self._server.read(known.path)))
            if workload is not None and workload.uid == known.uid and workload.delayed(self._store.active):
                said = [at for at, check in enumerate(workload.checks) if check.requeue_after_seconds is not None]
                operations = [
                    {"op": "replace", "path": "/metadata/resourceVersion", "value": workload.version},
                    *({"op": "remove", "path": f"/status/admissionChecks/{at}/requeueAfterSeconds"} for at in said),
                    {"op": "remove", "path": "/status/requeueState/requeueAt"},
                ]
                await self._server.json_patch(f"{workload.path}/status", operations)
        except ApiError as failure:
            if failure.cause not in {Cause.CONFLICT, Cause.MISSING}:
                raise
            return DELAY if failure.cause is Cause.CONFLICT else None
        return None

    def _changed(self) -> None:
        if self._waiting:
            self.queue.add_after(_EVERY, DELAY)

    def _workload(self, key: Name) -> None:
        waiting, workload = self._waiting.get(key), self._store.workloads.get(key)
        if waiting is not None and (workload is None or workload.uid != waiting.uid or workload.over):
            self.forget(key)
