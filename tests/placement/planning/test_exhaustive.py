"""The exhaustive search itself, on jobs whose answers a person can see."""

from typing import Any

import pytest

from tests.placement.planning.exhaustive import (
    Instance,
    Member,
    Node,
    Pool,
    Use,
    all_hosts,
    can_be_placed,
    least_cost,
    total_cost,
    wrong_hosts,
    wrong_places,
)

ABC = frozenset("abc")


def member(name: str, allowed: str = "abc", **more: Any) -> Member:
    keys = {key: frozenset(more.pop(key, "")) for key in ("together", "marks", "avoids")}
    return Member(name, frozenset(allowed), more.pop("requests", {}), uses=tuple(more.pop("uses", ())), **keys)


def job(*members: Member, nodes: str = "abc", pools: tuple[Pool, ...] = (), **free: int) -> Instance:
    return Instance(tuple(Node(name, free) for name in nodes), members, pools)


def apart(name: str, allowed: str = "abc", **more: Any) -> Member:
    return member(name, allowed, marks="k", avoids="k", **more)


CPU = {"cpu": 2}
SHARED = Pool("P", 2, frozenset("ab"))
OWN = Pool("X", 1, frozenset("ab"), exclusive=True)
NAMES_X = (Use("X"),)

FACTS: dict[str, tuple[Instance, bool]] = {
    "nobody can always run": (job(), True),
    "a member needs a node that it may have": (job(member("m", "c"), nodes="ab"), False),
    "requests fit": (job(member("m", requests=CPU), member("n", requests=CPU), nodes="a", cpu=4), True),
    "requests add up": (job(member("m", requests=CPU), member("n", requests=CPU), nodes="a", cpu=3), False),
    "on two nodes they do not": (job(member("m", requests=CPU), member("n", requests=CPU), nodes="ab", cpu=3), True),
    "what a node does not list it does not have": (job(member("m", requests={"gpu": 1}), cpu=9), False),
    "together on a node that both may have": (
        job(member("m", "ab", together="t"), member("n", "bc", together="t")), True),
    "together, but nowhere": (job(member("m", "a", together="t"), member("n", "b", together="t")), False),
    "together with two groups": (
        job(member("m", "a", together="t"), member("n", together="tu"), member("o", "b", together="u")), False),
    "together needs room for all": (
        job(member("m", requests=CPU, together="t"), member("n", requests=CPU, together="t"), cpu=3), False),
    "as many apart as there are nodes": (job(apart("m"), apart("n"), apart("o")), True),
    "one more": (job(apart("m"), apart("n"), apart("o"), apart("p")), False),
    "three apart on two nodes that they may have": (job(apart("m", "ab"), apart("n", "ab"), apart("o", "ab")), False),
    "who avoids is avoided": (job(member("m", "a", marks="k"), member("n", "a", avoids="k")), False),
    "in either order": (job(member("n", "a", avoids="k"), member("m", "a", marks="k")), False),
    "nobody avoids itself": (job(apart("m", "a")), True),
    "two marks do not keep apart": (job(member("m", "a", marks="k"), member("n", "a", marks="k")), True),
    "two who avoid what none of them marks": (job(member("m", "a", avoids="k"), member("n", "a", avoids="k")), True),
    "apart and together": (job(apart("m", together="t"), apart("n", together="t")), False),
    "a pool gets hosts": (job(member("m", uses=[Use("P")]), pools=(SHARED,)), True),
    "a pool needs all of its hosts": (job(pools=(Pool("P", 3, frozenset("ab")),)), False),
    "a member runs on a host of its pool": (job(member("m", "c", uses=[Use("P")]), pools=(SHARED,)), False),
    "hosts that are given stay": (
        job(member("m", "b", uses=[Use("P")]), pools=(Pool("P", 1, frozenset("ab"), hosts=("a",)),)), False),
    "another member may run on hosts of a shared pool": (
        job(member("m", "a"), nodes="a", pools=(Pool("P", 1, ABC),)), True),
    "the host of an index": (job(member("m", "b", uses=[Use("P", 1)]), pools=(Pool("P", hosts=("a", "b")),)), True),
    "of another index": (job(member("m", "b", uses=[Use("P", 0)]), pools=(Pool("P", hosts=("a", "b")),)), False),
    "an index that the pool does not have": (job(member("m", uses=[Use("P", 2)]), pools=(SHARED,)), False),
    "an order of hosts is found": (
        job(member("m", "b", uses=[Use("P", 0)]), member("n", "a", uses=[Use("P", 1)]), pools=(SHARED,)), True),
    "one index is one host": (
        job(member("m", "a", uses=[Use("P", 0)]), member("n", "b", uses=[Use("P", 0)]), pools=(SHARED,)), False),
    "two indices are two hosts": (
        job(member("m", "a", uses=[Use("P", 0)]), member("n", "a", uses=[Use("P", 1)]), pools=(SHARED,)), False),
    "a member of two pools needs a host of both": (
        job(member("m", uses=[Use("P"), Use("Q")]), pools=(SHARED, Pool("Q", 1, frozenset("c")))), False),
    "shared pools share hosts": (
        job(member("m", uses=[Use("P"), Use("Q")]), pools=(SHARED, Pool("Q", 1, frozenset("b")))), True),
    "an exclusive pool leaves the other node": (job(member("m", "b"), member("x", uses=NAMES_X), pools=(OWN,)), True),
    "nobody else runs on its hosts": (
        job(member("m", "a"), nodes="a", pools=(Pool("X", 1, ABC, exclusive=True, hosts=("a",)),)), False),
    "it takes no host of another pool": (job(nodes="ab", pools=(SHARED, OWN)), False),
    "not even an exclusive one": (job(pools=(OWN, Pool("Y", 2, frozenset("ab"), exclusive=True))), False),
    "the hosts that are left": (job(pools=(OWN, Pool("Y", 2, ABC, exclusive=True))), True),
    "a choice of hosts that leaves room for a stranger": (
        job(member("m", "a"), member("x", "ab", uses=NAMES_X, requests=CPU), cpu=2, pools=(OWN,)), True),
}  # fmt: skip


