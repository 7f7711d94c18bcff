"""``PromisedRoom``: room of Workloads that were let pass, until their pods are bound.

Kueue admits a Workload after all of its checks have passed, and its pods are made then. The scheduler binds them to any
nodes that suit them. So where pods come on nodes on which the room of others is kept, that room is looked for again:
else the node that was kept for the pod would seem to be free, and be promised to one more. As the watches go on while
something is judged, it is judged again if that happens meanwhile.
"""

import itertools
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from kubeapi.clock import Clock
from webhook.cluster.judging.kept_room import KeptRoom
from webhook.cluster.judging.stand_ins import stand_ins
from webhook.controller.admissionchecks.check_store import CheckStore
from webhook.controller.admissionchecks.records import CheckedWorkload
from webhook.controller.admissionchecks.workload_judge import WorkloadJudge
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.controller.turn import LOOKS
from webhook.placement.inventory.job_pods import JobPods
from webhook.placement.inventory.pool_index import Name
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.whole_application import PodsToJudge
from webhook.placement.kube.pod import PodSpec
from webhook.placement.kube.requests import pod_requests
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Pool
from webhook.placement.text import keys

TOGETHER: Final = 20
"""Maximum number of Workloads whose room is searched together, if one of them has no room beside the others."""


_Requests = Counter[frozenset[tuple[str, int]]]
"""How many pods request that."""


class _PromisedPods(Struct, frozen=True, eq=False):
    """The pods that a Workload was promised room for; it is ``kept`` if nodes were found for all of them."""

    uid: str
    pods: tuple[PodsToJudge, ...]
    kept: bool
    admitted: bool


