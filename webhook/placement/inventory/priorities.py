"""Amounts and pods by priority: what a pod of some priority can take from pods of lower priorities by preemption.

Most pods have priority 0, for which nothing is kept. (Kubernetes, Pod Priority and Preemption; the scheduler's plugin
``DefaultPreemption``: only pods of a strictly lower priority can be preempted.)
"""

from collections.abc import Container, Iterator

import numpy as np

from webhook.placement.inventory.capacity import Capacity, Row
from webhook.placement.kube.amounts import Tally
from webhook.placement.objects.pod import PodInfo


class Priorities:
    """Used amounts by priority and resource, and the priorities of pods; nothing of pods of priority 0."""

    __slots__ = ("_of", "_used")

    def __init__(self) -> None:
        self._of: dict[str, int] = {}
        self._used: dict[int, Capacity] = {}

    def add(self, slot: int, pod: PodInfo) -> None:
        """A pod is bound to ``slot``."""
        if pod.priority:
            self._of[pod.uid] = pod.priority
            self._used.setdefault(pod.priority, Capacity()).take(slot, pod.requests)

    def remove(self, uid: str, slot: int, requests: Tally) -> None:
        """The pod is gone."""
        priority = self._of.pop(uid, None)
        if priority is not None:
            self._used[priority].take(slot, requests, -1)

    def of(self, uid: str) -> int:
        """The priority of a bound pod."""
        return self._of.get(uid, 0)

    def any_below(self, level: int, count: int) -> bool:
        """Whether any of so many pods may have a lower priority."""
        if level <= 0:
            return any(priority < level for priority in self._of.values())
        return sum(priority >= level for priority in self._of.values()) < count

    def below(self, level: int, resource: str, capacity: Capacity, size: int) -> Row:
        """What pods of priorities below ``level`` use of the resource, in so many slots; all pods use ``capacity``."""
        if level <= 0:
            return _sum((used for priority, used in self._used.items() if priority < level), resource, size)
        others = _sum((used for priority, used in self._used.items() if priority >= level), resource, size)
        return _sized(capacity.rows(resource)[1], size) - others


def _sum(capacities: Iterator[Capacity], resource: str, size: int) -> Row:
    total = np.zeros(size, np.int64)
    for used in capacities:
        total += _sized(used.rows(resource)[1], size)
    return total


def _sized(row: Row, size: int) -> Row:
    """The row with so many slots."""
    return np.concatenate([row, np.zeros(max(size - len(row), 0), np.int64)])[:size]


class LowerPods:
    """A set of uids: pods of a priority below ``level``, and these ``others``, such as those of a job that restarts."""

    __slots__ = ("_level", "_others", "_priorities")

    def __init__(self, priorities: Priorities, level: int, others: Container[str]) -> None:
        self._priorities = priorities
        self._level = level
        self._others = others

    def __contains__(self, uid: object) -> bool:
        """Whether the pod counts as gone."""
        return str(uid) in self._others or self._priorities.of(str(uid)) < self._level
