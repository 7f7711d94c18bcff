"""Replicas by several topology keys at once, against every order in which the scheduler could place them."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import assume, event, given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.placement.properties import decision_core
from tests.placement.properties.clusters import TEAM, Cluster, Json
from tests.placement.properties.oracle.topology import PREFIX
from tests.placement.properties.random_choices import RandomChoices, drawn, examples
from webhook.placement.decision.decision import Decision
from webhook.placement.decision.replica_fit import Replicas
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import PodInfo
from webhook.placement.workload.workload import decide_replicas

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
JOB = {f"{PREFIX}job": "j"}
OWN = {"matchLabels": JOB}
WEB = {"matchLabels": {"app": "web"}}
KEYS = ("zone", "rack", "kubernetes.io/hostname")
CLOSED = (Taint("dedicated", "x", "NoSchedule"),)

Counts = tuple[int, ...]
"""How many of the pods each node holds."""


def small(choices: RandomChoices) -> Cluster:
    """Up to four nodes of one to three places, by zones and racks, and up to three pods of the job."""
    names = ("a", "b", "c", "d")[: 1 + choices.face(4)]
    nodes = []
    for name in names:
        labels = {key: choices.pick(["1", "2", "1", ""]) for key in KEYS[:2]} | {
            KEYS[2]: choices.pick([name] * 5 + ["h", ""])
        }
        found = {key: value for key, value in labels.items() if value}
        taints = CLOSED if choices.chance(2) else ()
        nodes.append(Node(name, name, found, taints, (), {"pods": 1 + choices.face(3), "cpu": 1000}))
    where = [choices.pick(names) for _ in range(choices.face(4))]
    pods = (PodInfo(f"p{at}", TEAM, name, {}, "j", "other", labels=JOB) for at, name in enumerate(where))
    return Cluster(tuple(nodes), tuple(pods))


def limited(choices: RandomChoices) -> Json:
    """A pod of the job with up to three limits by topology keys, as a Deployment's template says it."""
    away = [{"topologyKey": key, "labelSelector": OWN} for key in choices.some(KEYS, 2)]
    spread = [_constraint(choices, key) for key in choices.some(KEYS, 2)]
    spec: Json = {"topologySpreadConstraints": spread, "affinity": {"podAntiAffinity": {REQUIRED: away}}}
    metadata = {
        "labels": {**JOB, f"{PREFIX}pe": "mine", "app": "web"},
        "ownerReferences": [{"kind": "Deployment", "name": "w", "controller": True}],
    }
    return {"metadata": metadata, "spec": {"containers": [{"name": "c"}], **spec}}


