"""The whole state of a cluster that decisions are made from: nodes, live pods, host pools, jobs, hardware and volumes.

The inventory does no input or output. The watch of the cluster, or the loader of a snapshot, calls the methods
``set_...`` and ``remove_...`` for each object. An update takes time by what changed, a question a few set operations.
"""

import copy
from collections.abc import Collection, Container, Iterable, Iterator, KeysView, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from webhook.placement.devices.fits import DeviceFits
from webhook.placement.devices.published.devices import Devices
from webhook.placement.inventory.foreign_pods import ForeignPods, NamedPools
from webhook.placement.inventory.guests import Guests
from webhook.placement.inventory.index import NodeIndex
from webhook.placement.inventory.job_pods import JobPods
from webhook.placement.inventory.pool_index import Name, PoolIndex
from webhook.placement.inventory.priorities import Priorities
from webhook.placement.inventory.taken_host_ports import TakenHostPorts
from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.bits import Bits, slots
from webhook.placement.kube.containers import HostPort
from webhook.placement.nodegroups.node_groups import NodeGroups
from webhook.placement.numa.topologies import Topologies
from webhook.placement.objects.intent import Intents
from webhook.placement.objects.jobs.job import StreamsJob
from webhook.placement.objects.jobs.job_model import JobModel
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Pool
from webhook.placement.objects.repelling import Repelling
from webhook.placement.objects.volumes import Volumes
from webhook.placement.pod_defaults.pod_defaults import PodDefaults

_NO_PODS = JobPods()


class Held(Struct, frozen=True, gc=False):
    """What is kept of a bound pod of no job: half the size of a tuple, and most of 150,000 pods belong to no job."""

    slot: int
    requests: Tally


class _Stranger(Held, frozen=True, gc=False):
    """A bound pod of no job that counts as a stranger, with the pools that it names."""

    named_pools: NamedPools


_UNBOUND: Final = Held(-1, {})
"""In place of what is kept of a bound pod: the pod has no node."""


