"""Two pods of one moment are judged without knowing of each other: what they say must hold all the same."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from hypothesis import assume, event, given

from tests.placement.properties.random_choices import RandomChoices, drawn, examples
from tests.scheduling import product_answers
from tests.scheduling.amounts import counted, requested
from tests.scheduling.clause_meaning import broken
from tests.scheduling.clusters import CLUSTER_BYTES, RandomCluster
from tests.scheduling.passing_conditions import goes_past
from tests.scheduling.pods import POD_BYTES, asking
from tests.scheduling.scheduler import host_ports, possible
from tests.scheduling.state import Cluster, manifests

Json = Mapping[str, Any]


class Pair(NamedTuple):
    """Two pods that are created at once, the second after the first if anybody asks for an order."""

    cluster: Cluster
    first: dict[str, Any]
    second: dict[str, Any]
    choice: int

    def __repr__(self) -> str:
        """The cluster and both pods in YAML."""
        return f"{self.cluster!r}# created at once:{manifests([self.first, self.second])}"


def pair(choices: RandomChoices) -> Pair:
    random_cluster = RandomCluster(choices.part(CLUSTER_BYTES))
    one, other = (asking(choices.part(POD_BYTES), random_cluster.names, at, calm=choices.chance(5)) for at in (8, 9))
    if choices.chance(5):
        # Twins: what a controller makes, or a person twice.
        other = {**one, "metadata": {**other["metadata"], **_same(one)}}
    for pod in (one, other):
        pod["spec"].pop("schedulingGates", None)
    return Pair(random_cluster.cluster, one, other, choices.face(256))


def _same(pod: Json) -> Json:
    return {key: value for key, value in pod["metadata"].items() if key not in {"name", "uid"}}


MAKE = pair, CLUSTER_BYTES + 2 * POD_BYTES + 4


@given(drawn(MAKE[1], MAKE[0]))
@examples(500)
def test_what_two_pods_of_one_moment_say_holds_when_both_are_bound(found: Pair) -> None:
    """Whoever is bound by the webhook is bound at once; then the scheduler comes, one pod after the other.

    A pod that asked to go past the scheduler was warned of just this.
    """
    assume(not goes_past(found.first) and not goes_past(found.second))
    moment = product_answers.Replica(found.cluster)
    pods = []
    for raw in (found.first, found.second):
        ruling = product_answers.admitted(raw, found.cluster, moment=moment)
        assume(ruling.pod is not None)
        assert ruling.pod is not None
        pods.append((raw, ruling.pod))
    pods.sort(key=lambda both: not both[1]["spec"].get("nodeName"))
    cluster, placed = found.cluster, list[tuple[Json, str]]()
    for raw, pod in pods:
        bound = pod["spec"].get("nodeName")
        places = [bound] if bound else possible(pod, cluster)
        event(f"{'bound by us' if bound else 'left to the scheduler'}, {'a place' if places else 'none'}")
        if places:
            name = places[found.choice % len(places)]
            assert not broken(raw, cluster.by_name[name], cluster), name
            cluster = cluster.plus(pod, name)
            placed.append((raw, name))
    for _, name in placed:
        assert not _overfull(name, cluster), name


def _overfull(name: str, cluster: Cluster) -> list[str]:
    """Resources and host ports of which the node's pods have too many."""
    pods = [pod for pod, node in cluster.standing() if node["metadata"]["name"] == name]
    room = counted(cluster.by_name[name]["status"]["allocatable"])
    used = [requested(pod) | {"pods": 1} for pod in pods]
    ports = [port for pod in pods for port in host_ports(pod)]
    over = [what for what in room if sum(one.get(what, 0) for one in used) > room[what]]
    return over + [str(port) for port in ports if ports.count(port) > 1]
