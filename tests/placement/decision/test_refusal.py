"""The text of a refusal: what cannot hold together, why each node is out, and what would help."""

import string

import pytest

from tests.builders import Json, bound_pod, cluster, decided, node, nodes, pod, pool
from webhook.placement.decision.refusal.refusal import Refusal
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.node import Node
from webhook.placement.text import keys
from webhook.placement.text.problem import MESSAGE_LIMIT, REASON_LIMIT, Fault

INFRA = Taint("dedicated", "infra", "NoSchedule")

APART = {keys.EXLOCATION + keys.digest("apart"): "apart"}


def labelled(*labels: str) -> list[Node]:
    """A node for each text, with every letter of the text as a label."""
    return [node(f"node-{at}", labels=dict.fromkeys(text, "1")) for at, text in enumerate(labels)]


def wants(letters: str) -> Json:
    """A pod that selects nodes with all these letters as labels."""
    return pod(nodeSelector=dict.fromkeys(letters, "1"))


FIXES: dict[str, tuple[Json, Inventory, str]] = {
    "nothing helps": (
        pod(),
        cluster(),
        "no single change helps; the pod needs a node that meets all of it",
    ),
    "a change of the cluster alone": (pod(), cluster(nodes(2, taints=[INFRA])), "tolerate dedicated=infra:NoSchedule"),
    "a clause alone": (
        pod('hostExlocation("t")'),
        cluster(nodes(3, hostname=None)),
        'drop hostExlocation("t") (3 nodes would fit)',
    ),
    "either": (
        wants("x"),
        cluster(labelled("")),
        "label one more node x=1, or drop nodeSelector x=1 (1 node would fit)",
    ),
    "the one that opens most nodes": (
        wants("ab"),
        cluster(labelled("a", "b", "b")),
        "label one more node a=1, or drop nodeSelector a=1 (2 nodes would fit)",
    ),
    "two clauses at once": (
        wants("ab"),
        cluster(labelled("", "")),
        "drop nodeSelector a=1 and nodeSelector b=1 (2 nodes would fit)",
    ),
    "the two that open most nodes": (
        wants("abc"),
        cluster(labelled("a", "b", "b")),
        "drop nodeSelector a=1 and nodeSelector c=1 (2 nodes would fit)",
    ),
    "one to drop and one to lower": (
        pod(nodeSelector={"a": "1"}, requests={"cpu": "16"}),
        cluster(labelled("")),
        "drop nodeSelector a=1 and lower requests cpu 16 to cpu 8 (1 node would fit)",
    ),
    "not even two": (
        wants("abc"),
        cluster(labelled("")),
        "no single change helps; the pod needs a node that meets all of it",
    ),
    "two of which one opens hosts that close without it": (
        pod("host(MyPool)", nodeSelector={"a": "1"}),
        cluster(
            [node("node-a", taints=[INFRA]), node("node-b")], [pool(size=1, mode="Exclusive", assigned=["node-a"])]
        ),
        "drop host(MyPool) and nodeSelector a=1 (1 node would fit)",
    ),
    "no clause to drop for what nobody wrote": (
        pod(nodeSelector={"a": "1"}),
        cluster(nodes(1, taints=[INFRA])),
        "no single change helps; the pod needs a node that meets all of it",
    ),
}


@pytest.mark.parametrize(("found", "inventory", "expected"), FIXES.values(), ids=FIXES.keys())
def test_the_last_line_says_what_would_help(found: Json, inventory: Inventory, expected: str) -> None:
    assert decided(found, inventory).message.rpartition("\n")[2] == f"Nearest fix: {expected}."


def test_the_example_of_the_manual_reads_like_this() -> None:
    source = {keys.TAG: "source"}
    inventory = cluster(
        [*nodes(3), node("node-x", labels=source, taints=[INFRA]), node("node-y", labels=source)],
        pools=[pool(tags=["source"])],
        pods=[bound_pod("node-y", labels=APART)],
    )
    assert decided(pod('hostExlocation("apart"), host(MyPool)'), inventory).message == (
        'hostExlocation("apart") and host(MyPool) cannot both hold: 0 of 5 nodes can run this pod.\n'
        "  3 nodes are not in HostPool MyPool (tag source)\n"
        "  1 node has the taint dedicated=infra:NoSchedule\n"
        '  1 node already runs a pod of hostExlocation("apart")\n'
        "Nearest fix: label one more node streams.ibm.com/hostpool=source, or drop host(MyPool) (3 nodes would fit)."
    )


def test_reasons_of_one_size_keep_the_order_of_judging() -> None:
    message = decided(wants("ba"), cluster(labelled("a", "b", "b", ""))).message
    assert message.split("\n")[1:3] == ["  2 nodes do not have the label b=1", "  2 nodes do not have the label a=1"]


def many_taints(count: int) -> Inventory:
    """A node for each of many long taints."""
    taints = [Taint(f"example.com/{letter * 40}", "", "NoSchedule") for letter in string.ascii_lowercase[:count]]
    return cluster(node(f"node-{at}", taints=[taint]) for at, taint in enumerate(taints))


@pytest.mark.parametrize("count", range(9, 16))
def test_a_refusal_is_within_the_limit_and_counts_what_it_leaves_out(count: int) -> None:
    message = decided(pod(), many_taints(count)).message
    shown = message.count("has the taint")
    left = count - shown
    more = f"\n  and {left} more reason{'s' * (left != 1)}\n" if left else ""
    assert len(message) <= MESSAGE_LIMIT
    assert (more in message, "more reason" in message) == (True, left > 0)


def test_one_endless_reason_is_cut() -> None:
    message = decided(pod(nodeSelector={"k" * 300: "v"}), cluster(nodes(1))).message
    line = message.split("\n")[1]
    assert (len(line), line[:40], line[-6:]) == (202, "  1 node does not have the label kkkkkkk", "kkk...")


def test_no_name_that_the_requester_did_not_write_is_in_a_message() -> None:
    inventory = cluster(
        nodes(3, taints=[INFRA], addresses=["10.0.0.1"]),
        pools=[pool("Secret", namespace="other"), pool("Closed", size=1, mode="Exclusive", assigned=["node-b"])],
        pods=[bound_pod("node-c", pe="parallel-9", labels=APART)],
    )
    for placement in ('host("10.0.0.1")', "host(Nope)", 'hostExlocation("apart")', None):
        message = decided(pod(placement), inventory).message
        assert not [name for name in ("node-", "Secret", "other", "uid-of", "parallel-9") if name in message]


def test_reasons_of_several_parts_come_after_these_as_far_as_there_is_room() -> None:
    """Each part has fixes of its own."""
    parts = Refusal("2 of 3 cannot run:\n  a: no. Nearest fix: b.", (), Fault.FORBIDDEN, ())
    assert parts.with_reasons(["NodePool p makes no nodes"]).text == f"{parts.text}\n  NodePool p makes no nodes"
    many = parts.with_reasons(["x" * REASON_LIMIT] * 1000)
    assert MESSAGE_LIMIT - REASON_LIMIT - 3 < len(many.text) <= MESSAGE_LIMIT
    assert len(many.reasons) == 1000