class Inventory:
    """All objects of one cluster that placement needs, in indexes.

    ``spared`` is the argument of :class:`ForeignPods`. Guests are indexed only if ``guests`` is given.
    """

    __slots__ = (
        "_change_count", "_guarding", "_guards", "_held", "_job_pods", "_repelling", "_taken_ports", "device_fits",
        "devices", "ending", "foreign_pods", "guests", "intents", "jobs", "jobs_version", "leaving", "leaving_changed",
        "node_groups", "nodes",
        "pod_defaults", "pools", "priorities", "promised", "references", "sleepers", "topologies", "visitors",
        "volumes", "waiting",
    )  # fmt: skip

    def __init__(self, spared: Collection[str] | None = None, guests: Guests | None = None) -> None:
        self.nodes = NodeIndex()
        self.foreign_pods = ForeignPods(spared)
        self.guests = guests or Guests()
        self.pools = PoolIndex(self.nodes)
        self.jobs: dict[Name, JobModel] = {}
        self.intents = Intents()
        self.devices = Devices()
        self.device_fits = DeviceFits(self.devices)
        self.topologies = Topologies()
        self.volumes = Volumes()
        self.pod_defaults = PodDefaults()
        self.node_groups = NodeGroups()
        self.priorities = Priorities()
        self.references: dict[tuple[str, str, str, str], dict[str, Any]] = {}
        """Objects that say of which pods others are, by apiVersion, kind, namespace and name; only of a snapshot."""
        self.jobs_version = 0
        self.leaving: dict[str, PodInfo] = {}
        """Pods of jobs that are being deleted, by uid. Such pods still run, and are not in :meth:`job_pods`."""
        self.ending: dict[str, Held] = {}
        """Bound pods of no job that are being deleted, by uid: slot and requests."""
        self.leaving_changed = 0
        """Counts changes of ``leaving``."""
        self.visitors: dict[str, PodInfo] = {}
        """Bound pods of no job that name host pools, by uid. A deleted pool keeps its hosts while such pods run."""
        self.waiting: dict[str, PodInfo] = {}
        """Pods of jobs without a node, and sleepers, by uid."""
        self.sleepers: dict[str, PodInfo] = {}
        """Pods without a node that tolerate the taint of exclusive hosts, by uid."""
        self.promised = 0
        """How many of the pods are stand-ins for pods that were promised their room, and do not run yet."""
        self._job_pods: dict[Name, JobPods] = {}
        self._guards: dict[str, dict[int, set[str]]] = {}
        """Uids of pods with required podAntiAffinity, by topology key and slot."""
        self._guarding: dict[str, tuple[str, ...]] = {}  # PodInfo.guards by uid of the pod
        self._repelling = Repelling()
        self._taken_ports = TakenHostPorts()
        self._change_count = 0
        self._held: dict[str, Held | PodInfo] = {}
        """Pods by uid; all that is known of a bound pod of a job."""

    def recovered(self) -> "Inventory | None":
        """A view of the inventory without node taints that go away by themselves; ``None`` if no node has any.

        Callers must not change the view, and must not use it after the next change of the inventory.
        """
        nodes = self.nodes.recovered()
        if nodes is None:
            return None
        inventory = copy.copy(self)
        inventory.nodes = nodes
        return inventory

    def vacated(self) -> "Inventory":
        """A view of the inventory in which no pods run, and no node is cordoned or has a taint that passes by itself.

        Callers must not change the view.
        """
        inventory = Inventory(self.foreign_pods.spared)
        inventory.nodes = self.nodes.vacated()
        inventory.devices = self.devices.without_holders()
        inventory.device_fits = DeviceFits(inventory.devices)
        inventory.pools, inventory.jobs, inventory.jobs_version = self.pools, self.jobs, self.jobs_version
        inventory.intents, inventory.topologies, inventory.volumes = self.intents, self.topologies, self.volumes
        inventory.pod_defaults, inventory.node_groups = self.pod_defaults, self.node_groups
        inventory.references = self.references
        return inventory

    # Nodes

    def set_node(self, node: Node) -> None:
        """Add the node, or replace the node with its name."""
        old = self.nodes.get(node.name)
        self.nodes.put(node)
        if old is None or old.uid != node.uid:
            self.pools.forget_hosts()

    def remove_node(self, name: str) -> None:
        """Remove the node."""
        self.nodes.drop(name)
        self.pools.forget_hosts()

    # Pods

    def set_pod(self, pod: PodInfo) -> None:
        """Add the pod, or replace the pod with its uid; a pod without a node uses no resources."""
        self.remove_pod(pod.uid)
        if not pod.node:
            self._held[pod.uid] = _UNBOUND
            if pod.demand:
                self.waiting[pod.uid] = pod
            if pod.sleeps:
                self.sleepers[pod.uid] = pod
            return
        slot = self.nodes.reserve(pod.node)
        self.nodes.capacity.take(slot, pod.requests)
        self.priorities.add(slot, pod)
        self._keep_away(slot, pod)
        self.guests.add(slot, pod)
        if not pod.job:
            named_pools = self.foreign_pods.add(slot, pod)
            self._held[pod.uid] = (
                Held(slot, pod.requests) if named_pools is None else _Stranger(slot, pod.requests, named_pools)
            )
            if pod.pools:
                self.visitors[pod.uid] = pod
            if pod.terminating:
                self.ending[pod.uid] = Held(slot, pod.requests)
            return
        self._held[pod.uid] = pod
        if pod.terminating:
            self.leaving[pod.uid] = pod
            self.leaving_changed += 1
        else:
            job_pods = self._job_pods.setdefault((pod.namespace, pod.job), JobPods())
            job_pods.add(slot, pod)
            self._stamp(job_pods, pod)

    def _keep_away(self, slot: int, pod: PodInfo) -> None:
        """Keep what the pod keeps away from its node."""
        if pod.guards:
            self._guarding[pod.uid] = pod.guards
            for key in pod.guards:
                self._guards.setdefault(key, {}).setdefault(slot, set()).add(pod.uid)
        if pod.shuns:
            self._repelling.add(pod.uid, slot, pod.shuns)
        if pod.ports:
            self._taken_ports.add(pod.uid, slot, pod.ports)

    @property
    def pod_uids(self) -> KeysView[str]:
        """The uids of all pods, bound or not, as they are at any time."""
        return self._held.keys()

    def has_pod(self, uid: str) -> bool:
        """Whether a pod with that uid is bound to a node."""
        return self._held.get(uid, _UNBOUND) is not _UNBOUND

    def concerns_pools(self, pod: PodInfo) -> bool:
        """Whether the pod can matter to a HostPool: it may use the pool, be a stranger or guest, or is a sleeper."""
        return bool(pod.job or pod.pools) or pod.sleeps or self.foreign_pods.include(pod) or self.guests.include(pod)

    def remove_pod(self, uid: str) -> None:
        """Remove the pod: it is deleted, or has finished."""
        removed = self._held.pop(uid, None)
        if removed is None:
            return
        if removed is _UNBOUND:
            self.waiting.pop(uid, None)
            self.sleepers.pop(uid, None)
            return
        if isinstance(removed, PodInfo):
            slot, requests = self.nodes.slot_of[removed.node], removed.requests
            self._leave(slot, removed)
        else:
            slot, requests = removed.slot, removed.requests
            self.visitors.pop(uid, None)
            self.ending.pop(uid, None)
            if isinstance(removed, _Stranger):
                self.foreign_pods.remove(slot, removed.named_pools)
        self.nodes.capacity.take(slot, requests, -1)
        self.priorities.remove(uid, slot, requests)
        self.guests.remove(uid)
        self._repelling.remove(uid)
        self._taken_ports.remove(uid)
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
        """Whether a pod with required podAntiAffinity runs on the node, or in its topology domain."""
        labels = self.nodes.nodes[slot].labels
        for key, guards in self._guards.items():
            domain = self.nodes.with_label(key, (labels[key],)) if key in labels else 0
            if slot in guards or not guards.keys().isdisjoint(slots(domain)):
                return True
        return False

    def repelled(self, namespace: str, labels: Mapping[str, str], but: Container[str] = ()) -> dict[str, Bits]:
        """Nodes from which required podAntiAffinity of pods excludes a pod with these labels, by topology key.

        Nodes are left out where that is not certain. Pods whose uids are in ``but`` count as gone.
        """
        repelled: dict[str, Bits] = {}
        for key, where in self._repelling.slots(namespace, labels, but).items():
            for slot in slots(where):
                value = self.nodes.nodes[slot].labels.get(key) if slot in self.nodes.nodes else None
                if value is not None:
                    repelled[key] = repelled.get(key, 0) | self.nodes.with_label(key, (value,))
        return repelled

    def without_ports(self, wanted: Iterable[HostPort], but: Container[str] = ()) -> Bits:
        """Nodes on which a pod has taken one of the host ports; pods whose uids are in ``but`` count as gone."""
        return self._taken_ports.slots(wanted, but)

    def _leave(self, slot: int, pod: PodInfo) -> None:
        if pod.terminating:
            del self.leaving[pod.uid]
            self.leaving_changed += 1
            return
        job = pod.namespace, pod.job
        job_pods = self._job_pods[job]
        job_pods.remove(slot, pod)
        self._stamp(job_pods, pod)
        if job_pods.everyone.empty:
            del self._job_pods[job]

    def _stamp(self, job_pods: JobPods, pod: PodInfo) -> None:
        self._change_count += 1
        job_pods.changed = self._change_count
        if pod.isolated or pod.cpu_bound:
            job_pods.notable_changed = self._change_count

    def job_pods(self, namespace: str, job: str) -> JobPods:
        """The live pods of the job; without pods for an unknown job."""
        return self._job_pods.get((namespace, job), _NO_PODS)

    def tells_apart(self, namespace: str, job: str, pe: str) -> bool:
        """Whether it matters for decisions which processing element of the job a pod without ``hostIsolation`` is.

        It does if this processing element is isolated, if any of the job is bound to cpus, or if any gets
        resources from the Job.
        """
        model = self.jobs.get((namespace, job))
        if model and model.tells_apart(pe):
            return True
        pods = self._job_pods.get((namespace, job))
        return pods is not None and pe in [isolated for isolated, _ in pods.isolations()]

    def jobs_with_pods(self) -> Iterator[tuple[Name, JobPods]]:
        """Every job with live pods, by namespace and name, and these pods."""
        yield from self._job_pods.items()

    # Jobs

    def set_job(self, job: StreamsJob) -> None:
        """Add the Job object, or replace the one with its name; an equal one changes nothing.

        The status of a Job changes whenever one of its pods does, and kept answers depend on the version.
        """
        known = self.jobs.get((job.namespace, job.name))
        if known is not None and known.source == job:
            return
        self.jobs_version += 1
        self.jobs[job.namespace, job.name] = JobModel(job)

    def with_job(self, job: JobModel, pools: Sequence[Pool] = ()) -> "Inventory":
        """A view of the inventory with that Job, and these HostPools, in place of those with their names.

        No kept answer is about the view.

        The watch alone changes what the inventory holds: it may have delivered the Job's deletion already, and
        would not again. Callers must not change the view.
        """
        inventory = copy.copy(self)
        inventory.jobs = {**self.jobs, (job.source.namespace, job.name): job}
        if pools:
            inventory.pools = self.pools.with_pools(pools)
        return inventory

    def with_pod_defaults(self, pod_defaults: PodDefaults) -> "Inventory":
        """A view of the inventory in which the API server completes pods by these objects, not to be changed."""
        inventory = copy.copy(self)
        inventory.pod_defaults = pod_defaults
        return inventory

    def with_pools(self, pools: Sequence[Pool]) -> "Inventory":
        """A view of the inventory with these HostPools in place of those with their names, not to be changed."""
        inventory = copy.copy(self)
        inventory.pools = self.pools.with_pools(pools)
        return inventory

    def with_volumes(self, volumes: Volumes) -> "Inventory":
        """A view of the inventory in which these volumes are known, not to be changed."""
        inventory = copy.copy(self)
        inventory.volumes = volumes
        return inventory

    def remove_job(self, namespace: str, name: str) -> None:
        """Remove the Job object."""
        self.jobs_version += 1
        self.jobs.pop((namespace, name), None)

    # Host pools

    def set_pool(self, pool: Pool) -> None:
        """Add the HostPool object, or replace the one with its name."""
        self.pools.put(pool)

    def remove_pool(self, namespace: str, name: str) -> None:
        """Remove the HostPool object."""
        self.pools.drop(namespace, name)
