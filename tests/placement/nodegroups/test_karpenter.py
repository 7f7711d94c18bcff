"""Verdicts on random pods and NodePools are those of the model of Karpenter."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import Json, cluster, decided, node, pod
from tests.placement.nodegroups.karpenter import CUSTOM, NUMBERS, WELL_KNOWN, WORDS, can_make
from tests.suite.example_count import examples
from webhook.cluster.objects.kinds import NODE_POOLS
from webhook.placement.decision.wait import WaitCause
from webhook.placement.inventory.policy import Policy

OPERATORS = ("In", "In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
AUTO = Policy(scale_up="auto")


def requirement(dice: random.Random) -> Json:
    """A requirement on one of the labels."""
    key, operator = dice.choice((*CUSTOM, *WELL_KNOWN)), dice.choice(OPERATORS)
    words = NUMBERS if key == "cores" else WORDS
    values = dice.sample(words, dice.randint(1, 2))
    if operator in {"Gt", "Lt"}:
        key, values = "cores", [dice.choice(NUMBERS)]
    found = {"key": key, "operator": operator}
    return found if operator in {"Exists", "DoesNotExist"} else found | {"values": values}


def random_node_pool(dice: random.Random, name: str) -> Json:
    """A NodePool with some requirements, labels, taints and limits."""
    needs = [requirement(dice) for _ in range(dice.randint(0, 4))]
    needs = [need | {"minValues": len(need.get("values", "ab"))} if dice.random() < 0.2 else need for need in needs]
    spec: Json = {"requirements": needs}
    if dice.random() < 0.3:
        spec["taints"] = [{"key": "t", "value": dice.choice("xy"), "effect": dice.choice(("NoSchedule", "NoExecute"))}]
        spec["startupTaints"] = [{"key": "startup", "effect": "NoSchedule"}]
    labels = {dice.choice(CUSTOM): dice.choice(("a", "3"))} if dice.random() < 0.4 else {}
    found: Json = {"metadata": {"name": name}, "spec": {"template": {"metadata": {"labels": labels}, "spec": spec}}}
    if dice.random() < 0.3:
        found["spec"]["limits"] = {"cpu": str(dice.randint(1, 9))}
        found["status"] = {"resources": {"cpu": str(dice.randint(0, 9))}}
    return found


def random_pod(dice: random.Random) -> Json:
    """A pod that states some requirements, tolerations and requests."""
    spec: Json = {}
    if dice.random() < 0.4:
        spec["nodeSelector"] = {dice.choice((*CUSTOM, *WELL_KNOWN)): dice.choice(("a", "b", "3"))}
    if dice.random() < 0.7:
        terms = [
            {"matchExpressions": [requirement(dice) for _ in range(dice.randint(1, 3))]}
            for _ in range(dice.randint(1, 3))
        ]
        required = {"nodeSelectorTerms": terms}
        spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    if dice.random() < 0.5:
        spec["tolerations"] = [{"key": "t", "operator": "Equal", "value": dice.choice("xy")}]
    requests = {"cpu": str(dice.randint(1, 9))} if dice.random() < 0.5 else {}
    return pod(requests=requests, **spec)


@pytest.mark.examples
@given(seed=st.integers(0, 2**32))
@examples(1500)
def test_a_pod_waits_for_a_node_pool_if_and_only_if_karpenter_makes_a_node(seed: int) -> None:
    """A refused pod is told of each NodePool why it makes no node for it; one that waits, of one that does."""
    dice = random.Random(seed)  # noqa: S311 -- no secret
    pools = {name: random_node_pool(dice, name) for name in ("p0", "p1")[: dice.randint(1, 2)]}
    inventory = cluster([node(taints=(), cpu=0)])
    for found in pools.values():
        group, _ = NODE_POOLS.read(found)
        assert group is not None
        inventory.node_groups.put_node_pool(group)
    asking = random_pod(dice)
    asking["spec"]["containers"][0]["resources"].setdefault("requests", {"cpu": "1"})
    decision = decided(asking, inventory, AUTO)
    able = [name for name, found in pools.items() if can_make(found, asking)]
    if able:
        assert decision.wait is not None, decision.message
        assert decision.wait.cause is WaitCause.SCALE_UP
        assert decision.scale_up is not None
        assert [group.name for group in decision.scale_up.able.values()] == able
        assert decision.wait.headline.startswith(f"no node yet: NodePool {able[0]}")
    else:
        assert decision.refused
        assert all(f"\n  NodePool {name}" in decision.message for name in pools), decision.message
