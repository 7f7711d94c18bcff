"""``ModelBatch``: clusters side by side whose scheduler is a model, for tests of everything but the control plane."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from tests.e2e.client.api import Answer
from tests.scheduling.pod_defaults import preempting
from tests.scheduling.scheduler import possible
from tests.scheduling.state import Cluster

Json = Mapping[str, Any]
Object = dict[str, Any]


class ModelBatch:
    """Binds each pod to any node where it can be; pods that cannot be bound are tried again in each pause."""

    def __init__(self, clusters: Mapping[str, Cluster], seed: int = 0) -> None:
        self._clusters = dict(clusters)
        self._waiting: dict[str, list[Object]] = {mark: [] for mark in clusters}
        self._dice = random.Random(seed)  # noqa: S311 -- dice

    def cluster(self, mark: str) -> Cluster:
        """The cluster with the pods that are bound."""
        return self._clusters[mark]

    def pods(self, mark: str) -> list[Object]:
        """All pods in it."""
        return [*map(dict, self._clusters[mark].pods), *self._waiting[mark]]

    def create(self, pods: Sequence[Json]) -> list[Answer]:
        """Every pod is taken; the name of a namespace begins with the mark of its cluster."""
        for pod in pods:
            mark = pod["metadata"]["namespace"].removesuffix("-b")
            if pod["spec"].get("nodeName"):
                self._clusters[mark] = self._clusters[mark].plus(pod, pod["spec"]["nodeName"])
            else:
                self._waiting[mark].append(dict(pod))
        return [Answer(201, pod) for pod in pods]

    def decided(self, expected: Sequence[tuple[Json, bool]]) -> list[Object]:
        """Try them; nobody asks for the result."""
        if expected:
            self.pause()
        return []

    def pause(self) -> None:
        """Try every pod that waits once."""
        for mark, waiting in self._waiting.items():
            left = []
            for pod in waiting:
                places = possible(pod, self._clusters[mark])
                if places:
                    self._clusters[mark] = self._clusters[mark].plus(pod, self._dice.choice(places))
                elif found := list(preempting(pod, self._clusters[mark])):
                    place, emptied = self._dice.choice(found)
                    self._clusters[mark] = emptied.plus(pod, place)
                else:
                    left.append(pod)
            self._waiting[mark] = left
