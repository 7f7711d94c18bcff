"""The steps in a random cluster: pods that are created one after the other, or at the same moment."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.placement.properties.random_choices import RandomChoices
from tests.scheduling.clusters import CLUSTER_BYTES, RandomCluster
from tests.scheduling.pods import POD_BYTES, asking
from tests.scheduling.state import Cluster, manifests
from tests.scheduling.workloads import WORKLOAD_BYTES, count_of, pod_of, workload

Json = Mapping[str, Any]

_BYTES: Final = CLUSTER_BYTES + WORKLOAD_BYTES + POD_BYTES + 8
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, repr=False)
class Script:
    """A cluster and the pods that are created in it; ``at_once`` if all are judged before any is bound."""

    number: int
    mark: str
    cluster: Cluster
    pods: tuple[Json, ...]
    at_once: bool = False
    workload: Json | None = None
    """Whose pods they are, one after the other."""

    def __repr__(self) -> str:
        """The number it can be played again by, the cluster and the pods in YAML."""
        return f"script {self.number}{self.cluster!r}# created{' at once' * self.at_once}:{manifests(self.pods)}"

    @property
    def wanted(self) -> int | None:
        """How many pods the workload is to have, as the API server would say."""
        return len(self.pods) if self.workload else None

    @property
    def looks_around(self) -> bool:
        """Whether a pod counts nodes that it does not select, so that no other cluster may be beside this one."""
        spreads = [one for pod in self.pods for one in pod["spec"].get("topologySpreadConstraints") or ()]
        return any(one.get("nodeAffinityPolicy") == "Ignore" for one in spreads)


def scripts(first: int, count: int) -> Iterator[Script]:
    """So many scripts from a number on. The same number is always the same script."""
    for number in range(first, first + count):
        yield script(number)


def script(number: int) -> Script:
    """The script of this number: one pod, two at once, or those of a workload; without strangers every other time."""
    choices = RandomChoices(random.Random(number).randbytes(_BYTES))  # noqa: S311 -- dice
    mark = f"{_LETTERS[number // 64 % 26]}{number % 64}"
    kind = choices.face(4)
    random_cluster = RandomCluster(choices.part(CLUSTER_BYTES), mark, strangers=choices.chance(4))
    if kind == 3:
        found = workload(choices.part(WORKLOAD_BYTES), random_cluster.names)
        made = [pod_of(found, at) for at in range(count_of(found))]
        return Script(number, mark, random_cluster.cluster, tuple(made), workload=found)
    names = range(8, 10 if kind == 2 else 9)
    pods = [asking(choices.part(POD_BYTES), random_cluster.names, at, calm=choices.chance(3)) for at in names]
    for pod in pods:
        pod["spec"].pop("schedulingGates", None)
    return Script(number, mark, random_cluster.cluster, tuple(pods), at_once=kind == 2)
