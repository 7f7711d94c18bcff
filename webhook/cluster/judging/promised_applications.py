"""``PromisedApplications``: where the room of applications that were admitted is kept, until their pods have nodes.

Pods of operators are not steered. So where they come on nodes on which the room of another application is kept, that
room is looked for elsewhere, before anything is judged beside it: else the node that was kept for the pod would seem to
be free, and be promised to one more.
"""

from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.admission.answer import Promise, PromisedObject
from webhook.cluster.judging.kept_room import KeptRoom
from webhook.cluster.judging.stand_ins import stand_ins
from webhook.cluster.queries.job_verdicts import AtOnce
from webhook.placement.inventory.index import HARD
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.whole_application import PodsToJudge
from webhook.placement.kube.pod import Pod
from webhook.placement.kube.selection.tolerations import Taint, tolerates
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Pool
from webhook.placement.planning.search.solver import Solving, finished

TOGETHER: Final = 20
"""Applications whose room is looked for at most before something is judged; and together, where one finds none."""


class _AdmittedPods(Struct, frozen=True, eq=False):
    """What was promised room, as far as it is needed later: the group would hold masks of all nodes."""

    pods: tuple[PodsToJudge, ...]
    judge: Callable[[Sequence[PodsToJudge], Inventory, Solving], Coroutine[Any, Any, JobVerdict]]


