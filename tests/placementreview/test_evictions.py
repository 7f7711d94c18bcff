"""Pods that left a drained node: what becomes of each, in the order in which the scheduler takes them."""

from typing import Any

from tests.builders import node
from tests.placementreview.asked import asked
from tests.placementreview.test_what_if import OWNER, cluster, run, running
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.text import keys
from webhook.placementreview.review import EvictedPod, WhatIf


def drained(inventory: Inventory, *pods: dict[str, Any]) -> list[EvictedPod]:
    """What becomes of the pods of node-a."""
    run(inventory, *pods)
    return list(asked(inventory, pods=pods, what_if=WhatIf(drain=("node-a",))).evicted)


def test_pods_of_higher_priority_come_first() -> None:
    first, last = running("z", "node-a", cpu="3"), running("a", "node-a", cpu="3")
    first["spec"]["priority"] = 5
    inventory = cluster(node("node-a"), node("node-b", cpu=4000))
    assert drained(inventory, last, first) == [
        EvictedPod("default", "z", "Placed", node="node-b"),
        EvictedPod("default", "a", "Unplaced", "1 node can run it, but none has room now"),
    ]


def test_pods_of_equal_priority_come_by_their_names() -> None:
    inventory = cluster(node("node-a"), node("node-b", cpu=4000))
    found = drained(inventory, running("b", "node-a", cpu="3"), running("a", "node-a", cpu="3"))
    assert [(one.name, one.verdict) for one in found] == [("a", "Placed"), ("b", "Unplaced")]


def test_a_pod_without_a_controller_is_not_made_again() -> None:
    inventory = cluster(node("node-a"), node("node-b"))
    found = drained(inventory, running("bare", "node-a", ownerReferences=[{**OWNER, "controller": False}]))
    assert found == [EvictedPod("default", "bare", "Deleted", "no controller recreates the pod")]


def test_a_pod_for_which_there_is_no_other_node_waits() -> None:
    pod = running("tied", "node-a")
    pod["spec"]["nodeSelector"] = {keys.HOSTNAME: "node-a"}
    found = drained(cluster(node("node-a"), node("node-b")), pod)
    assert found == [EvictedPod("default", "tied", "Unplaced", "no node can run it now")]


def test_a_pod_that_asks_for_a_drained_node_waits_for_what_admission_says() -> None:
    pod = running("tied", "node-a", annotations={keys.PLACEMENT: 'host("node-a")'})
    [found] = drained(cluster(node("node-a"), node("node-b")), pod)
    assert found.verdict == "Unplaced"
    assert found.message.splitlines()[:2] == [
        'no node yet: host("node-a") cannot hold: 0 of 2 nodes can run this pod.',
        "  1 node is not named node-a",
    ]


def test_a_pod_of_an_unknown_controller_is_refused_as_admission_refuses_it() -> None:
    owner = {**OWNER, "apiVersion": "example.com/v1", "kind": "Ring"}
    pod = running("tied", "node-a", annotations={keys.PLACEMENT: 'host("node-a")'}, ownerReferences=[owner])
    [found] = drained(cluster(node("node-a"), node("node-b")), pod)
    assert found.verdict == "Refused"
    assert "Nearest fix: " in found.message
    assert "node-b" not in found.message


def test_successors_count_for_one_another() -> None:
    said = {keys.PLACEMENT: 'hostExlocation("a")'}
    pods = [
        running(name, on, annotations=said, labels={keys.JOB: "job", keys.PE: name})
        for name, on in (("one", "node-a"), ("two", "node-a"))
    ]
    inventory = cluster(node("node-a"), node("node-b"), node("node-c"))
    assert {one.node for one in drained(inventory, *pods)} == {"node-b", "node-c"}


def test_a_pod_that_is_bound_outright_has_the_node_that_it_names() -> None:
    said = {keys.PLACEMENT: 'host("node-b")', keys.HOST_BINDING: "nodeName"}
    [found] = drained(cluster(node("node-a"), node("node-b")), running("moved", "node-a", annotations=said))
    assert (found.verdict, found.node) == ("Placed", "node-b")
