"""Random NodePools, and pods that need a node of one of them."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tests.e2e.autoscaling.karpenter import REFERENCE
from tests.e2e.client.api import Object
from webhook.placement.text import keys

SPACE: Final = "scaled"
CASE: Final = "example.com/case"
"""The label by which pods of a case want nodes of its own NodePools."""

_NUMBERS: Final = "example.com/cores"
_USERS: Final = {"example.com/disk": ("a", "b", "c"), "example.com/rack": ("a", "b"), _NUMBERS: ("2", "3", "4", "5")}
OF_USERS: Final = frozenset(_USERS)
"""Labels that are none of machines."""

_VALUES: Final = {
    **_USERS,
    "topology.kubernetes.io/zone": ("test-zone-a", "test-zone-b", "test-zone-c"),
    "kubernetes.io/arch": ("amd64", "arm64"),
    "karpenter.sh/capacity-type": ("spot", "on-demand"),
    "karpenter.kwok.sh/instance-cpu": ("2", "4", "8", "16"),
    "karpenter.kwok.sh/instance-family": ("c", "m"),
}
"""Labels, of users and of machines, with the values that requirements name."""

_OPERATORS: Final = ("In", "In", "In", "NotIn", "Exists", "DoesNotExist", "Compared")
_PLACEMENTS: Final = (
    'hostExlocation("apart")',
    'hostExlocation("apart")',
    "hostIsolation",
    'hostColocation("together")',
)


@dataclass(frozen=True)
class ScalingCase:
    """NodePools, and pods that are created one after the other; ``mark`` is in the names of all of them."""

    number: int
    mark: str
    node_pools: tuple[Object, ...]
    pods: tuple[Object, ...]


def scaling_cases(first: int, count: int) -> Iterator[ScalingCase]:
    """So many cases from a number on. The same number is always the same case."""
    for number in range(first, first + count):
        dice, mark = random.Random(number), f"case-{number}"  # noqa: S311 -- no secret
        node_pools = tuple(_node_pool(dice, mark, f"{mark}-{at}") for at in range(dice.randint(1, 2)))
        yield ScalingCase(number, mark, node_pools, tuple(_pod(dice, mark, f"{mark}-{at}") for at in range(2)))


def _requirement(dice: random.Random, bounds: tuple[str, ...]) -> Object:
    key, operator = dice.choice([*_VALUES]), dice.choice(_OPERATORS)
    if operator == "Compared":
        key = dice.choice((_NUMBERS, "karpenter.kwok.sh/instance-cpu"))
        return {"key": key, "operator": dice.choice(bounds), "values": [dice.choice(_VALUES[key])]}
    if operator in {"Exists", "DoesNotExist"}:
        return {"key": key, "operator": operator}
    most = 1 if operator == "NotIn" else 2
    return {"key": key, "operator": operator, "values": dice.sample(_VALUES[key], dice.randint(1, most))}


def _node_pool(dice: random.Random, mark: str, name: str) -> Object:
    needs = [_requirement(dice, ("Gt", "Gte", "Lt", "Lte")) for _ in range(dice.randint(0, 3))]
    needs = [need | {"minValues": len(need.get("values", "ab"))} if dice.random() < 0.1 else need for need in needs]
    claim: Object = {"requirements": needs, "nodeClassRef": REFERENCE, "expireAfter": "Never"}
    if dice.random() < 0.3:
        claim["taints"] = [{"key": "t", "value": dice.choice("xy"), "effect": dice.choice(("NoSchedule", "NoExecute"))}]
    if dice.random() < 0.2:
        claim["startupTaints"] = [{"key": "startup", "effect": "NoSchedule"}]
    labels = {CASE: mark}
    if dice.random() < 0.5:
        key = dice.choice(("example.com/disk", "example.com/rack", _NUMBERS))
        value = dice.choice(_VALUES[key])
        # Karpenter makes nodes for a NodePool whose requirements exclude its own labels, and takes them away again.
        labels |= {key: value} if key not in {need["key"] for need in needs} else {}
    spec: Object = {
        "template": {"metadata": {"labels": labels}, "spec": claim},
        "disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "Never"},
        "weight": dice.randint(1, 100),
    }
    limits = {"cpu": str(dice.randint(1, 20)), "memory": f"{dice.randint(2, 40)}Gi", "nodes": str(dice.randint(1, 2)),
              "example.com/gpu": "0"}  # fmt: skip
    if dice.random() < 0.5:
        spec["limits"] = {key: limits[key] for key in dice.sample([*limits], dice.randint(1, 2))}
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name}, "spec": spec}


def _pod(dice: random.Random, mark: str, name: str) -> Object:
    chosen = {CASE: mark}
    if dice.random() < 0.4:
        key = dice.choice([*_VALUES])
        chosen[key] = dice.choice(_VALUES[key])
    requests = {"cpu": str(dice.randint(1, 9)), "memory": f"{dice.randint(1, 8)}Gi"}
    main = {"name": "main", "image": "example.invalid/main", "resources": {"requests": requests}}
    spec: Object = {"nodeSelector": chosen, "containers": [main]}
    if dice.random() < 0.5:
        terms = [
            {"matchExpressions": [_requirement(dice, ("Gt", "Lt")) for _ in range(dice.randint(1, 2))]}
            for _ in range(dice.randint(1, 2))
        ]
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        spec["affinity"] = {"nodeAffinity": required}
    if dice.random() < 0.5:
        spec["tolerations"] = [{"key": "t", "operator": "Equal", "value": dice.choice("xy")}]
    metadata: Object = {
        "name": name,
        "namespace": SPACE,
        "labels": {keys.JOB: mark, keys.PE: name, CASE: mark},
        "annotations": {keys.PLACEMENT: dice.choice(_PLACEMENTS)},
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
