"""Index of the live pods of one job, by node, label and processing element.

The constraints colocation, exlocation and isolation are evaluated on this index.
"""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.owner import owners_of
from webhook.placement.objects.pod import PodInfo

PodLabel = tuple[str, str]
"""Key and value of a pod label under the product's prefix."""

POOL = ""
"""Key of entries that stand for a pool which a pod names, with the pool's SPL name as value. No label has this key."""

_Key = TypeVar("_Key", str, PodLabel)


class PodsByNode:
    """Pods by the slot of their node, and the set of these nodes.

    Most processing elements and labels have pods on one node only. For these no table and no set of nodes is made,
    which would take a kilobyte each in a cluster of 5,000 nodes.
    """

    __slots__ = ("_nodes", "_pods")

    def __init__(self) -> None:
        self._nodes = 0
        """The set as its bits; the set of one slot as the complement of the slot's number, which is negative."""
        self._pods: tuple[PodInfo, ...] | dict[int, tuple[PodInfo, ...]] = ()
        """The pods themselves as long as they are on one node; by the slot of their node otherwise."""

    @property
    def nodes(self) -> Bits:
        """The nodes of the pods."""
        return self._nodes if self._nodes >= 0 else 1 << ~self._nodes

    @property
    def empty(self) -> bool:
        """Whether it has no pods."""
        return not self._pods

    def on(self, slot: int) -> tuple[PodInfo, ...]:
        """The pods on the node in ``slot``."""
        if isinstance(self._pods, dict):
            return self._pods.get(slot, ())
        return self._pods if self._nodes == ~slot else ()

    def counts(self) -> Iterator[tuple[int, int]]:
        """The slot of every node with pods, and their number."""
        if isinstance(self._pods, dict):
            yield from ((slot, len(pods)) for slot, pods in self._pods.items())
        elif self._pods:
            yield ~self._nodes, len(self._pods)

    def add(self, slot: int, pod: PodInfo) -> None:
        """Add the pod on the node in ``slot``."""
        if not self._pods:
            self._nodes, self._pods = ~slot, (pod,)
            return
        if not isinstance(self._pods, dict):
            if self._nodes == ~slot:
                self._pods = (*self._pods, pod)
                return
            self._nodes, self._pods = self.nodes, {~self._nodes: self._pods}
        self._pods[slot] = (*self._pods.get(slot, ()), pod)
        self._nodes |= 1 << slot

    def remove(self, slot: int, pod: PodInfo) -> None:
        """Remove the pod from the node in ``slot``."""
        others = tuple(other for other in self.on(slot) if other.uid != pod.uid)
        if not isinstance(self._pods, dict):
            self._pods = others
        elif others:
            self._pods[slot] = others
        else:
            del self._pods[slot]
            self._nodes &= ~(1 << slot)
        if not self._pods:
            self._nodes = 0