def _constraint(choices: RandomChoices, key: str) -> Json:
    found: Json = {"maxSkew": 1 + choices.face(2), "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}
    found |= {"labelSelector": choices.pick([OWN, OWN, WEB])}
    if choices.chance(3):
        found["matchLabelKeys"] = ["pod-template-hash"]
    if choices.chance(3):
        found["minDomains"] = 1 + choices.face(3)
    if choices.chance(3):
        found["nodeTaintsPolicy"] = "Honor"
    return found


class Scheduler:
    """The real one's rules for such pods, in plain loops, where it is known what runs."""

    def __init__(self, pod: Json, cluster: Cluster) -> None:
        self.nodes, self.pods = cluster.nodes, cluster.pods
        self.away = [term["topologyKey"] for term in pod["spec"]["affinity"]["podAntiAffinity"][REQUIRED]]
        self.spread: Sequence[Any] = pod["spec"]["topologySpreadConstraints"]

    def most(self, there: Counts) -> int:
        """How many more of the pods can be placed one after another."""
        best: dict[Counts, int] = {}

        def search(held: Counts) -> int:
            if held not in best:
                more = (tuple(n + (at == other) for other, n in enumerate(held)) for at in self.open(held))
                best[held] = max((1 + search(after) for after in more), default=0)
            return best[held]

        return search(there)

    def open(self, held: Counts) -> Iterator[int]:
        """The nodes that can take one more of them."""
        for at, node in enumerate(self.nodes):
            if (
                not node.taints
                and held[at] < node.allocatable["pods"]
                and self.apart(node, held)
                and self.even(node, held)
            ):
                yield at

    def apart(self, node: Node, held: Counts) -> bool:
        """No other of them is in one of its domains; others that are there already are not known."""
        return not any(
            held[at] and key in node.labels and node.labels[key] == other.labels.get(key)
            for key in self.away
            for at, other in enumerate(self.nodes)
        )

    def even(self, node: Node, held: Counts) -> bool:
        """It is not too far ahead in any of its domains."""
        keys = [one["topologyKey"] for one in self.spread]
        labelled = [at for at, found in enumerate(self.nodes) if all(key in found.labels for key in keys)]
        for one in self.spread:
            key, counts = one["topologyKey"], dict[str, int]()
            if key not in node.labels:
                return False
            for at in labelled:
                other = self.nodes[at]
                if one.get("nodeTaintsPolicy") != "Honor" or not other.taints:
                    found = held[at] + self.others(one, other)
                    counts[other.labels[key]] = counts.get(other.labels[key], 0) + found
            fewest = 0 if len(counts) < one.get("minDomains", 1) else min(counts.values(), default=0)
            if counts.get(node.labels[key], 0) + 1 - fewest > one["maxSkew"]:
                return False
        return True

    def others(self, one: Json, node: Node) -> int:
        """How many pods of others it counts there: none are of the same revision."""
        if one["labelSelector"] is WEB or "matchLabelKeys" in one:
            return 0
        return sum(pod.node == node.name for pod in self.pods)


def decided(pod: Json, cluster: Cluster, count: int, owner: str = "") -> Decision:
    """What becomes of so many of the pods."""
    replicas = Replicas(count, f"replicas {count}", owner=owner)
    return decide_replicas(
        decision_core.read(pod), TEAM, decision_core.inventory(cluster), decision_core.POLICY, replicas
    )


@given(drawn(60, small), drawn(40, limited), st.integers(1, 6))
@examples(400)
def test_what_the_scheduler_could_place_is_never_refused(cluster: Cluster, pod: Json, count: int) -> None:
    """Nor is what could run if others of the job, whose labels are not known, did not."""
    found = Scheduler(pod, cluster)
    nobody = (0,) * len(cluster.nodes)
    decision = decided(pod, cluster, count)
    event(f"refused: {decision.refused}")
    if decision.refused:
        assert found.most(nobody) < count, decision.message


@given(drawn(60, small), drawn(40, limited), st.integers(1, 6))
@examples(250)
def test_with_one_limit_what_is_admitted_can_run(cluster: Cluster, pod: Json, count: int) -> None:
    spec = pod["spec"]
    assume(len(spec["topologySpreadConstraints"]) + len(spec["affinity"]["podAntiAffinity"][REQUIRED]) == 1)
    assume(not any(one["labelSelector"] is WEB for one in spec["topologySpreadConstraints"] if len(one) == 4))
    decision = decided(pod, cluster, count)
    if not decision.warnings:
        assert decision.refused == (Scheduler(pod, cluster).most((0,) * len(cluster.nodes)) < count), decision.message


@given(drawn(60, small), drawn(40, limited), st.integers(1, 6))
@examples(200)
def test_pods_of_the_workload_itself_may_stay_where_they_are(cluster: Cluster, pod: Json, count: int) -> None:
    """On nodes that are closed by now, too, whose domains would else hold the others back."""
    pod["spec"]["affinity"]["podAntiAffinity"][REQUIRED] = []
    assume(len(pod["spec"]["topologySpreadConstraints"]) == 1)
    own = [at for at in range(len(cluster.pods)) if at % 2]
    live = tuple(replace(one, owner="Deployment/w") if at in own else one for at, one in enumerate(cluster.pods))
    gone = Cluster(cluster.nodes, tuple(found for at, found in enumerate(cluster.pods) if at not in own))
    at = {node.name: place for place, node in enumerate(cluster.nodes)}
    stay = [at[cluster.pods[one].node] for one in own]
    kept = itertools.chain.from_iterable(itertools.combinations(stay, size) for size in range(len(stay) + 1))
    scheduler = Scheduler(pod, gone)
    [key] = (one["topologyKey"] for one in pod["spec"]["topologySpreadConstraints"])
    plain = sum(node.allocatable["pods"] for node in cluster.nodes if not node.taints and key in node.labels)
    found = [(len(some), scheduler.most(tuple(some.count(place) for place in range(len(at))))) for some in kept]
    best = max((old + new for old, new in found if new), default=0)  # a change is reviewed if it brings new pods
    decision = decided(pod, Cluster(cluster.nodes, live), count, "Deployment/w")
    if decision.refused:
        assert min(plain, best) < count, decision.message
