"""``KeptRoom``: room that was promised, held in an inventory by stand-ins until the pods are bound.

What is admitted as a whole has no pods yet. Meanwhile stand-ins hold what these will request, so that the next one that
is judged is not promised the same room. A pod of the namespace that gets its node takes the place of a stand-in of the
same job that requests the same, or else less: sidecars, defaults and operators add requests to pods.
"""

import contextlib
import itertools
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator
from typing import Final, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from kubeapi.clock import Clock
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.objects.pod import PodInfo

SECONDS: Final = 60.0
"""Seconds for which room is kept: pods are made and bound within a few, and nothing may hoard room."""

VAIN: Final = 180.0
"""Seconds for which a namespace is not relied upon after most of a room was kept for pods that did not come.

Not for longer, since operators may be slow: executors of Spark come once their driver runs.
"""

Holder = TypeVar("Holder", bound=Hashable)

_Likeness = tuple[str, frozenset[tuple[str, int]]]
"""The job of a pod, and what it requests."""


class _Room(Struct, frozen=True):
    """The stand-ins of one holder by what they are like and by node; when they were made, and until when they stay.

    At first there were so ``many``.
    """

    namespace: str
    many: int
    since: float
    until: float
    pods: dict[_Likeness, dict[str, list[PodInfo]]]

    def all(self) -> Iterator[PodInfo]:
        """All stand-ins."""
        for nodes in self.pods.values():
            for alike in nodes.values():
                yield from alike


class KeptRoom(Generic[Holder]):
    """The stand-ins of all holders in ``inventory``; ``clock`` measures how long they stay.

    ``most`` is the maximum number of stand-ins; beyond it, the namespace with the most of them loses its oldest room.
    Its pods are still expected to come: otherwise a namespace could hold ever new room without using any.
    """

    def __init__(self, inventory: Inventory, clock: Clock, most: int | None = None) -> None:
        self._inventory = inventory
        self._clock = clock
        self._most = most
        self._rooms: dict[Holder, _Room] = {}
        self._vain: dict[str, float] = {}
        """Namespaces in which room was kept in vain, and until when that counts."""
        self._cut: list[_Room] = []
        """Room that was given up for want of stand-ins, whose pods may come still."""
        self._aside: set[Holder] = set()
        """Applications whose stand-ins are temporarily out of the inventory."""

    @property
    def left(self) -> float:
        """Seconds until the last room is given up."""
        return max((room.until for room in self._rooms.values()), default=0.0) - self._clock() if self._rooms else 0.0

    def holders(self) -> dict[Holder, float]:
        """Applications whose room is kept, the oldest first, with the seconds for which it has been kept."""
        now = self._clock()
        return {holder: now - room.since for holder, room in self._rooms.items()}

    def pods(self, holder: Holder) -> list[PodInfo]:
        """The stand-ins of the holder that are left."""
        return [*self._rooms[holder].all()] if holder in self._rooms else []

    def on(self, nodes: Collection[str]) -> list[Holder]:
        """Applications with stand-ins on one of these nodes."""
        return [one for one, room in self._rooms.items() if any(pod.node in nodes for pod in room.all())]

    def renew(self, holder: Holder) -> None:
        """Keep the room of the holder for as long as if it were promised now."""
        self._rooms[holder] = replace(self._rooms[holder], until=self._clock() + SECONDS)

    def spent(self, holder: Holder) -> float:
        """The seconds of those for which its room is kept that are over for the holder."""
        return SECONDS - (self._rooms[holder].until - self._clock())

    def relies_on(self, namespace: str) -> bool:
        """Whether most of the pods have come of late for which room was kept in the namespace.

        An operator may never make them, or a quota refuse them: then the room would be kept from others forever, by a
        new object each minute.
        """
        return self._vain.get(namespace, 0.0) <= self._clock()

    def hold(self, holder: Holder, namespace: str, pods: Iterable[PodInfo], *, passed: float = 0.0) -> None:
        """Keep the room of these stand-ins, promised so many seconds ago, in place of what the holder had before."""
        self.release(holder)
        self._aside.discard(holder)
        now, made = self._clock(), list(pods)
        room = _Room(namespace, len(made), now, now + SECONDS - passed, _by_likeness(made))
        self._rooms[holder] = room
        self._put(room)
        self._shrink()

    def move(self, holder: Holder, pods: Iterable[PodInfo]) -> None:
        """Keep the room of these stand-ins in place of those that the holder has left, for as long as before."""
        room = self._rooms[holder]
        self._take(room)
        self._rooms[holder] = room = replace(room, pods=_by_likeness(pods))
        self._put(room)

    def release(self, holder: Holder) -> None:
        """Give up what is kept for the holder."""
        room = self._rooms.pop(holder, None)
        if room is not None and holder not in self._aside:
            self._take(room)

    def give_up(self, holder: Holder) -> None:
        """Give up what is kept for the holder, in vain if most of its pods have not come."""
        self._look_back(self._rooms[holder])
        self.release(holder)

    def expire(self) -> None:
        """Give up what has been kept for too long."""
        now = self._clock()
        for holder in [holder for holder, room in self._rooms.items() if room.until <= now]:
            self.give_up(holder)
        for room in self._cut:
            if room.until <= now:
                self._look_back(room)
        self._cut = [room for room in self._cut if room.until > now]
        self._vain = {namespace: until for namespace, until in self._vain.items() if until > now}

    def bound(self, pod: PodInfo) -> bool:
        """A pod has got its node: it holds its own room from now on.

        Returns whether it took the place of an equal stand-in on its node, so that all others are as good as before.
        """
        nodes, here = _stand_ins_of(pod, self._rooms.values())
        if nodes:
            self._drop(_taken(pod, nodes))
        if self._cut and (cut := _stand_ins_of(pod, self._cut)[0]):
            _taken(pod, cut)
        return here

    @contextlib.contextmanager
    def without(self, holders: Collection[Holder]) -> Iterator[None]:
        """The inventory without the stand-ins of these holders, for a while."""
        for holder in holders:
            self._take(self._rooms[holder])
        self._aside.update(holders)
        try:
            yield
        finally:
            for holder in self._aside & self._rooms.keys():
                self._put(self._rooms[holder])
            self._aside.clear()

    def _shrink(self) -> None:
        """Give up the oldest room of the namespace that has the most, until there is no more than there may be."""
        while self._most is not None:
            counts = {holder: sum(1 for _ in room.all()) for holder, room in self._rooms.items()}
            if sum(counts.values()) <= self._most:
                return
            by_namespace = Counter[str]()
            for holder, count in counts.items():
                by_namespace[self._rooms[holder].namespace] += count
            (largest, _), *_ = by_namespace.most_common(1)
            oldest = next(one for one, room in self._rooms.items() if room.namespace == largest)
            self._cut.append(_counted(self._rooms[oldest]))
            self.release(oldest)

    def _look_back(self, room: _Room) -> None:
        """The room ends: it was kept in vain if most of its pods have not come."""
        if 2 * sum(1 for _ in room.all()) > room.many:
            self._vain[room.namespace] = self._clock() + VAIN

    def _put(self, room: _Room) -> None:
        for pod in room.all():
            self._inventory.set_pod(pod)
            self._inventory.promised += 1

    def _take(self, room: _Room) -> None:
        for pod in room.all():
            self._drop(pod)

    def _drop(self, pod: PodInfo) -> None:
        """Take the stand-in out of the inventory, unless it is out for a while."""
        if self._inventory.has_pod(pod.uid):
            self._inventory.remove_pod(pod.uid)
            self._inventory.promised -= 1


