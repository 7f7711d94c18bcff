"""What equal pods cost and where they go, against a plain count: one pod after the other, every node looked at."""

from collections.abc import Sequence

import numpy as np
from hypothesis import event, given
from hypothesis import strategies as st

from tests.builders import GIB, bound_pod, cluster, node
from tests.placement.properties.random_choices import examples
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.pod import NodeTerm, PreferredNodeTerm, Requirement
from webhook.placement.objects.node import Node
from webhook.placement.pools.score import costs, worth
from webhook.placement.workload.ranking import spread

NODES = st.lists(st.tuples(st.sampled_from([1000, 2000, 4000]), st.sampled_from("xyz")), min_size=1, max_size=6)
"""Milli-units of cpu, and the zone."""
USED = st.lists(st.integers(0, 2000), min_size=6, max_size=6)
TERMS = st.lists(st.tuples(st.integers(1, 100), st.sampled_from("xyz")), max_size=4)
REQUESTS = st.fixed_dictionaries({"cpu": st.integers(0, 700), "memory": st.sampled_from([0, GIB, 8 * GIB])})
ROOMS = st.lists(st.integers(0, 5), min_size=6, max_size=6)
COUNTS = st.integers(0, 25)

Drawn = Sequence[tuple[int, str]]


def made(drawn: Drawn, used: Sequence[int]) -> tuple[Inventory, list[Node]]:
    """A cluster of these nodes, on each of which a pod uses so much cpu already."""
    found = [node(f"n{at}", labels={"zone": zone}, cpu=cpu) for at, (cpu, zone) in enumerate(drawn)]
    pods = [bound_pod(each.name, uid=each.name, requests={"cpu": used[at]}) for at, each in enumerate(found)]
    return cluster(found, pods=pods), found


def preferring(terms: Drawn) -> list[PreferredNodeTerm]:
    return [PreferredNodeTerm(weight, NodeTerm((Requirement("zone", "In", (zone,)),))) for weight, zone in terms]


def by_hand(of: Node, used: int, terms: Drawn, requests: dict[str, int], copies: int) -> int:
    """The formula, in whole thousandths: base with all copies, 1000, the weights, a hundred for each copy before."""
    cpu = 1000 * (used + copies * requests["cpu"]) // of.allocatable["cpu"]
    memory = 1000 * copies * requests["memory"] // of.allocatable["memory"]
    weights = sum(weight for weight, zone in terms if of.labels["zone"] == zone)
    return (cpu + memory) // 2 + 1000 - weights + 100 * (copies - 1)


@given(NODES, USED, TERMS, REQUESTS, ROOMS, COUNTS)
@examples(300)
def test_the_shares_are_those_of_placing_one_pod_after_the_other(
    drawn: Drawn, used: list[int], terms: Drawn, requests: dict[str, int], rooms: list[int], count: int
) -> None:
    inventory, found = made(drawn, used)
    capacity, slots, room = inventory.nodes.capacity, np.arange(len(found)), rooms[: len(found)]
    worths = worth(capacity, preferring(terms), inventory.nodes)
    expected = [0] * len(found)
    for _ in range(count):
        options = [
            (by_hand(each, used[at], terms, requests, expected[at] + 1), at)
            for at, each in enumerate(found)
            if expected[at] < room[at]
        ]
        if options:
            expected[min(options)[1]] += 1
    event("all of them fit" if sum(expected) == count else "some do not fit")
    shares = spread(count, np.array(room), lambda copies: costs(capacity, requests, worths, slots, copies))
    assert shares.tolist() == expected


@given(st.lists(st.integers(0, 8), min_size=1, max_size=8), COUNTS, st.integers(-2000, 2000))
@examples(200)
def test_equal_nodes_differ_by_at_most_one_unless_they_are_full(room: list[int], count: int, first: int) -> None:
    shares = spread(count, np.array(room), lambda copies: first + 100 * (copies - 1)).tolist()
    assert sum(shares) == min(count, sum(room))
    assert all(share == most or share >= max(shares) - 1 for share, most in zip(shares, room, strict=True))


@given(NODES, USED, TERMS, REQUESTS, st.integers(1, 99), st.sampled_from("xyz"))
@examples(100)
def test_more_weight_never_makes_a_node_dearer(
    drawn: Drawn, used: list[int], terms: Drawn, requests: dict[str, int], more: int, where: str
) -> None:
    """It makes a node that matches cheaper by just that, and leaves the others alone."""
    inventory, found = made(drawn, used)
    capacity = inventory.nodes.capacity
    before, after = (
        costs(capacity, requests, worth(capacity, preferring(wanted), inventory.nodes)).tolist()
        for wanted in ([*terms, (1, where)], [*terms, (1 + more, where)])
    )
    for at, each in enumerate(found):
        assert before[at] - after[at] == (more if each.labels["zone"] == where else 0)


@given(NODES, TERMS, REQUESTS)
@examples(100)
def test_the_order_of_anything_does_not_matter(drawn: Drawn, terms: Drawn, requests: dict[str, int]) -> None:
    _, found = made(drawn, [0] * len(drawn))
    costed = [
        by_name(found, terms, requests),
        by_name(found[::-1], terms[::-1], dict(reversed(requests.items()))),
    ]
    assert costed[0] == costed[1]


def by_name(found: list[Node], terms: Drawn, requests: dict[str, int]) -> dict[str, int]:
    """The cost of every node of an idle cluster."""
    nodes = cluster(found).nodes
    row = costs(nodes.capacity, requests, worth(nodes.capacity, preferring(terms), nodes))
    return {each.name: int(row[nodes.slot_of[each.name]]) for each in found}
