"""Random DaemonSets some of whose pods could never run, and what their refusals advise."""

import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from tests.builders import NAMESPACE, Json, cluster, node, pod, typed
from tests.refused.census import Tried
from webhook.placement.decision.decision import Decision
from webhook.placement.decision.replica_fit import Replicas
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault
from webhook.placement.workload.workload import decide_replicas

ZONE: Final = "topology.kubernetes.io/zone"
MINE: Final = {"app": "ds"}
TOGETHER, BESIDE = "hostColocation", "run-with app=ds"
UNIFORM: Final = "uniform all-same-node"
NEAR: Final = {key: f"the pod's own pod affinity on {key}" for key in (keys.HOSTNAME, ZONE)}
AWAY: Final = {key: f"the pod's own anti-affinity on {key}" for key in (keys.HOSTNAME, ZONE)}
ONE_NODE: Final = frozenset({TOGETHER, BESIDE, UNIFORM, NEAR[keys.HOSTNAME]})
"""Clauses that leave one node to all pods."""

CLAUSES: Final = (*sorted(ONE_NODE), NEAR[ZONE], AWAY[keys.HOSTNAME], AWAY[ZONE])
COUNTED: Final = re.compile(r".* and one pod on every node cannot both hold: (\d+) of (\d+) pods can run\.")
DROPPED: Final = re.compile(r"drop (.*)")
DEPLOYED: Final = re.compile(
    r"use a Deployment(?P<one>, add a nodeSelector that one node(?: with the label (?P<key>\S+))? meets)?"
)


@dataclass(frozen=True)
class Machine:
    """A node: the values of two labels, the zone of which may be missing, and whether it is closed by a taint."""

    zone: str
    disk: str
    closed: bool


@dataclass(frozen=True)
class TriedDaemonSet:
    """A DaemonSet with these clauses, on nodes with one kind of ``disk`` or on the node of one name alone.

    As a Deployment it has so many ``replicas``; 0 stands for a DaemonSet.
    """

    machines: tuple[Machine, ...]
    clauses: frozenset[str]
    disk: str = ""
    name: str = ""
    replicas: int = 0

    def nodes(self) -> dict[str, Machine]:
        """The nodes that its template selects and that are open to it."""
        named = {f"node-{at}": one for at, one in enumerate(self.machines)}
        return {
            name: one
            for name, one in named.items()
            if self.name in ("", name) and self.disk in ("", one.disk) and not one.closed
        }

    def fitting(self) -> int:
        """How many of the pods, one on each node, can keep the clause that leaves least."""
        nodes = self.nodes()
        zones = Counter(one.zone for one in nodes.values() if one.zone)
        most = [len(nodes)]
        if self.clauses & ONE_NODE:
            most.append(1)
        if NEAR[ZONE] in self.clauses:
            most.append(max(zones.values(), default=0))
        if AWAY[ZONE] in self.clauses:
            most.append(len(zones) + sum(not one.zone for one in nodes.values()))
        return min(most)

    @cached_property
    def decision(self) -> Decision:
        """The decision about it."""
        taint = Taint("dedicated", "infra", "NoSchedule")
        inventory = cluster(
            node(
                f"node-{at}",
                labels={"disk": one.disk} | ({ZONE: one.zone} if one.zone else {}),
                taints=[taint] if one.closed else (),
            )
            for at, one in enumerate(self.machines)
        )
        replicas = Replicas(everywhere=True, selector=MINE)
        if self.replicas:
            replicas = Replicas(self.replicas, f"replicas {self.replicas}")
        decision = decide_replicas(typed(self._template()), NAMESPACE, inventory, Policy(), replicas)
        if not self.replicas and self.nodes() and not decision.problems:
            assert decision.refused is (self.fitting() < len(self.nodes())), (self, decision.message)
        return decision

    def _template(self) -> Json:
        annotations = {keys.UNIFORM: "all-same-node"} if UNIFORM in self.clauses else {}
        annotations |= {keys.RUN_WITH: "app=ds"} if BESIDE in self.clauses else {}
        affinity = {}
        for field, wanted in (("podAffinity", NEAR), ("podAntiAffinity", AWAY)):
            terms = [
                {"topologyKey": key, "labelSelector": {"matchLabels": MINE}}
                for key, clause in wanted.items()
                if clause in self.clauses
            ]
            affinity |= {field: {"requiredDuringSchedulingIgnoredDuringExecution": terms}} if terms else {}
        selector = ({"disk": self.disk} if self.disk else {}) | ({keys.HOSTNAME: self.name} if self.name else {})
        together = f'{TOGETHER}("a")' if TOGETHER in self.clauses else None
        return pod(together, pe=None, labels=MINE, annotations=annotations, affinity=affinity, nodeSelector=selector)

    def refused(self) -> bool:
        """Whether some of its pods could never run."""
        return self.decision.refused and bool(self.nodes()) and not self.decision.problems

    @property
    def fixes(self) -> tuple[str, ...]:
        """What is advised."""
        assert self.decision.refusal
        return tuple(map(str, self.decision.refusal.fixes))

    def check_fixes(self) -> bool:
        """Each way to follow each fix admits it."""
        for fix in self.fixes:
            ways = [*self.done(fix)]
            assert ways, self.decision.message
            for way in ways:
                assert not way.decision.refused, (fix, self.decision.message, way.decision.message)
        return True

    def check_smallest(self) -> bool:
        """So many pods can run as the first line says, for a fault of the request itself."""
        counted = COUNTED.match(self.decision.headline)
        assert counted, self.decision.message
        assert (int(counted[1]), int(counted[2])) == (self.fitting(), len(self.nodes())), self.decision.message
        assert self.decision.fault is Fault.INVALID
        return True

    def followed(self) -> list[Tried]:
        """The DaemonSet after the first fix."""
        return [*self.done(self.fixes[0])]

    def done(self, fix: str) -> Iterator["TriedDaemonSet"]:
        """The DaemonSet after the fix, in every way to do it."""
        if said := DROPPED.fullmatch(fix):
            gone = {clause for clause in CLAUSES if clause in said[1]}
            assert gone, fix
            yield replace(self, clauses=self.clauses - gone)
            return
        said = DEPLOYED.fullmatch(fix)
        assert said, fix
        yield replace(self, replicas=1)
        for name, one in self.nodes().items() if said["one"] else ():
            if one.zone or said["key"] != ZONE:
                yield replace(self, name=name)


def random_daemon_set(seed: int) -> TriedDaemonSet:
    """The DaemonSet of that number and its cluster."""
    chance = random.Random(f"daemon {seed}")  # noqa: S311 -- the same cases each time
    machines = tuple(
        Machine(chance.choice(("a", "a", "b", "b", "c", "")), chance.choice(("ssd", "hdd")), chance.random() < 0.2)
        for _ in range(chance.randint(1, 5))
    )
    clauses = frozenset(chance.sample(CLAUSES, chance.choice((1, 1, 2, 3))))
    return TriedDaemonSet(machines, clauses, chance.choice(("", "", "ssd")))
