"""The cluster as decisions see it: nodes, live pods, host pools and jobs, kept up to date one object at a time.

It holds no clock and reads nothing: whoever watches the cluster, or reads a snapshot of it, calls ``set_`` and
``remove_``. Every update costs what changed, every question a few set operations.
"""

import copy
from collections.abc import Collection, Iterator

from webhook.placement.inventory.foreign_pods import ForeignPods, Ties
from webhook.placement.inventory.guests import Guests
from webhook.placement.inventory.index import NodeIndex
from webhook.placement.inventory.intent import Intents
from webhook.placement.inventory.job_model import JobModel
from webhook.placement.inventory.job_pods import JobPods
from webhook.placement.inventory.objects import Job, Node, PodInfo, Pool, Tally
from webhook.placement.inventory.pool_index import Name, PoolIndex
from webhook.placement.kube.bits import slots

_NOBODY = JobPods()


class Inventory:
    """All that placement knows of one cluster; ``spared`` is that of :class:`ForeignPods`.

    Who else runs on exclusive hosts is known where ``guests`` are given.
    """

    __slots__ = (
        "_clock", "_guarding", "_guards", "_held", "_siblings", "guests", "intents", "jobs", "jobs_version", "leaving",
        "leaving_changed", "nodes", "outsiders", "pools", "sleepers", "visitors", "waiting",
    )  # fmt: skip

    def __init__(self, spared: Collection[str] | None = None, guests: Guests | None = None) -> None:
        self.nodes = NodeIndex()
        self.outsiders = ForeignPods(spared)
        self.guests = guests or Guests()
        self.pools = PoolIndex(self.nodes)
        self.jobs: dict[Name, JobModel] = {}
        self.intents = Intents()
        self.jobs_version = 0
        self.leaving: dict[str, PodInfo] = {}
        """Pods of jobs that are being deleted, by uid: they make room for their siblings, and still run."""
        self.leaving_changed = 0
        """How often a pod of a job began to be deleted, or was gone after that."""
        self.visitors: dict[str, PodInfo] = {}
        """Bound pods of no job that name host pools, by uid: they hold a pool that is deleted."""
        self.waiting: dict[str, PodInfo] = {}
        """Pods of jobs that wait for a node, and sleepers, by uid."""
        self.sleepers: dict[str, PodInfo] = {}
        """Those of them that tolerate what keeps others off exclusive hosts."""
        self._siblings: dict[Name, JobPods] = {}
        self._guards: dict[str, dict[int, set[str]]] = {}
        self._guarding: dict[str, tuple[str, ...]] = {}
        self._clock = 0
        self._held: dict[str, tuple[int, Tally] | tuple[int, Tally, Ties] | PodInfo] = {}

    def recovered(self) -> "Inventory | None":
        """The cluster once the conditions of its nodes have passed that pass by themselves; ``None`` without any.

        It is for reading, until the next change.
        """
        nodes = self.nodes.recovered()
        if nodes is None:
            return None
        found = copy.copy(self)
        found.nodes = nodes
        return found

    # Nodes

    def set_node(self, node: Node) -> None:
        """A node was added or changed."""
        old = self.nodes.get(node.name)
        self.nodes.put(node)
        if old is None or old.uid != node.uid:
            self.pools.forget_hosts()

    def remove_node(self, name: str) -> None:
        """A node is gone."""
        self.nodes.drop(name)
        self.pools.forget_hosts()

    # Pods

    def set_pod(self, pod: PodInfo) -> None:
        """A pod was added or changed; one without a node holds nothing."""
        self.remove_pod(pod.uid)
        if not pod.node:
            if pod.demand:
                self.waiting[pod.uid] = pod
            if pod.sleeps:
                self.sleepers[pod.uid] = pod
            return
        slot = self.nodes.reserve(pod.node)
        self.nodes.capacity.take(slot, pod.requests)
        if pod.guards:
            self._guarding[pod.uid] = pod.guards
            for key in pod.guards:
                self._guards.setdefault(key, {}).setdefault(slot, set()).add(pod.uid)
        self.guests.add(slot, pod)
        if not pod.job:
            # Most pods are strangers and there may be 150,000: two references are all that is kept of them.
            ties = self.outsiders.add(slot, pod)
            self._held[pod.uid] = (slot, pod.requests) if ties is None else (slot, pod.requests, ties)
            if pod.pools:
                self.visitors[pod.uid] = pod
            return
        self._held[pod.uid] = pod
        if pod.terminating:
            self.leaving[pod.uid] = pod
            self.leaving_changed += 1
        else:
            siblings = self._siblings.setdefault((pod.namespace, pod.job), JobPods())
            siblings.add(slot, pod)
            self._stamp(siblings, pod)

    def has_pod(self, uid: str) -> bool:
        """Whether a pod of that uid is bound to a node."""
        return uid in self._held

    def concerns_pools(self, pod: PodInfo) -> bool:
        """Whether the pod may be a pool's own, a stranger to one, or become one."""
        return bool(pod.job or pod.pools) or pod.sleeps or self.outsiders.include(pod) or self.guests.include(pod)

    def remove_pod(self, uid: str) -> None:
        """A pod is gone, or finished."""
        held = self._held.pop(uid, None)
        if held is None:
            self.waiting.pop(uid, None)
            self.sleepers.pop(uid, None)
            return
        if isinstance(held, PodInfo):
            slot, requests = self.nodes.slot_of[held.node], held.requests
            self._leave(slot, held)
        else:
            slot, requests, *ties = held
            self.visitors.pop(uid, None)
            if ties:
                self.outsiders.remove(slot, *ties)
        self.nodes.capacity.take(slot, requests, -1)
        self.guests.remove(uid)
        for key in self._guarding.pop(uid, ()):
            self._unguard(key, slot, uid)
        self.nodes.release(slot)

    def _unguard(self, key: str, slot: int, uid: str) -> None:
        guards = self._guards[key]
        guards[slot].discard(uid)
        if not guards[slot]:
            del guards[slot]
        if not guards:
            del self._guards[key]

    def guarded(self, slot: int) -> bool:
        """Whether a pod on the node, or in its zone, requires others to keep away from there (``PodInfo.guards``)."""
        labels = self.nodes.nodes[slot].labels
        for key, guards in self._guards.items():
            near = self.nodes.with_label(key, (labels[key],)) if key in labels else 0
            if slot in guards or not guards.keys().isdisjoint(slots(near)):
                return True
        return False

    def _leave(self, slot: int, pod: PodInfo) -> None:
        if pod.terminating:
            del self.leaving[pod.uid]
            self.leaving_changed += 1
            return
        job = pod.namespace, pod.job
        siblings = self._siblings[job]
        siblings.remove(slot, pod)
        self._stamp(siblings, pod)
        if not siblings.everyone.pods:
            del self._siblings[job]

    def _stamp(self, siblings: JobPods, pod: PodInfo) -> None:
        self._clock += 1
        siblings.changed = self._clock
        if pod.isolated or pod.cpu_bound:
            siblings.notable_changed = self._clock

    def siblings(self, namespace: str, job: str) -> JobPods:
        """The live pods of a job; nobody where there are none."""
        return self._siblings.get((namespace, job), _NOBODY)

    def tells_apart(self, namespace: str, job: str) -> bool:
        """Whether it matters which processing element a pod of the job is: one is isolated, or bound to cpus."""
        model = self.jobs.get((namespace, job))
        return bool(self.siblings(namespace, job).isolated or (model and (model.isolated or True in model.binding(""))))

    def jobs_with_pods(self) -> Iterator[tuple[Name, JobPods]]:
        """Every job that has live pods."""
        yield from self._siblings.items()

    # Jobs

    def set_job(self, job: Job) -> None:
        """A Job object was added or changed."""
        self.jobs_version += 1
        self.jobs[job.namespace, job.name] = JobModel(job)

    def remove_job(self, namespace: str, name: str) -> None:
        """A Job object is gone."""
        self.jobs_version += 1
        self.jobs.pop((namespace, name), None)

    # Host pools

    def set_pool(self, pool: Pool) -> None:
        """A HostPool object was added or changed."""
        self.pools.put(pool)

    def remove_pool(self, namespace: str, name: str) -> None:
        """A HostPool object is gone."""
        self.pools.drop(namespace, name)
