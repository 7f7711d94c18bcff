"""Room that Jobs were promised: until a pod is bound, a stand-in holds in the inventory what the pod will request.

Without it two Jobs that are judged one after the other would be promised the same room. What is promised is stored in
``status.plan`` of the Job, so that a controller that takes over makes the same stand-ins (``docs/jobs.md``, "What was
promised").
"""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from kubeapi.clock import Clock
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.controller.jobstore.records import StoredElement, StoredJob
from webhook.controller.jobstore.store import JobStore
from webhook.placement.inventory.pool_index import Name
from webhook.placement.jobs.job_progress import JobPhase
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Pool

SECONDS: Final = 60.0
"""Seconds for which room is kept: pods are created and bound within a few, and no Job may hoard room."""

_OVER: Final = frozenset({JobPhase.FAILED, JobPhase.DELETING})


class _Promise(Struct, frozen=True):
    """The room promised to one Job: the uids of its stand-ins by processing element, and its pools with their hosts."""

    until: float
    pods: dict[str, str]
    pools: tuple[Pool, ...]


class Reservations:
    """The stand-ins of all Jobs; ``times`` are the clock of durations, and the time in seconds since 1970."""

    def __init__(self, watched: ObservedInventory, store: JobStore, times: tuple[Clock, Clock]) -> None:
        self._inventory = watched.inventory
        self._clock, self._now = times
        self._promises: dict[Name, _Promise] = {}
        watched.on_pod.append(self._pod)
        store.jobs.listeners.append(self._job)
        store.elements.listeners.append(self._element)

    def hold(self, job: Name, pods: Iterable[PodInfo], pools: Iterable[Pool], judged: float) -> None:
        """Keep the room of these stand-ins for the Job, and the hosts of its pools, in place of what it had before."""
        self.release(job)
        bound = {pod.pe for _, pod in self._inventory.job_pods(*job).pods.values()}
        kept = [pod for pod in pods if pod.pe not in bound]
        until = self._clock() + min(SECONDS, self._left(judged))
        self._promises[job] = _Promise(until, {pod.pe: pod.uid for pod in kept}, tuple(pools))
        for pod in kept:
            self._inventory.set_pod(pod)

    def lasts(self, judged: float) -> bool:
        """Whether what was promised at that time is kept still; not if a clock that was set back puts it in the future.

        A clock may be behind another one by as much as a promise lasts.
        """
        return 0 < self._left(judged) <= 2 * SECONDS

    def _left(self, judged: float) -> float:
        """Seconds for which what was promised at that time is kept, by the wall clock."""
        return judged + SECONDS - self._now()

    def release(self, job: Name) -> None:
        """Give up what is kept for the Job."""
        promise = self._promises.pop(job, None)
        for uid in promise.pods.values() if promise else ():
            self._inventory.remove_pod(uid)

    def expire(self) -> None:
        """Give up what has been kept for too long."""
        now = self._clock()
        for job in [job for job, promise in self._promises.items() if promise.until <= now]:
            self.release(job)

    def pools_but(self, job: Name) -> Iterator[Pool]:
        """HostPools of other Jobs that have not got yet the hosts which they were promised, with these hosts."""
        for other, promise in self._promises.items():
            for pool in promise.pools if other != job else ():
                known = self._inventory.pools.get((pool.namespace, pool.name))
                if known is None or not known.assigned:
                    yield pool

    def _pod(self, _uid: str, _before: PodInfo | None, after: PodInfo | None) -> None:
        if after is not None and after.node and after.job and not after.terminating:
            self._settle((after.namespace, after.job), after.pe)

    def _element(self, _before: StoredElement | None, after: StoredElement | None) -> None:
        if after is not None and after.refused:
            self._settle((after.namespace, after.job), after.name)

    def _job(self, before: StoredJob | None, after: StoredJob | None) -> None:
        if before is not None and (after is None or after.deleting or after.phase in _OVER or after.uid != before.uid):
            self.release(before.key)

    def _settle(self, job: Name, element: str) -> None:
        """The pod of the element is bound, or refused: its room is not kept any more."""
        promise = self._promises.get(job)
        uid = promise.pods.pop(element, None) if promise else None
        if uid is not None:
            self._inventory.remove_pod(uid)
