"""The live pods of one job, and the nodes they hold: what colocation, exlocation and isolation ask about."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from webhook.placement.inventory.objects import PodInfo, Tally
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.owner import owners_of

Mark = tuple[str, str]
"""Key and value of a label under the product's prefix."""

POOL = ""
"""Key of the marks that stand for the pools a pod asks for; no label has an empty key."""

_Key = TypeVar("_Key", str, Mark)


class PodsByNode:
    """Pods by slot: who they are, what they request, and the set of nodes they are on."""

    __slots__ = ("nodes", "pods")

    def __init__(self) -> None:
        self.nodes: Bits = 0
        self.pods: dict[int, tuple[PodInfo, ...]] = {}

    def add(self, slot: int, pod: PodInfo) -> None:
        """Count a pod on the node."""
        self.pods[slot] = (*self.pods.get(slot, ()), pod)
        self.nodes |= 1 << slot

    def remove(self, slot: int, pod: PodInfo) -> None:
        """Count a pod no longer."""
        left = tuple(other for other in self.pods.pop(slot) if other.uid != pod.uid)
        if left:
            self.pods[slot] = left
        else:
            self.nodes &= ~(1 << slot)


class JobPods:
    """Live pods of one job: bound to a node, neither finished nor being deleted.

    ``marks[key, value]`` are the pods with that label (or, under the key :data:`POOL`, that ask for that pool),
    ``elements[pe]`` those of a processing element, ``pods`` by uid all of them with their slots, ``isolated`` those
    with a ``hostIsolation`` of their own, ``_repelling[key, value]`` those that require pods with that label to keep
    away. ``notable_changed`` is when one of those last came or went that all others of
    the job must mind: the isolated, and those bound to cpus.
    """

    __slots__ = (
        "_cpu_bound",
        "_isolations",
        "_repelling",
        "changed",
        "elements",
        "everyone",
        "isolated",
        "marks",
        "notable_changed",
        "pods",
    )

    def __init__(self) -> None:
        self.everyone = PodsByNode()
        self.marks: dict[Mark, PodsByNode] = {}
        self.elements: dict[str, PodsByNode] = {}
        self.pods: dict[str, tuple[int, PodInfo]] = {}
        self.isolated: dict[str, tuple[int, PodInfo]] = {}
        self.changed = self.notable_changed = 0
        self._cpu_bound = 0
        self._repelling: dict[Mark, PodsByNode] = {}
        self._isolations: tuple[tuple[str, str], ...] | None = None

    def add(self, slot: int, pod: PodInfo) -> None:
        """A pod of the job is bound to ``slot``."""
        self.pods[pod.uid] = slot, pod
        self._cpu_bound += pod.cpu_bound
        self.everyone.add(slot, pod)
        self.elements.setdefault(pod.pe, PodsByNode()).add(slot, pod)
        for mark in _marks(pod):
            self.marks.setdefault(mark, PodsByNode()).add(slot, pod)
        for mark in pod.repels:
            self._repelling.setdefault(mark, PodsByNode()).add(slot, pod)
        if pod.isolated:
            self.isolated[pod.uid] = slot, pod
            self._isolations = None

    def remove(self, slot: int, pod: PodInfo) -> None:
        """The pod that was added is gone."""
        del self.pods[pod.uid]
        self._cpu_bound -= pod.cpu_bound
        self.everyone.remove(slot, pod)
        _remove(self.elements, pod.pe, slot, pod)
        for mark in _marks(pod):
            _remove(self.marks, mark, slot, pod)
        for mark in pod.repels:
            _remove(self._repelling, mark, slot, pod)
        if self.isolated.pop(pod.uid, None):
            self._isolations = None

    @property
    def cpu_bound(self) -> bool:
        """Whether some of them are bound to cpus."""
        return self._cpu_bound > 0

    def binding(self, apart_from: str) -> set[bool]:
        """Whether they are bound to cpus, replicas of the workload ``apart_from`` not counted."""
        return {pod.cpu_bound for _, pod in self.pods.values() if not apart_from or pod.owner != apart_from}

    def without(self, owner: str) -> "JobPods":
        """The pods that are no replicas of the workload ``owner``."""
        return self._chosen(owner, replicas=False)

    def of(self, owner: str) -> "JobPods":
        """The pods that are replicas of the workload ``owner``."""
        return self._chosen(owner, replicas=True)

    def _chosen(self, owner: str, *, replicas: bool) -> "JobPods":
        found = JobPods()
        for slot, pod in self.pods.values():
            if (owner in owners_of(pod.owner)) is replicas:
                found.add(slot, pod)
        return found

    def holding(self, marks: Iterable[Mark]) -> Bits:
        """Nodes with a pod that carries at least one of the labels."""
        found = 0
        for mark in marks:
            holders = self.marks.get(mark)
            if holders:
                found |= holders.nodes
        return found

    def repelling(self, mark: Mark) -> Bits:
        """Nodes with a pod that requires pods with that label to keep away."""
        holders = self._repelling.get(mark)
        return holders.nodes if holders else 0

    def others(self, pe: str) -> Bits:
        """Nodes with a pod of any other processing element than ``pe``."""
        return self._apart_from(self.elements.get(pe) if pe else None)

    def outside(self, pool: str) -> Bits:
        """Nodes with a pod that does not ask for the pool of that SPL name."""
        return self._apart_from(self.marks.get((POOL, pool)))

    def _apart_from(self, own: PodsByNode | None) -> Bits:
        """Nodes with a pod that is not among ``own``."""
        if own is None:
            return self.everyone.nodes
        alone = 0
        for slot, pods in own.pods.items():
            if len(pods) == len(self.everyone.pods[slot]):
                alone |= 1 << slot
        return self.everyone.nodes & ~alone

    def isolated_from(self, pe: str) -> Bits:
        """Nodes with an isolated pod of any other processing element than ``pe``."""
        found = 0
        for slot, pod in self.isolated.values():
            if not pe or pod.pe != pe:
                found |= 1 << slot
        return found

    def isolations(self) -> tuple[tuple[str, str], ...]:
        """Processing element and operator of every ``hostIsolation`` among the live pods, each once, sorted."""
        if self._isolations is None:
            found = {(pod.pe, operator) for _, pod in self.isolated.values() for operator in pod.isolated}
            self._isolations = tuple(sorted(found))
        return self._isolations

    def together(self, slot: int, marks: Iterable[Mark]) -> list[Tally]:
        """What the pods on ``slot`` that carry at least one of the labels request, each pod once."""
        found: dict[str, Tally] = {}
        for mark in marks:
            holders = self.marks.get(mark)
            if holders:
                found.update((pod.uid, pod.requests) for pod in holders.pods.get(slot, ()))
        return list(found.values())


def _marks(pod: PodInfo) -> Iterator[Mark]:
    yield from pod.labels.items()
    for pool in pod.pools:
        yield POOL, pool


def _remove(table: dict[_Key, PodsByNode], key: _Key, slot: int, pod: PodInfo) -> None:
    holders = table[key]
    holders.remove(slot, pod)
    if not holders.pods:
        del table[key]
