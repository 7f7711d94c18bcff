"""The first line of a refusal: a smallest set of clauses that cannot hold together."""

import pytest

from tests.builders import Json, cluster, decided, node, nodes, pod, pool
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.node import Node

INFRA = Taint("dedicated", "infra", "NoSchedule")


def labelled(*labels: str) -> list[Node]:
    """A node for each text, with every letter of the text as a label."""
    return [node(f"node-{at}", labels=dict.fromkeys(text, "1")) for at, text in enumerate(labels)]


def wants(letters: str) -> Json:
    """A pod that selects nodes with all these letters as labels."""
    return pod(nodeSelector=dict.fromkeys(letters, "1"))


HEADLINES: dict[str, tuple[Json, Inventory, str]] = {
    "no node at all": (pod(), cluster(), "No node is open to this pod: 0 of 0 nodes can run this pod."),
    "nobody's words": (
        pod(),
        cluster(nodes(1, taints=[INFRA])),
        "No node is open to this pod: 0 of 1 node can run this pod.",
    ),
    "one clause": (
        wants("ax"),
        cluster(labelled("a", "ab")),
        "nodeSelector x=1 cannot hold: 0 of 2 nodes can run this pod.",
    ),
    "two clauses": (
        wants("ab"),
        cluster(labelled("a", "b")),
        "nodeSelector a=1 and nodeSelector b=1 cannot both hold: 0 of 2 nodes can run this pod.",
    ),
    "three clauses": (
        wants("abc"),
        cluster(labelled("ab", "bc", "ac")),
        "nodeSelector a=1, nodeSelector b=1 and nodeSelector c=1 cannot all hold: 0 of 3 nodes can run this pod.",
    ),
    "four clauses": (
        wants("abcd"),
        cluster(labelled("abc", "abd", "acd", "bcd")),
        (
            "nodeSelector a=1, nodeSelector b=1, nodeSelector c=1 and nodeSelector d=1 cannot all hold: "
            "0 of 4 nodes can run this pod."
        ),
    ),
    "five clauses": (
        wants("abcde"),
        cluster(labelled("abcd", "abce", "abde", "acde", "bcde")),
        (
            "nodeSelector a=1, nodeSelector b=1, nodeSelector c=1, nodeSelector d=1 and 1 more cannot all hold: "
            "0 of 5 nodes can run this pod."
        ),
    ),
    "clauses that are not needed are not named": (
        wants("abcx"),
        cluster(labelled("abc", "abc")),
        "nodeSelector x=1 cannot hold: 0 of 2 nodes can run this pod.",
    ),
    "clauses of the placement come as they were written": (
        pod('hostExlocation("t"), host("node-9")'),
        cluster([node("node-8"), node("node-9", hostname=None)]),
        'hostExlocation("t") and host("node-9") cannot both hold: 0 of 2 nodes can run this pod.',
    ),
    "a long clause is cut": (
        pod(nodeName="n" * 80),
        cluster(nodes(1)),
        f"spec.nodeName {'n' * 43}... cannot hold: 0 of 1 node can run this pod.",
    ),
    "two clauses beside an exclusive node that is named": (
        pod(nodeName="node-a", nodeSelector={"x": "1", "y": "1"}),
        cluster([node("node-a"), node("node-b")], pools=[pool("X", size=1, mode="Exclusive", assigned=["node-a"])]),
        "spec.nodeName node-a cannot hold: 0 of 2 nodes can run this pod.",
    ),
    "two names": (
        pod('A: host("x"); B: host("y")'),
        cluster(nodes(1)),
        'host("x") and host("y") cannot both hold: 0 of 1 node can run this pod.',
    ),
    "three names": (
        pod('A: host("x"); B: host("y"); C: host("z")'),
        cluster(nodes(1)),
        'host("x") and host("y") cannot both hold: 0 of 1 node can run this pod.',
    ),
}


@pytest.mark.parametrize(("found", "inventory", "expected"), HEADLINES.values(), ids=HEADLINES.keys())
def test_the_first_line_names_a_smallest_conflict(found: Json, inventory: Inventory, expected: str) -> None:
    assert decided(found, inventory).message.partition("\n")[0] == expected
