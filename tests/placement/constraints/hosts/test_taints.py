"""Taints that keep pods away."""

from typing import Any

import pytest

from tests.builders import cluster, decided, node, nodes, pod
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.pod import Toleration
from webhook.placement.kube.selection.tolerations import Taint, tolerates
from webhook.placement.text import keys

INFRA = Taint("dedicated", "infra", "NoSchedule")
EVICT = Taint("dedicated", "infra", "NoExecute")
BARE = Taint("maintenance", "", "NoSchedule")
CORDONED = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        pytest.param(Toleration("dedicated", "Equal", "infra", "NoSchedule"), True, id="exactly"),
        pytest.param(Toleration("dedicated", "Equal", "infra"), True, id="any effect"),
        pytest.param(Toleration("dedicated", None, "infra"), True, id="Equal is the default"),
        pytest.param(Toleration("dedicated", "", "infra"), True, id="so is an empty operator"),
        pytest.param(Toleration("dedicated", "Exists"), True, id="any value"),
        pytest.param(Toleration(None, "Exists"), True, id="everything"),
        pytest.param(Toleration("", "Exists", effect="NoSchedule"), True, id="everything of the effect"),
        pytest.param(Toleration(None, "Exists", effect="NoExecute"), False, id="everything of another effect"),
        pytest.param(Toleration("dedicated", "Equal", "gpu"), False, id="another value"),
        pytest.param(Toleration("dedicated"), False, id="no value"),
        pytest.param(Toleration("other", "Exists"), False, id="another key"),
        pytest.param(Toleration("dedicated", "Equal", "infra", "NoExecute"), False, id="another effect"),
        pytest.param(Toleration(None, "Equal", "infra"), False, id="a value without a key"),
        pytest.param(Toleration("dedicated", "Like", "infra"), False, id="no such operator"),
    ],
)
def test_a_toleration_covers_a_taint_as_in_kubernetes(toleration: Toleration, *, expected: bool) -> None:
    assert tolerates(toleration, INFRA) is expected


def test_a_taint_without_a_value_is_tolerated_by_its_key() -> None:
    assert tolerates(Toleration("maintenance"), BARE)


REFUSALS: dict[str, tuple[Inventory, str]] = {
    "one taint": (
        cluster(nodes(2, taints=[INFRA])),
        (
            "No node is open to this pod: 0 of 2 nodes can run this pod.\n"
            "  2 nodes have the taint dedicated=infra:NoSchedule\n"
            "Nearest fix: tolerate dedicated=infra:NoSchedule."
        ),
    ),
    "a taint without a value, one node": (
        cluster(nodes(1, taints=[BARE])),
        (
            "No node is open to this pod: 0 of 1 node can run this pod.\n"
            "  1 node has the taint maintenance:NoSchedule\n"
            "Nearest fix: tolerate maintenance:NoSchedule."
        ),
    ),
    "cordoned": (
        cluster(nodes(1, taints=[CORDONED])),
        (
            "No node is open to this pod: 0 of 1 node can run this pod.\n"
            "  1 node is cordoned\n"
            "Nearest fix: uncordon one node."
        ),
    ),
    "all cordoned": (
        cluster(nodes(2, taints=[CORDONED])),
        (
            "No node is open to this pod: 0 of 2 nodes can run this pod.\n"
            "  2 nodes are cordoned\n"
            "Nearest fix: uncordon one node."
        ),
    ),
    "different taints": (
        cluster([*nodes(2, taints=[INFRA]), node("node-c", taints=[BARE]), node("node-d", taints=[CORDONED])]),
        (
            "No node is open to this pod: 0 of 4 nodes can run this pod.\n"
            "  2 nodes have the taint dedicated=infra:NoSchedule\n"
            "  1 node has the taint maintenance:NoSchedule\n"
            "  1 node is cordoned\n"
            "Nearest fix: tolerate dedicated=infra:NoSchedule."
        ),
    ),
}


@pytest.mark.parametrize(("inventory", "expected"), REFUSALS.values(), ids=REFUSALS.keys())
def test_a_pod_that_tolerates_none_of_the_taints_is_refused(inventory: Inventory, expected: str) -> None:
    assert decided(pod(), inventory).message == expected


def test_tolerating_one_of_two_taints_of_a_node_is_not_a_fix() -> None:
    message = decided(pod(), cluster(nodes(1, taints=[INFRA, BARE]))).message
    assert not message.endswith("Nearest fix: tolerate dedicated=infra:NoSchedule.")


@pytest.mark.parametrize(
    ("tolerations", "candidates"),
    [
        pytest.param([], 0b1000, id="none"),
        pytest.param([{"key": "dedicated", "operator": "Exists"}], 0b1011, id="a key"),
        pytest.param([{"key": "dedicated", "value": "infra", "effect": "NoExecute"}], 0b1010, id="an effect"),
        pytest.param([{"operator": "Exists"}], 0b1111, id="everything"),
        pytest.param([{"operator": "Exists", "effect": "NoSchedule"}], 0b1101, id="everything of an effect"),
    ],
)
def test_tolerated_taints_open_their_nodes(tolerations: list[dict[str, str]], candidates: int) -> None:
    inventory = cluster(
        [
            node("node-a", taints=[INFRA]),
            node("node-b", taints=[EVICT]),
            node("node-c", taints=[BARE]),
            node("node-d", taints=[Taint("dedicated", "infra", "PreferNoSchedule")]),
        ]
    )
    spec: dict[str, Any] = {"tolerations": tolerations} if tolerations else {}
    verdict = decided(pod(**spec), inventory).verdict
    assert verdict
    assert verdict.candidates == candidates


def test_a_tolerated_taint_is_not_a_reason() -> None:
    inventory = cluster([node(taints=[INFRA, BARE])])
    message = decided(pod(tolerations=[{"key": "dedicated", "operator": "Exists"}]), inventory).message
    assert message == (
        "No node is open to this pod: 0 of 1 node can run this pod.\n"
        "  1 node has the taint maintenance:NoSchedule\n"
        "Nearest fix: tolerate maintenance:NoSchedule."
    )


def test_the_taint_of_exclusive_pools_is_not_among_them() -> None:
    exclusive = Taint(keys.EXCLUSIVE, "default.other", "NoSchedule")
    inventory = cluster([node("node-a", taints=[exclusive]), node("node-b", taints=[exclusive, INFRA])])
    assert decided(pod(), inventory).message == (
        "No node is open to this pod: 0 of 2 nodes can run this pod.\n"
        "  1 node has the taint dedicated=infra:NoSchedule\n"
        "  1 node is exclusive to another HostPool\n"
        "Nearest fix: remove the taint streams.ibm.com/exclusive from such a node."
    )