class JobPods:
    """Live pods of one job: bound to a node, neither finished nor being deleted.

    ``pods`` are all of them by uid, with their slots. ``labels[key, value]`` are the pods with that label (under the
    key :data:`POOL`, the pods that name that pool), ``elements[pe]`` the pods of a processing element, ``isolated`` the
    pods with ``hostIsolation``, and ``_repelling[key, value]`` the pods that require pods with that label to keep away.
    ``changed`` is the inventory's change count when a pod was last added or removed, ``notable_changed`` the same for
    pods that matter to all others of the job: isolated ones, and ones bound to cpus.
    """

    __slots__ = (
        "_cpu_bound",
        "_isolations",
        "_repelling",
        "changed",
        "elements",
        "everyone",
        "isolated",
        "labels",
        "notable_changed",
        "pods",
    )

    def __init__(self) -> None:
        self.everyone = PodsByNode()
        self.labels: dict[PodLabel, PodsByNode] = {}
        self.elements: dict[str, PodsByNode] = {}
        self.pods: dict[str, tuple[int, PodInfo]] = {}
        self.isolated: dict[str, tuple[int, PodInfo]] = {}
        self.changed = self.notable_changed = 0
        self._cpu_bound = 0
        self._repelling: dict[PodLabel, PodsByNode] = {}
        self._isolations: tuple[tuple[str, str], ...] | None = None

    def add(self, slot: int, pod: PodInfo) -> None:
        """Add a pod of the job that is bound to ``slot``."""
        self.pods[pod.uid] = slot, pod
        self._cpu_bound += pod.cpu_bound
        self.everyone.add(slot, pod)
        self.elements.setdefault(pod.pe, PodsByNode()).add(slot, pod)
        for label in _labels(pod):
            self.labels.setdefault(label, PodsByNode()).add(slot, pod)
        for label in pod.repels:
            self._repelling.setdefault(label, PodsByNode()).add(slot, pod)
        if pod.isolated:
            self.isolated[pod.uid] = slot, pod
            self._isolations = None

    def remove(self, slot: int, pod: PodInfo) -> None:
        """Remove a pod that was added."""
        del self.pods[pod.uid]
        self._cpu_bound -= pod.cpu_bound
        self.everyone.remove(slot, pod)
        _remove(self.elements, pod.pe, slot, pod)
        for label in _labels(pod):
            _remove(self.labels, label, slot, pod)
        for label in pod.repels:
            _remove(self._repelling, label, slot, pod)
        if self.isolated.pop(pod.uid, None):
            self._isolations = None

    @property
    def cpu_bound(self) -> bool:
        """Whether at least one of the pods is bound to cpus."""
        return self._cpu_bound > 0

    def binding(self, apart_from: str) -> set[bool]:
        """The different values of ``cpu_bound`` of all pods but the replicas of the workload ``apart_from``."""
        return {pod.cpu_bound for _, pod in self.pods.values() if not apart_from or pod.owner != apart_from}

    def without(self, owner: str) -> "JobPods":
        """The pods without the replicas of the workload ``owner``."""
        return self._chosen(owner, replicas=False)

    def of(self, owner: str) -> "JobPods":
        """The replicas of the workload ``owner`` among the pods."""
        return self._chosen(owner, replicas=True)

    def _chosen(self, owner: str, *, replicas: bool) -> "JobPods":
        chosen = JobPods()
        for slot, pod in self.pods.values():
            if (owner in owners_of(pod.owner)) is replicas:
                chosen.add(slot, pod)
        return chosen

    def holding(self, labels: Iterable[PodLabel]) -> Bits:
        """Nodes with a pod that has at least one of the labels."""
        nodes = 0
        for label in labels:
            holders = self.labels.get(label)
            if holders:
                nodes |= holders.nodes
        return nodes

    def repelling(self, label: PodLabel) -> Bits:
        """Nodes with a pod that requires pods with that label to keep away."""
        holders = self._repelling.get(label)
        return holders.nodes if holders else 0

    def others(self, pe: str) -> Bits:
        """Nodes with a pod of any other processing element than ``pe``."""
        return self._apart_from(self.elements.get(pe) if pe else None)

    def outside(self, pool: str) -> Bits:
        """Nodes with a pod that does not name the pool with that SPL name."""
        return self._apart_from(self.labels.get((POOL, pool)))

    def _apart_from(self, own: PodsByNode | None) -> Bits:
        """Nodes with a pod that is not among ``own``."""
        if own is None:
            return self.everyone.nodes
        alone = 0
        for slot, count in own.counts():
            if count == len(self.everyone.on(slot)):
                alone |= 1 << slot
        return self.everyone.nodes & ~alone

    def isolated_from(self, pe: str) -> Bits:
        """Nodes with an isolated pod of any other processing element than ``pe``."""
        nodes = 0
        for slot, pod in self.isolated.values():
            if not pe or pod.pe != pe:
                nodes |= 1 << slot
        return nodes

    def isolations(self) -> tuple[tuple[str, str], ...]:
        """Processing element and operator of every ``hostIsolation`` among the live pods, each once, sorted."""
        if self._isolations is None:
            pairs = {(pod.pe, operator) for _, pod in self.isolated.values() for operator in pod.isolated}
            self._isolations = tuple(sorted(pairs))
        return self._isolations

    def together(self, slot: int, labels: Iterable[PodLabel]) -> list[Tally]:
        """The requests of the pods on ``slot`` that have at least one of the labels, each pod once."""
        tallies: dict[str, Tally] = {}
        for label in labels:
            holders = self.labels.get(label)
            if holders:
                tallies.update((pod.uid, pod.requests) for pod in holders.on(slot))
        return list(tallies.values())


def _labels(pod: PodInfo) -> Iterator[PodLabel]:
    yield from pod.labels.items()
    for pool in pod.pools:
        yield POOL, pool


def _remove(table: dict[_Key, PodsByNode], key: _Key, slot: int, pod: PodInfo) -> None:
    holders = table[key]
    holders.remove(slot, pod)
    if holders.empty:
        del table[key]
