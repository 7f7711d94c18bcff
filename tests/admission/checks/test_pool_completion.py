"""A HostPool that is submitted could have its hosts now, or is refused with the reason for every node."""

from typing import Any, Final

import pytest

from tests.admission.submitted_pools import host_pool, validated
from tests.answers import refused, response, warnings
from tests.builders import UID, bound_pod, cluster, node, nodes, pool, review, selector
from webhook.admission.answer import Answer
from webhook.admission.validate import validate
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import CONTROL_PLANE, Policy
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.node import Node
from webhook.placement.text import keys

BLUE: Final = {f"{keys.TAGS}blue": "", f"{keys.TAGS}ib": ""}
INFRA: Final = Taint("dedicated", "infra", "NoSchedule")
CORDONED: Final = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
UNREADY: Final = tuple(Taint("node.kubernetes.io/not-ready", "", effect) for effect in ("NoSchedule", "NoExecute"))
OTHER: Final = pool("Other", size=1, mode="Exclusive", assigned=["node-x"], namespace="secret")


def told(there: Inventory, policy: Policy | None = None, **spec: Any) -> str:
    """The refusal of a pool that is created there."""
    code, text = refused(validated_in(there, policy, **spec))
    assert code == 403
    return text


def validated_in(there: Inventory, policy: Policy | None = None, **spec: Any) -> Answer:
    """What is said of a pool that is created there."""
    body = review(host_pool("pool", **{"name": "P1", "size": 9} | spec), kind="HostPool", group="streams.ibm.com")
    return validate(body, there, policy or Policy())


def few(good: int, *others: Node, labels: dict[str, str] | None = None) -> Inventory:
    """So many nodes that will do, and others."""
    return cluster([*nodes(good, labels=labels or {}), *others])


def test_a_pool_that_can_have_its_hosts_is_allowed_in_silence() -> None:
    assert response(validated(host_pool(size=2), nodes=nodes(2))) == {"uid": UID, "allowed": True}


def test_every_node_is_counted_once_under_the_first_rule_that_it_fails() -> None:
    there = [
        *nodes(2, labels=BLUE | {"disk": "ssd"}),
        *(node(f"plain-{at}", labels={"disk": "ssd"}) for at in range(5)),
        *(node(f"spinning-{at}", labels=BLUE, taints=[INFRA]) for at in range(4)),
        *(node(f"control-{at}", labels=BLUE | {"disk": "ssd", CONTROL_PLANE: ""}) for at in range(3)),
        *(node(f"infra-{at}", labels=BLUE | {"disk": "ssd"}, taints=[INFRA]) for at in range(2)),
        node("cordoned", labels=BLUE | {"disk": "ssd"}, taints=[CORDONED]),
        node("node-x", labels=BLUE | {"disk": "ssd"}),
        node("busy", labels=BLUE | {"disk": "ssd"}),
    ]
    busy = [bound_pod("busy", job="other", namespace="secret")]
    ssd = {"matchLabels": {"disk": "ssd"}}
    assert told(cluster(there, [OTHER], busy), size=40, tags=["ib", "blue"], selector=ssd, mode="Exclusive") == (
        "HostPool P1 cannot be completed: it needs 40 hosts and 2 nodes are eligible.\n"
        "  5 nodes lack the tags blue, ib\n"
        "  4 nodes do not meet the selector\n"
        "  3 nodes may not be used by HostPools (poolable nodes)\n"
        "  2 nodes have the taint dedicated=infra:NoSchedule\n"
        "  1 node is cordoned\n"
        "  1 node is exclusive to another HostPool\n"
        "  1 node runs a processing element of another pool or job\n"
        "Nearest fix: label 5 more nodes hostpool.streams.ibm.com/blue=true and hostpool.streams.ibm.com/ib=true and "
        "disk=ssd (only 5 of 9 nodes help; 7 of 40 would be eligible), or lower size to 2."
    )