class PromisedApplications:
    """What was promised to the holders of ``room``, whose stand-ins are in the inventory."""

    def __init__(self, inventory: Inventory, room: KeptRoom[PromisedObject]) -> None:
        self._inventory = inventory
        self._room = room
        self._promises: dict[PromisedObject, _AdmittedPods] = {}
        self._touched: set[str] = set()
        """Nodes that others have taken room of, that are gone, or hosts of other pools, since the last look."""
        self._tainted: set[str] = set()
        """Nodes that have got a taint since then."""
        self._lost: list[PromisedObject] = []
        """Applications whose room other pods use and for which none else was found, in the order of tries."""
        self._untried: frozenset[PromisedObject] = frozenset()
        """The ones among them that are still to be tried, since room may have become free."""
        self.freed = False
        """Whether there may be more room than at the last look."""

    def hold(self, promise: Promise, *, passed: float) -> None:
        """Keep the room that was promised so many seconds ago."""
        made = promise.object
        pods = stand_ins(_uids(made), made.namespace, promise.group, promise.placed)
        self._room.hold(made, made.namespace, pods, passed=passed)
        self._promises = self._kept() | {made: _AdmittedPods(promise.pods, promise.judge)}

    def bound(self, pod: PodInfo) -> None:
        """A pod has got its node: most leave room enough for what is kept there."""
        if not self._promises or not self._inventory.has_pod(pod.uid) or self._room.bound(pod):
            return
        slot = self._inventory.nodes.slot_of[pod.node]
        short = any(self._inventory.nodes.capacity.free(resource, slot) < 0 for resource in pod.requests)
        if short or pod.job or pod.pools or pod.guards or pod.shuns or pod.ports:
            self._touched.add(pod.node)

    def node_gone(self, node: str) -> None:
        """A node is gone, and the room that was kept there with it."""
        if self._promises:
            self._touched.add(node)

    def node_changed(self, before: Node | None, node: Node) -> None:
        """A node has come or changed: it may have more room, or a taint that keeps away what was promised there."""
        if not self._promises or before == node:
            return
        self.freed = True
        if before is not None and before.taints != node.taints:
            known = frozenset(before.taints)
            if any(taint.effect in HARD and taint not in known for taint in node.taints):
                self._tainted.add(node.name)

    def pool_changed(self, before: Pool | None, pool: Pool | None) -> None:
        """A HostPool has come, has changed or is gone: pods may come on its new hosts, or no more on former ones."""
        if self._promises and before != pool:
            self.freed = True
            self._touched.update(name for name, _ in _hosts(before) ^ _hosts(pool))

    def settle(self, seconds: float) -> None:
        """Find other nodes for the room that is kept where its pods cannot come by now, in so many seconds.

        It is looked for by itself, and if there is none beside what others were promised together with theirs. What is
        found nowhere stays where it is, and is looked for again once there may be more room. That of so many is looked
        for at a time: no review waits for a thousand searches.
        """
        kept = self._kept()
        self.freed = self.freed or len(kept) < len(self._promises)
        self._promises = kept
        displaced = self._displaced()
        lost = [one for one in dict.fromkeys((*self._lost, *displaced)) if self._room.pods(one)]
        untried = [*lost] if displaced or self.freed else [one for one in lost if one in self._untried]
        self.freed = False
        solving = AtOnce(seconds)
        tried = untried[:TOGETHER]
        failed = {one: None for one in tried if not self._moved([one], solving)}
        if failed:
            others = [one for one in kept if one not in {*lost} and self._room.pods(one)]
            if self._moved([*failed, *others][:TOGETHER], solving):
                failed.clear()
        self._untried = frozenset(untried[TOGETHER:])
        self._lost = [*(one for one in lost if one not in tried), *failed]

    def _kept(self) -> dict[PromisedObject, _AdmittedPods]:
        holders = self._room.holders()
        return {one: promised for one, promised in self._promises.items() if one in holders}

    def _displaced(self) -> list[PromisedObject]:
        """Applications whose room is used by others, or is on a deleted node or behind a new, untolerated taint."""
        touched, tainted = self._touched, self._tainted
        self._touched, self._tainted = set(), set()
        displaced = self._room.on(touched) if touched else []
        nodes = {name: node for name in tainted if (node := self._inventory.nodes.get(name))}
        return displaced + [one for one in self._room.on(nodes) if self._barred(one, nodes)] if nodes else displaced

    def _barred(self, one: PromisedObject, nodes: Mapping[str, Node]) -> bool:
        """Whether room of the object is kept on one of these nodes for a pod that does not tolerate a taint there."""
        pods = self._promises[one].pods
        return any(
            not _tolerated(nodes[pod.node].taints, pods[_member(pod)].pod)
            for pod in self._room.pods(one)
            if pod.node in nodes
        )

    def _moved(self, objects: Sequence[PromisedObject], solving: AtOnce) -> bool:
        """Find nodes for all that is left of these, one after the other, or leave all where they are."""
        unplaced = {one: self._left(one) for one in objects}
        placed: dict[PromisedObject, list[PodInfo]] = {}
        with self._room.without(objects):
            try:
                for one, pods in unplaced.items():
                    placed[one] = self._placed(one, pods, solving)
                    for pod in placed[one]:
                        self._inventory.set_pod(pod)
                    if not placed[one]:
                        return False
            finally:
                for pod in (pod for pods in placed.values() for pod in pods):
                    self._inventory.remove_pod(pod.uid)
        for one, pods in unplaced.items():
            self._room.move(one, placed[one])
            self._promises[one] = replace(self._promises[one], pods=tuple(pods))
        return True

    def _left(self, one: PromisedObject) -> list[PodsToJudge]:
        """The pods of the object that room is kept for still."""
        counts = Counter(_member(pod) for pod in self._room.pods(one))
        return [pods.so_many(counts[at]) for at, pods in enumerate(self._promises[one].pods) if counts[at]]

    def _placed(self, one: PromisedObject, pods: Collection[PodsToJudge], solving: AtOnce) -> list[PodInfo]:
        """Stand-ins on nodes that suit them now, none if there are too few; and none for what waits for new nodes."""
        verdict = finished(self._promises[one].judge([*pods], self._inventory, solving))
        if verdict.group is None or verdict.room is None:
            return []
        return [*stand_ins(_uids(one), one.namespace, verdict.group, verdict.room)]


def _uids(one: PromisedObject) -> str:
    return f"promised/{one.uid}"


def _hosts(pool: Pool | None) -> set[tuple[str, bool]]:
    """The hosts of the pool, each with whether others are kept from it."""
    return {(host.name, pool.exclusive) for host in pool.assigned} if pool else set()


def _member(pod: PodInfo) -> int:
    """The place of the stand-in's component among those of its application."""
    return int(pod.uid.split("/")[-2])


def _tolerated(taints: Iterable[Taint], pod: Pod) -> bool:
    """Whether the pod tolerates all of the taints that keep pods away."""
    tolerations = (pod.spec and pod.spec.tolerations) or ()
    return all(any(tolerates(one, taint) for one in tolerations) for taint in taints if taint.effect in HARD)