class PromisedRoom:
    """The stand-ins of all Workloads; ``clock`` measures how long they stay."""

    def __init__(self, watched: ObservedInventory, store: CheckStore, judge: WorkloadJudge, clock: Clock) -> None:
        self._inventory = watched.inventory
        self._store = store
        self._judge = judge
        self._room: KeptRoom[Name] = KeptRoom(watched.inventory, clock)
        self._promised: dict[Name, _PromisedPods] = {}
        self._touched: set[str] = set()
        """Nodes that others have taken room of, or that have changed, since the last look."""
        self._came: set[str] = set()
        """Nodes that pods have been bound to since the last look."""
        self._lost: dict[Name, None] = {}
        """Workloads that need other nodes for their room, in the order in which they are tried."""
        self._freed = False
        """Whether there may be more room than at the last look."""
        self._numbers = itertools.count()
        watched.on_bound.append(self._bound)
        watched.on_pod.append(self._pod)
        watched.on_node.append(lambda name, *_: self._changed([name]))
        watched.on_pool.append(lambda _, before, after: self._changed([*_hosts(before), *_hosts(after)]))
        store.on_workload.append(self._workload)

    def hold(self, workload: CheckedWorkload, pods: Sequence[PodsToJudge], verdict: JobVerdict) -> bool:
        """Keep the room of these pods of the Workload where the verdict has placed them, if it has.

        Returns ``False``, and keeps nothing, if pods came to these nodes or to kept room while it was judged.
        """
        made = self._stand_ins(workload.key, verdict)
        if not made:
            return True
        if self.disturbed or not self._came.isdisjoint(pod.node for pod in made):
            return False
        self._room.hold(workload.key, workload.namespace, made)
        self._promised[workload.key] = _PromisedPods(workload.uid, _some(pods), kept=True, admitted=workload.admitted)
        return True

    def owe(self, workload: CheckedWorkload, pods: Sequence[PodsToJudge], *, passed: float) -> None:
        """Keep room for those of these pods that have no node, promised so many seconds ago.

        :meth:`settle` finds the nodes.
        """
        some = self._unbound(pods, workload.namespace)
        self._room.hold(workload.key, workload.namespace, (), passed=passed)
        self._promised[workload.key] = _PromisedPods(workload.uid, some, kept=False, admitted=workload.admitted)
        self._lost[workload.key], self._freed = None, True

    def release(self, workload: Name) -> None:
        """Give up what is kept for the Workload."""
        self._room.release(workload)
        self._promised.pop(workload, None)
        self._freed = True

    def expire(self) -> None:
        """Give up what has been kept for too long; that of one which Kueue has yet to admit is kept on."""
        for key in self._promised:
            workload = self._store.workloads.get(key)
            if workload is not None and workload.placed and not workload.admitted:
                self._room.renew(key)
        self._room.expire()
        holders = self._room.holders()
        for key in [key for key in self._promised if key not in holders]:
            self.release(key)

    @property
    def disturbed(self) -> bool:
        """Whether room is kept where others have come since the last look."""
        return bool(self._touched and self._room.on(self._touched))

    async def settle(self) -> None:
        """Find other nodes for the room that is kept where others are by now; called in turn with all judgements."""
        for _ in range(LOOKS):
            displaced = self._room.on(self._touched) if self._touched else []
            self._touched.clear()
            self._came.clear()
            self._lost = {key: None for key in (*self._lost, *displaced) if self._left(key)}
            if not displaced and not self._freed:
                return
            self._freed = False
            await self._look_for([*self._lost][:TOGETHER])

    async def _look_for(self, lost: Collection[Name]) -> None:
        """Look for room of each, and where there is none for one beside the others for all of them together."""
        apart = [key for key in lost if not await self._moved([key])]
        others = [key for key in self._promised if key not in apart]
        if apart and not await self._moved([*apart, *others][:TOGETHER]):
            for key in [key for key in apart if key in self._promised and not self._promised[key].kept]:
                self.release(key)  # its pods run already, or wait whatever is done

    async def _moved(self, keys: Sequence[Name]) -> bool:
        """Find nodes for all that is left of these, one after the other, or leave all where they are."""
        before = {key: unplaced for key in keys if (unplaced := self._left(key))}
        placed: dict[Name, list[PodInfo]] = {}
        with self._room.without(before):
            try:
                for key, pods in before.items():
                    placed[key] = self._stand_ins(key, await self._judge.place(pods, key[0]))
                    for pod in placed[key]:
                        self._inventory.set_pod(pod)
                    if not placed[key]:
                        return False
            finally:
                for pod in (pod for pods in placed.values() for pod in pods):
                    self._inventory.remove_pod(pod.uid)
        if any(_counts(self._left(key)) != _counts(pods) for key, pods in before.items()):
            self._touched.update(pod.node for key in before for pod in self._room.pods(key))
            self._freed = True
            return True  # pods came, or a Workload is gone meanwhile: another look is due
        self._touched.update(self._came.intersection(pod.node for pods in placed.values() for pod in pods))
        for key, pods in before.items():
            self._room.move(key, placed[key])
            self._promised[key] = replace(self._promised[key], pods=tuple(pods), kept=True)
            self._lost.pop(key, None)
        return True

    def _left(self, key: Name) -> list[PodsToJudge]:
        """The pods of the Workload that room is kept for still."""
        promised = self._promised.get(key)
        if promised is None or not promised.kept:
            return [*promised.pods] if promised else []
        counts = Counter(int(pod.uid.split("/")[-2]) for pod in self._room.pods(key))
        return [one.so_many(counts[at]) for at, one in enumerate(promised.pods) if counts[at]]

    def _stand_ins(self, key: Name, verdict: JobVerdict) -> list[PodInfo]:
        """Stand-ins where the verdict has placed the pods; none if it has not, and of those that wait for new nodes."""
        if not verdict.group or not verdict.room or verdict.refused:
            return []
        uids = "/".join(("admitted", *key, str(next(self._numbers))))
        return [*stand_ins(uids, key[0], verdict.group, verdict.room)]

    def _unbound(self, pods: Sequence[PodsToJudge], namespace: str) -> tuple[PodsToJudge, ...]:
        """The pods without those whose job has as many bound pods with the same requests."""
        bound: dict[str, _Requests] = {}
        unbound = []
        for one in pods:
            job = ((one.pod.metadata and one.pod.metadata.labels) or {}).get(keys.JOB, "")
            counts = bound.setdefault(job, _by_requests(self._inventory.job_pods(namespace, job)))
            requests = frozenset(pod_requests(one.pod.spec or PodSpec())[0].items())
            gone = min(counts[requests], one.component.count)
            counts[requests] -= gone
            unbound.append(one.so_many(one.component.count - gone))
        return _some(unbound)

    def _changed(self, nodes: Collection[str]) -> None:
        self._touched.update(nodes)
        self._came.update(nodes)
        self._freed = True

    def _pod(self, _uid: str, _before: PodInfo | None, after: PodInfo | None) -> None:
        if after is None or after.terminating:
            self._freed = True

    def _bound(self, pod: PodInfo) -> None:
        """A pod has got its node: most leave room enough for what is kept there."""
        if not self._room.bound(pod):
            self._came.add(pod.node)
            slot, capacity = self._inventory.nodes.slot_of[pod.node], self._inventory.nodes.capacity
            short = any(capacity.free(resource, slot) < 0 for resource in pod.requests)
            if short or pod.job or pod.pools or pod.guards or pod.shuns or pod.ports:
                self._touched.add(pod.node)

    def _workload(self, key: Name) -> None:
        workload, promised = self._store.workloads.get(key), self._promised.get(key)
        if promised is None:
            return
        if workload is None or workload.uid != promised.uid or not (workload.placed or workload.replaced):
            self.release(key)
        elif workload.admitted and not promised.admitted:
            self._room.renew(key)
            self._promised[key] = replace(promised, admitted=True)


def _hosts(pool: Pool | None) -> list[str]:
    return [host.name for host in pool.assigned] if pool else []


def _some(pods: Sequence[PodsToJudge]) -> tuple[PodsToJudge, ...]:
    return tuple(one.without_document() for one in pods if one.component.count)


def _by_requests(pods: JobPods) -> _Requests:
    return Counter(frozenset(pod.requests.items()) for _, pod in pods.pods.values())


def _counts(pods: Sequence[PodsToJudge]) -> list[tuple[str, int]]:
    return [(one.component.name, one.component.count) for one in pods]