FIXES: dict[str, tuple[Inventory, dict[str, Any], str]] = {
    "the tag": (
        cluster([*nodes(3, labels={keys.TAG: "ib"}), node("node-x")]),
        {"size": 4, "tags": ["ib"]},
        "label one more node streams.ibm.com/hostpool=ib, or lower size to 3",
    ),
    "a tag on more nodes than are missing": (
        cluster([*nodes(1, labels={keys.TAG: "ib"}), *(node(f"n{at}") for at in range(9))]),
        {"size": 4, "tags": ["ib"]},
        "label 3 more nodes streams.ibm.com/hostpool=ib, or lower size to 1",
    ),
    "a selector of a label": (
        few(1, node("node-x", labels={"gpu": "yes"})),
        {"size": 2, "selector": {"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}},
        "label one more node gpu=true, or lower size to 1",
    ),
    "a selector that no new label meets": (
        cluster([node("node-a"), node("node-x", labels={"old": ""})]),
        {"size": 2, "selector": {"matchExpressions": [{"key": "old", "operator": "DoesNotExist"}]}},
        "add a node, or lower size to 1",
    ),
    "a selector that no node meets": (
        few(1),
        {
            "size": 2,
            "selector": {"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]},
        },
        "change the selector, which no node can match",
    ),
    "nodes that may not be pooled": (
        few(1, node("c-1", labels={CONTROL_PLANE: ""}), node("c-2", labels={CONTROL_PLANE: ""})),
        {"size": 3},
        "allow HostPools to use 2 more nodes (poolable nodes), or lower size to 1",
    ),
    "a taint": (
        few(1, node("node-x", taints=[INFRA])),
        {"size": 2},
        "remove the taint dedicated=infra:NoSchedule from one more node, or lower size to 1",
    ),
    "a cordon": (few(1, node("node-x", taints=[CORDONED])), {"size": 2}, "uncordon one more node, or lower size to 1"),
    "the taint that alone keeps most nodes": (
        few(1, *(node(f"n{at}", taints=[INFRA, CORDONED]) for at in range(3)), node("node-x", taints=[INFRA])),
        {"size": 2},
        "remove the taint dedicated=infra:NoSchedule from one more node, or lower size to 1",
    ),
    "another pool's hosts": (
        cluster([node("node-a"), node("node-x")], [OTHER]),
        {"size": 2},
        "release one more node from another exclusive HostPool, or lower size to 1",
    ),
    "other people's elements": (
        cluster(nodes(2), pods=[bound_pod("node-b", job="other")]),
        {"size": 2, "mode": "Exclusive"},
        "free one more node of processing elements of other pools and jobs, or lower size to 1",
    ),
    "the change that helps most": (
        few(1, node("c-1", labels={CONTROL_PLANE: ""}), *(node(f"n{at}", taints=[INFRA]) for at in range(2))),
        {"size": 4},
        "remove the taint dedicated=infra:NoSchedule from 2 more nodes (3 of 4 would be eligible), or lower size to 1",
    ),
    "nodes that fail two rules": (
        few(1, node("node-x", labels={CONTROL_PLANE: ""}, taints=[INFRA])),
        {"size": 2},
        "add a node, or lower size to 1",
    ),
    "no node at all": (cluster(), {"size": 2}, "add 2 nodes"),
}


@pytest.mark.parametrize(("there", "spec", "fix"), FIXES.values(), ids=FIXES.keys())
def test_the_nearest_fix_is_about(there: Inventory, spec: dict[str, Any], fix: str) -> None:
    assert told(there, **spec).rpartition("\n")[2] == f"Nearest fix: {fix}."


def test_without_any_node_there_is_nothing_to_count() -> None:
    assert told(cluster(), size=1) == (
        "HostPool P1 cannot be completed: it needs 1 host and 0 nodes are eligible.\nNearest fix: add a node."
    )


def test_the_administrator_says_which_nodes_may_be_pooled() -> None:
    policy = Policy(poolable=selector("poolable", "Exists"))
    assert told(few(2), policy, size=1).splitlines()[1] == "  2 nodes may not be used by HostPools (poolable nodes)"


def test_nothing_is_said_of_nodes_and_namespaces_that_the_user_did_not_write() -> None:
    there = cluster([node("node-x"), node("zz-y")], [OTHER], [bound_pod("zz-y", job="zz-job", namespace="secret")])
    text = told(there, size=2, mode="Exclusive")
    assert not [word for word in ("node-x", "zz", "secret", "Other") if word in text]


# Literal pools


ADDRESSED: Final = [
    node("node-a", addresses=["10.0.0.1", "10.0.0.9"]),
    node("node-b", addresses=["10.0.0.2", "10.0.0.9"]),
    node("control-1", labels={CONTROL_PLANE: ""}),
]


def test_the_entries_of_a_list_are_told_what_is_wrong_with_them() -> None:
    hosts = ["node-a", "foo", "10.0.0.1", "10.0.0.9", "10.0.0.7", "control-1", "node-b"]
    assert told(cluster(ADDRESSED), size=None, hosts=hosts) == (
        "HostPool P1 cannot be completed: it lists 7 hosts and finds 2 nodes.\n"
        '  hosts[1]: "foo" is not a node\n'
        '  hosts[2]: "10.0.0.1" is the same node as hosts[0]\n'
        '  hosts[3]: "10.0.0.9" is the address of 2 nodes\n'
        '  hosts[4]: "10.0.0.7" is not a node\n'
        '  hosts[5]: "control-1" may not be used by HostPools (poolable nodes)\n'
        "Nearest fix: list each host once, by the name or an address of a node."
    )


@pytest.mark.parametrize("how", ["its taint", "its status"])
def test_a_node_that_is_exclusive_to_another_pool_is_none_for_a_list(how: str) -> None:
    """Nobody is told whose it is."""
    closed = [Taint(keys.EXCLUSIVE, "secret.other", "NoSchedule")] if how == "its taint" else []
    others = pool("Other", size=1, mode="Exclusive", assigned=["node-x"], namespace="secret")
    there = cluster([node("node-x", taints=closed), node("node-y")], [others] if how == "its status" else [])
    assert told(there, size=None, hosts=["node-x", "node-y"]) == (
        "HostPool P1 cannot be completed: "
        "it lists 2 hosts and finds 1 node, as 1 host is exclusive to another HostPool.\n"
        '  hosts[0]: "node-x" is exclusive to another HostPool\n'
        "Nearest fix: list each host once, by the name or an address of a node that is exclusive to no other HostPool."
    )


def test_a_list_of_nodes_is_allowed() -> None:
    found = validated(host_pool(hosts=["node-b", "10.0.0.1"]), nodes=ADDRESSED)
    assert response(found) == {"uid": UID, "allowed": True}


def test_of_a_long_list_some_entries_are_named_and_all_counted() -> None:
    text = told(cluster(), size=None, hosts=[f"h{at}" for at in range(5000)])
    assert text.splitlines()[-2] == f"  and {5000 - len(text.splitlines()) + 3} more reasons"
    assert len(text) <= 1024


RECOVERING = {
    "nodes that are not ready": (
        few(1, node("node-x", taints=UNREADY), node("node-y", taints=UNREADY)),
        {"size": 3},
        "it needs 3 hosts and 1 node is eligible",
    ),
    "a node that is not reachable": (
        few(1, node("node-x", taints=[Taint("node.kubernetes.io/unreachable", "", "NoSchedule")])),
        {"size": 2},
        "it needs 2 hosts and 1 node is eligible",
    ),
}


@pytest.mark.parametrize(("there", "spec", "why"), RECOVERING.values(), ids=RECOVERING)
def test_a_pool_waits_for_nodes_that_only_have_to_recover(there: Inventory, spec: dict[str, Any], why: str) -> None:
    found = validated_in(there, **spec)
    assert warnings(found) == [f"no hosts until nodes recover: HostPool P1 cannot be completed: {why}."]


def test_a_pool_for_which_there_are_not_enough_even_then_is_refused_with_a_size_that_can_be_had() -> None:
    there = few(1, node("node-x", taints=UNREADY), node("node-y", taints=[CORDONED, *UNREADY]))
    assert told(there, size=3) == (
        "HostPool P1 cannot be completed: it needs 3 hosts and 2 nodes are eligible.\n"
        "  1 node is cordoned\n"
        "Nearest fix: uncordon one more node, or lower size to 2."
    )
    assert response(validated_in(there, size=2))["allowed"]


def test_an_elastic_pool_for_which_there_are_not_enough_even_then_waits_for_more() -> None:
    found = validated_in(few(1, node("node-x", taints=UNREADY)), size=3, elastic=True)
    assert warnings(found) == [
        "no hosts yet: HostPool P1 cannot be completed: it needs 3 hosts and 2 nodes are eligible."
    ]
