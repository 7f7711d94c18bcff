"""Refusals of pods whose host cannot be had."""

import pytest

from tests.builders import cluster, decided, node, nodes, pod
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.node import Node
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault

CLUSTER = cluster([node("node-a", addresses=["10.0.0.1", "2001:db8::1"]), node("node-b", addresses=["10.0.0.2"])])

REFUSALS = {
    "no such node": (
        'host("gone")',
        CLUSTER,
        (
            'host("gone") cannot hold: 0 of 2 nodes can run this pod.\n'
            "  2 nodes are not named gone\n"
            'Nearest fix: add a node named gone, or drop host("gone") (2 nodes would fit).'
        ),
    ),
    "no such address": (
        'host("10.9.9.9")',
        cluster(nodes(1)),
        (
            'host("10.9.9.9") cannot hold: 0 of 1 node can run this pod.\n'
            "  1 node does not have the address 10.9.9.9\n"
            'Nearest fix: add a node with the address 10.9.9.9, or drop host("10.9.9.9") (1 node would fit).'
        ),
    ),
    "no such address among several nodes": (
        'host("10.9.9.9")',
        CLUSTER,
        (
            'host("10.9.9.9") cannot hold: 0 of 2 nodes can run this pod.\n'
            "  2 nodes do not have the address 10.9.9.9\n"
            'Nearest fix: add a node with the address 10.9.9.9, or drop host("10.9.9.9") (2 nodes would fit).'
        ),
    ),
    "two names": (
        'A: host("node-a"); B: host("node-b")',
        CLUSTER,
        (
            'host("node-a") and host("node-b") cannot both hold: 0 of 2 nodes can run this pod.\n'
            "  1 node is not named node-a\n"
            "  1 node is not named node-b\n"
            'Nearest fix: drop host("node-a") (1 node would fit).'
        ),
    ),
    "a name and another node's address": (
        'A: host("node-a"); B: host("10.0.0.2")',
        CLUSTER,
        (
            'host("node-a") and host("10.0.0.2") cannot both hold: 0 of 2 nodes can run this pod.\n'
            "  1 node is not named node-a\n"
            "  1 node does not have the address 10.0.0.2\n"
            'Nearest fix: drop host("node-a") (1 node would fit).'
        ),
    ),
    "another node in nodeName": (
        'host("node-a")',
        CLUSTER,
        (
            'host("node-a") and spec.nodeName node-b cannot both hold: 0 of 2 nodes can run this pod.\n'
            "  1 node is not named node-a\n"
            "  1 node is not the pod's own spec.nodeName node-b\n"
            'Nearest fix: drop host("node-a") (1 node would fit).'
        ),
    ),
}


@pytest.mark.parametrize(("placement", "inventory", "expected"), REFUSALS.values(), ids=REFUSALS.keys())
def test_a_host_that_cannot_be_had_is_refused(placement: str, inventory: Inventory, expected: str) -> None:
    spec = {"nodeName": "node-b"} if "spec.nodeName" in expected else {}
    assert decided(pod(placement, **spec), inventory).message == expected


@pytest.mark.parametrize(
    ("placement", "fault"),
    [
        pytest.param('host("gone")', Fault.FORBIDDEN, id="a node could be added"),
        pytest.param('A: host("node-a"); B: host("node-b")', Fault.INVALID, id="no node has two names"),
        pytest.param('A: host("node-a"); B: host("10.0.0.2")', Fault.FORBIDDEN, id="an address could move"),
    ],
)
def test_a_refusal_says_whose_change_could_make_it_right(placement: str, fault: Fault) -> None:
    assert decided(pod(placement), CLUSTER).fault is fault


FIELD = "metadata.annotations[streams.ibm.com/placement]"

RULE = "is neither an IP address nor a node name (lower-case letters, digits, '-' and '.', at most 253)"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("Node-A", "Node-A", id="capitals"),
        pytest.param("", "", id="empty"),
        pytest.param("foo_bar", "foo_bar", id="underscore"),
        pytest.param("1.2.3.4 ", "1.2.3.4 ", id="address with a blank"),
        pytest.param(r"\u202ea", r"\u202ea", id="right-to-left override"),
    ],
)
def test_a_text_that_can_be_no_host_is_refused(text: str, shown: str) -> None:
    expected = f'{FIELD}: host("{shown}") {RULE}\n  host("{shown}")\n       ^'
    assert decided(pod(f'host("{text}")'), CLUSTER).message == expected


def test_an_address_of_two_nodes_is_refused_without_their_names() -> None:
    found = decided(pod('host("10.0.0.1")'), cluster(nodes(2, addresses=["10.0.0.1"])))
    assert (found.message, found.fault) == (
        f'{FIELD}: host("10.0.0.1"): 2 nodes have this address; name the node instead',
        Fault.FORBIDDEN,
    )


def test_an_address_of_a_node_that_is_yet_to_come_is_refused() -> None:
    found = decided(pod('host("10.9.9.9")'), CLUSTER, Policy(elastic=True))
    assert (found.message, found.fault) == (
        (
            f'{FIELD}: host("10.9.9.9"): '
            "no node has this address, and a node that is added later can only be chosen by its name"
        ),
        Fault.FORBIDDEN,
    )


def test_a_preferred_address_of_a_node_that_is_yet_to_come_is_not() -> None:
    wish = pod('host("10.9.9.9")', annotations={keys.PREFERRED: "host"})
    assert not decided(wish, CLUSTER, Policy(elastic=True)).refused


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(node("node-a", hostname="x"), id="its hostname label"),
        pytest.param(node("node-a.example.com"), id="a short name"),
        pytest.param(node("node-a", addresses=["::ffff:10.0.0.1"]), id="an IPv4-mapped address"),
    ],
)
def test_nothing_but_the_name_or_address_means_a_node(found: Node) -> None:
    for text in ("x", "node-a.example", "10.0.0.1"):
        assert decided(pod(f'host("{text}")'), cluster([found])).refused
