"""Refusals are counted by the rules of the clauses that they name, and each family says which rule that is."""

from collections.abc import Iterable
from typing import Any

import pytest

from tests.builders import bound_pod, cluster, decided, node, nodes, pod, pool
from webhook.placement.decision.decision import Decision
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Pool
from webhook.placement.text.keys import PREFIX
from webhook.placement.text.rule import Rule


def refused(
    placement: str = "",
    *,
    annotations: dict[str, str] | None = None,
    spec: dict[str, Any] | None = None,
    hosts: Iterable[Node] = (),
    pods: Iterable[PodInfo] = (),
    pools: Iterable[Pool] = (),
) -> Decision:
    named = {PREFIX + key: value for key, value in (annotations or {}).items()}
    found = pod(placement or None, pe="parallel-0", annotations=named)
    found["spec"].update(spec or {})
    inventory: Inventory = cluster([*(hosts or nodes(2))], pods=[*pods], pools=[*pools])
    return decided(found, inventory)


EVERYWHERE = [bound_pod(f"node-{name}", pe=f"parallel-{name}") for name in "ab"]
CASES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "a host": ({"placement": 'host("gone")'}, (Rule.HOST,)),
    "a pool": ({"placement": "host(P)", "pools": [pool("P", tags=["none"])]}, (Rule.POOL,)),
    "isolation": ({"placement": "hostIsolation", "pods": EVERYWHERE}, (Rule.ISOLATION,)),
    "hardware that is a label": (
        {"annotations": {"hpa-requirements": '[{"allocatable": false, "name": "fpga", "value": "v7"}]'}},
        (Rule.HARDWARE,),
    ),
    "hardware that is an amount": (
        {"annotations": {"hpa-requirements": '[{"name": "nvidia.com/gpu", "limits": 1}]'}},
        (Rule.HARDWARE,),
    ),
    "a mapping": (
        {
            "annotations": {
                "kubernetes.worker.to.node.mapping": "true",
                "kubernetes.worker.mapping": "[{key: disk, operator: In, values: [nvme]}]",
            }
        },
        (Rule.MAPPING,),
    ),
    "requests": (
        {
            "placement": 'hostExlocation("t")',
            "spec": {"containers": [{"name": "app", "resources": {"requests": {"cpu": "99"}}}]},
        },
        (Rule.REQUESTS,),
    ),
    "a label of the pod's selector": (
        {"placement": 'hostExlocation("t")', "spec": {"nodeSelector": {"disk": "nvme"}}},
        (Rule.OWN_NODES,),
    ),
    "a host and requests": (
        {
            "placement": 'host("node-a")',
            "hosts": [node("node-a", cpu=1000), node("node-b")],
            "spec": {"containers": [{"name": "app", "resources": {"requests": {"cpu": "4"}}}]},
        },
        (Rule.HOST, Rule.REQUESTS),
    ),
    "no clause": ({"placement": 'hostExlocation("t")', "hosts": [node("node-a", pods=0)]}, (Rule.NODES,)),
    "a mistake": ({"placement": "host("}, (Rule.MISTAKE,)),
    "a pool that does not exist": ({"placement": "host(Unknown)"}, (Rule.STATE,)),
}


@pytest.mark.parametrize(("tweaks", "rules"), CASES.values(), ids=CASES)
def test_a_refusal_is_counted_by_the_rules_of_its_clauses(tweaks: dict[str, Any], rules: tuple[str, ...]) -> None:
    decision = refused(**tweaks)
    assert decision.refused
    assert decision.rules == rules


def test_an_admitted_pod_has_no_rules() -> None:
    assert refused('host("node-a")').rules == ()


def test_several_clauses_of_one_rule_count_once() -> None:
    decision = refused(
        spec={"nodeSelector": {"disk": "nvme", "rack": "r1"}},
        placement='hostExlocation("t")',
        hosts=[node("node-a", labels={"disk": "nvme"}), node("node-b", labels={"rack": "r1"})],
    )
    assert decision.refusal is not None
    assert decision.refusal.clauses == ("nodeSelector disk=nvme", "nodeSelector rack=r1")
    assert decision.rules == (Rule.OWN_NODES,)


def test_every_rule_is_a_word_of_the_list() -> None:
    """Labels of metrics come from the code alone, whatever users write."""
    assert {rule for tweaks, _ in CASES.values() for rule in refused(**tweaks).rules} <= set(Rule)