def _stand_ins_of(pod: PodInfo, rooms: Iterable[_Room]) -> tuple[dict[str, list[PodInfo]] | None, bool]:
    """The stand-ins, by node, of which the pod takes the place of one; and whether one of them is on its own node."""
    own = [room.pods for room in rooms if room.namespace == pod.namespace]
    likeness = _likeness(pod)
    alike = [by_node for pods in own if (by_node := pods.get(likeness))]
    here = next((nodes for nodes in alike if pod.node in nodes), None)
    return here or next(iter(alike), None) or (_largest_within(pod, own) if pod.job else None), here is not None


def _taken(pod: PodInfo, nodes: dict[str, list[PodInfo]]) -> PodInfo:
    """Take one of these stand-ins out, on the pod's node if there is one."""
    node = pod.node if pod.node in nodes else next(iter(nodes))
    stand_in = nodes[node].pop()
    if not nodes[node]:
        del nodes[node]
    return stand_in


def _counted(room: _Room) -> _Room:
    """The room with one stand-in of each likeness, on no node, for as many: of a thousand only a list is kept."""
    by_likeness = ((likeness, [*itertools.chain(*nodes.values())]) for likeness, nodes in room.pods.items())
    return replace(room, pods={likeness: {"": alike[:1] * len(alike)} for likeness, alike in by_likeness if alike})


def _largest_within(
    pod: PodInfo, rooms: Iterable[dict[_Likeness, dict[str, list[PodInfo]]]]
) -> dict[str, list[PodInfo]] | None:
    """The stand-ins of the pod's job, by node, that request no more of anything than it does, and most in all."""
    most, largest, own = -1.0, None, pod.requests
    for room in rooms:
        for (job, requests), nodes in room.items():
            if nodes and job == pod.job and all(amount <= own.get(name, 0) for name, amount in requests):
                shares = sum(amount / own[name] for name, amount in requests if amount)
                if shares > most:
                    most, largest = shares, nodes
    return largest


def _by_likeness(pods: Iterable[PodInfo]) -> dict[_Likeness, dict[str, list[PodInfo]]]:
    by_likeness: dict[_Likeness, dict[str, list[PodInfo]]] = {}
    for pod in pods:
        by_likeness.setdefault(_likeness(pod), {}).setdefault(pod.node, []).append(pod)
    return by_likeness


def _likeness(pod: PodInfo) -> _Likeness:
    return pod.job, frozenset(pod.requests.items())