@pytest.mark.parametrize("fact", FACTS)
def test_whether_all_can_be_placed(fact: str) -> None:
    instance, expected = FACTS[fact]
    assert can_be_placed(instance) is expected


def test_the_order_of_hosts_counts_only_with_an_index() -> None:
    assert [hosts["P"] for hosts in all_hosts(job(pools=(SHARED,)))] == [("a", "b")]
    indexed = job(member("m", uses=[Use("P", 1)]), pools=(SHARED,))
    assert [hosts["P"] for hosts in all_hosts(indexed)] == [("a", "b"), ("b", "a")]


def test_the_least_cost_is_that_of_the_cheapest_way() -> None:
    instance = job(member("m"), member("n"), nodes="ab")
    costs = {"a": 100, "b": 200}
    assert least_cost(instance, lambda _, node, __: costs[node]) == 200
    assert least_cost(instance, lambda _, node, at: costs[node] * at) == 300
    assert least_cost(job(apart("m"), apart("n"), nodes="ab"), lambda _, node, __: costs[node]) == 300


def test_no_way_has_no_cost() -> None:
    assert least_cost(job(apart("m"), apart("n"), nodes="a"), lambda *_: 1) is None


def test_members_of_a_node_are_counted_in_the_cheapest_order() -> None:
    weight = {"m": 1, "n": 10}
    assert total_cost({"m": "a", "n": "a"}, lambda member, _, at: weight[member] * at) == 10 * 1 + 1 * 2


def test_what_is_wrong_is_said() -> None:
    instance = job(apart("m", "b"), apart("n"), pools=(SHARED, OWN), cpu=1)
    hosts = {"P": ("a", "c"), "X": ("a",)}
    assert wrong_hosts(instance, hosts) == [
        "pool P has hosts that are not eligible",
        "exclusive pool X shares a host with another pool",
    ]
    assert wrong_places(instance, hosts, {"m": "a", "n": "a"}) == [
        "m may not run on a",
        "m is on a, which is exclusive to pool X",
        "n is on a, which is exclusive to pool X",
        "m is on the node of n",
        "n is on the node of m",
    ]
