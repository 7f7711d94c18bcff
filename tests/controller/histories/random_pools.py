"""Pools come, change and go, and people edit what the controller says of them."""

from typing import Any, Final

from tests.apiserver.paths import POOLS, pool_path
from tests.controller.histories.random_cluster import RandomCluster, path_of
from tests.controller.histories.random_nodes import POOL_NAMES

Json = dict[str, Any]

SPECS: Final[list[Json]] = [
    {"size": 1, "mode": "Exclusive"},
    {"size": 2, "mode": "Exclusive"},
    {"size": 3, "mode": "Exclusive"},
    {"size": 2, "mode": "Exclusive", "tags": ["ib"], "elastic": True},
    {"size": 2},
    {"size": 2, "tags": ["ib"]},
    {"size": 3, "elastic": True},
    {"hosts": ["node-a", "10.0.0.2"]},
    {"hosts": ["node-b"]},
    {"tags": ["ib"]},
    {},
]
BROKEN: Final[list[Json]] = [
    {"hosts": [{"index": 0, "name": "node-a"}, {"index": 1, "name": "node-a"}]},
    {"hosts": [{"index": 99, "name": "node-a"}]},
    {"hosts": [{"index": "none"}]},
    {"phase": "Bogus"},
    {"phase": "Pending"},
    {"phase": "Failed", "hosts": []},
    {"phase": "Releasing"},
    {"conditions": [{"type": "Audited", "status": "True"}]},
]


class RandomPools:
    """Things that happen to pools."""

    def __init__(self, random_cluster: RandomCluster) -> None:
        self._random_cluster = random_cluster
        self._kube = random_cluster.kube
        self._dice = random_cluster.random

    def pool_comes(self) -> None:
        namespace, name = self._dice.choice(POOL_NAMES)
        if pool_path(name, namespace) not in self._kube.objects:
            spec = {**self._dice.choice(SPECS), "name": self._dice.choice([name.upper(), name.upper(), "P0"])}
            self._kube.create(pool_path(name, namespace), spec=spec)
            self._random_cluster.tell(f"pool {namespace}/{name} comes: {spec}")

    def pool_goes(self) -> None:
        if pool := self._random_cluster.any(POOLS):
            self._kube.delete(path_of(pool))
            self._random_cluster.tell(f"pool {path_of(pool)} goes")

    def pool_loses_its_finalizer(self) -> None:
        if pool := self._random_cluster.any(POOLS):
            self._kube.change(path_of(pool), {"metadata": {"finalizers": None}})
            if self._dice.random() < 0.5 and path_of(pool) in self._kube.objects:
                self._kube.delete(path_of(pool))
            self._random_cluster.tell(
                f"pool {path_of(pool)} loses its finalizer, {path_of(pool) in self._kube.objects}"
            )

    def pool_is_edited(self) -> None:
        if pool := self._random_cluster.any(POOLS):
            change = self._dice.choice(BROKEN)
            self._random_cluster.meddled.add(pool["metadata"]["uid"])
            self._kube.change(path_of(pool), {"status": change})
            self._random_cluster.tell(f"pool {path_of(pool)} status {change}")

    def pool_becomes_elastic(self) -> None:
        pool = self._random_cluster.any(POOLS)
        if pool and "size" in pool["spec"]:
            self._kube.change(path_of(pool), {"spec": {"elastic": not pool["spec"].get("elastic", False)}})
            self._random_cluster.tell(f"pool {path_of(pool)} is elastic or not")
