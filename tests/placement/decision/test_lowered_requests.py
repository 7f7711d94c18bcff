"""To what requests are to be lowered is enough, also where topology spread constraints count pods on other nodes."""

import random
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.builders import Json, bound_pod, cluster, decided, node, pod, pool
from tests.placement.spreading_pods import spread
from tests.suite.example_count import some_of
from tests.workload_templates import crowded
from webhook.placement.decision.decision import Decision
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.node import Node
from webhook.placement.text import keys
from webhook.placement.text.clause import Source
from webhook.placement.text.fix import Drop

CASES = some_of(3000)
BATCH = 500
MOST = 4
"""Nodes, pods that run there, and replicas."""

GROUP = {keys.COLOCATION + keys.digest("g"): "g"}
PLACEMENTS = (
    None,
    None,
    'hostExlocation("t")',
    'host("a")',
    "host(P)",
    "host(X)",
    'hostColocation("g")',
    "hostIsolation",
)
POOLS = [pool("P", tags=["x"]), pool("X", size=1, mode="Exclusive", assigned=["a"])]
CLOSED = Taint("dedicated", "x", "NoSchedule")


@dataclass(frozen=True)
class Asked:
    """A pod in a cluster: its clauses and requests, or so many of it."""

    inventory: Inventory
    cpu: str
    placement: str | None = None
    selector: tuple[tuple[str, str], ...] = ()
    spreads: tuple[Json, ...] = ()

    def decided(self, count: int = 0) -> Decision:
        """The decision about the pod, or about so many replicas."""
        spec: dict[str, Any] = {"nodeSelector": dict(self.selector), "topologySpreadConstraints": [*self.spreads]}
        if count:
            return crowded(self.placement, count, self.inventory, requests={"cpu": self.cpu}, **spec)
        return decided(pod(self.placement, requests={"cpu": self.cpu}, **spec), self.inventory)

    def after(self, fix: Drop) -> "Asked":
        """The pod as the fix says."""
        asked = replace(self, cpu=fix.to.removeprefix("cpu "))
        for clause in (clause for verb, clause in fix.steps if verb == "drop"):
            if clause.source is Source.PLACEMENT:
                asked = replace(asked, placement=None)
            elif clause.source is Source.NODE_SELECTOR:
                asked = replace(asked, selector=())
            else:
                key = clause.text.split(" ")[1]
                asked = replace(asked, spreads=tuple(one for one in asked.spreads if one["topologyKey"] != key))
        return asked


def random_asked(chance: random.Random) -> Asked:
    """Few nodes in few domains, some pods of the job, and a pod that is spread and requests much."""
    nodes = [_node(chance, name) for name in "abcd"[: chance.randint(2, MOST)]]
    running = [
        bound_pod(
            chance.choice(nodes).name,
            requests={"cpu": chance.choice([0, 500, 1000])},
            labels=GROUP if chance.random() < 0.2 else {},
        )
        for _ in range(chance.randint(0, MOST))
    ]
    spreads = [
        spread(key, **_policies(chance))[0]
        for key in chance.sample(["zone", "disk", "kubernetes.io/hostname"], chance.choice([1, 1, 2]))
    ]
    disk = chance.choice([(), (("disk", "ssd"),), (("disk", "hdd"),)])
    inventory = cluster(nodes, POOLS, pods=running)
    return Asked(inventory, chance.choice(["2", "3", "5", "16"]), chance.choice(PLACEMENTS), disk, tuple(spreads))


def _node(chance: random.Random, name: str) -> Node:
    labels = {"zone": chance.choice(["1", "2", "3", ""]), "disk": chance.choice(["ssd", "hdd", ""])}
    labels[keys.TAG] = chance.choice(["x", ""])
    taints = [CLOSED] if chance.random() < 0.15 else []
    stated = {key: value for key, value in labels.items() if value}
    return node(name, labels=stated, cpu=1000 * chance.randint(1, 4), taints=taints)


def _policies(chance: random.Random) -> dict[str, Any]:
    more: dict[str, Any] = {}
    if chance.random() < 0.5:
        more["nodeAffinityPolicy"] = chance.choice(["Honor", "Ignore"])
    if chance.random() < 0.3:
        more["nodeTaintsPolicy"] = "Honor"
    if chance.random() < 0.3:
        more["minDomains"] = chance.choice([2, 3])
    return more


def lowering(found: Decision) -> list[Drop]:
    """The fixes of a refusal that say to what requests are to be lowered."""
    return [fix for fix in found.refusal.fixes if isinstance(fix, Drop) and fix.to] if found.refusal else []


@pytest.mark.examples
@pytest.mark.parametrize("first", range(0, CASES, BATCH))
def test_as_many_nodes_fit_a_pod_as_the_fix_says(first: int) -> None:
    for seed in range(first, min(first + BATCH, CASES)):
        asked = random_asked(random.Random(seed))  # noqa: S311 -- the same cases each time
        for fix in lowering(asked.decided()):
            after = asked.after(fix).decided()
            fitting = after.verdict.candidates.bit_count() if after.verdict and not after.refused else 0
            assert f"{fitting} node{'s' * (fitting != 1)} would fit" == fix.gain, (seed, str(fix))


@pytest.mark.examples
@pytest.mark.parametrize("first", range(0, CASES, BATCH))
def test_as_many_replicas_fit_as_the_fix_says(first: int) -> None:
    for seed in range(first, min(first + BATCH, CASES)):
        chance = random.Random(seed)  # noqa: S311 -- the same cases each time
        asked, count = random_asked(chance), chance.randint(2, MOST)
        for fix in lowering(asked.decided(count)):
            if "node" in fix.gain:
                continue  # not even one of the pods can run
            fitting = int(fix.gain.removesuffix(f" of {count} would fit"))
            after = asked.after(fix)
            assert not after.decided(fitting).refused, (seed, str(fix))
            assert fitting == count or after.decided(fitting + 1).refused, (seed, str(fix))


def test_without_a_host_pods_in_other_domains_count() -> None:
    """On its host the pod could run whatever runs in other zones; a pod that may run anywhere is kept off zone 1."""
    nodes = [node("a", labels={"zone": "1"}), node("b", labels={"zone": "2"}, cpu=4000)]
    inventory = cluster(nodes, pods=[bound_pod("a", requests={"cpu": 500})])
    asked = Asked(inventory, "16", 'host("gone")', spreads=(spread("zone")[0],))
    assert asked.decided().message.endswith(
        'drop host("gone") and lower requests cpu 16 to cpu 4 (1 node would fit).'
    ), asked.decided().message
