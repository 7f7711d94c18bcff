"""The nodes, indexed by label, taint and address."""

from collections.abc import Callable

import pytest

from tests.builders import node
from webhook.placement.inventory.index import RESTING, NodeIndex
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.node import Node

CORDON = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")

INFRA = Taint("dedicated", "infra", "NoSchedule")

SOFT = Taint("dedicated", "infra", "PreferNoSchedule")


def index(*found: Node) -> NodeIndex:
    """An index of these nodes, in slots 0, 1, ..."""
    made = NodeIndex()
    for one in found:
        made.put(one)
    return made


def test_nodes_are_found_by_the_values_of_a_label() -> None:
    found = index(node("a", labels={"zone": "1"}), node("b", labels={"zone": "2"}), node("c"))
    assert found.with_label("zone", ["1", "2", "3"]) == 0b011


def test_no_node_is_found_by_a_label_that_no_node_has() -> None:
    assert index(node("a")).with_label("zone", ["1"]) == 0


def test_nodes_are_found_by_the_key_of_a_label() -> None:
    assert index(node("a"), node("b", labels={"zone": "2"})).with_key("zone") == 0b10


def test_a_changed_label_moves_the_node() -> None:
    found = index(node("a", labels={"zone": "1"}), node("b", labels={"zone": "1"}))
    found.put(node("a", labels={"zone": "2"}))
    assert (found.with_label("zone", ["1"]), found.with_label("zone", ["2"])) == (0b10, 0b01)


def test_a_node_that_is_put_again_as_it_was_is_not_a_change() -> None:
    found = index(node("a", labels={"zone": "1"}))
    before = found.version
    found.put(node("a", labels={"zone": "1"}))
    assert found.version == before


def test_a_label_that_is_gone_leaves_no_trace() -> None:
    found = index(node("a", labels={"zone": "1"}))
    found.put(node("a"))
    assert ("zone" in found.labels, "zone" in found.has) == (False, False)


def test_nodes_are_found_by_their_hard_taints() -> None:
    found = index(node("a", taints=[INFRA]), node("b", taints=[INFRA, CORDON]), node("c", taints=[SOFT]))
    assert (found.tainted["dedicated"], found.taints["dedicated"]) == (0b011, {INFRA: 0b011})


def test_a_taint_that_is_gone_leaves_the_others() -> None:
    found = index(node("a", taints=[INFRA, CORDON, SOFT]))
    found.put(node("a", taints=[CORDON]))
    assert (found.taints["dedicated"], found.taints[CORDON.key]) == ({}, {CORDON: 1})


def test_two_taints_of_one_key_on_one_node_go_one_by_one() -> None:
    evict = Taint("dedicated", "infra", "NoExecute")
    found = index(node("a", taints=[INFRA, evict]))
    found.put(node("a", taints=[evict]))
    assert (found.taints["dedicated"], found.tainted.get("dedicated")) == ({evict: 1}, 1)


def test_nodes_are_found_by_any_spelling_of_an_address() -> None:
    found = index(node("a", addresses=["2001:DB8:0::1", "10.0.0.1", "host.example.com"]))
    assert found.addresses == {"2001:db8::1": 1, "10.0.0.1": 1}


def test_an_address_that_moved_is_found_at_its_new_node() -> None:
    found = index(node("a", addresses=["10.0.0.1"]), node("b"))
    found.put(node("a"))
    found.put(node("b", addresses=["10.0.0.1"]))
    assert found.addresses == {"10.0.0.1": 0b10}


@pytest.mark.parametrize(
    ("hostnames", "expected"),
    [
        pytest.param(["a", "b"], 0b11, id="each its own"),
        pytest.param(["a", None], 0b01, id="missing"),
        pytest.param(["a", "a"], 0b00, id="shared"),
        pytest.param(["a", "b", "a"], 0b010, id="shared by two of three"),
    ],
)
def test_only_a_host_name_that_no_other_node_has_counts(hostnames: list[str | None], expected: int) -> None:
    found = index(*(node(f"node-{at}", hostname=hostname) for at, hostname in enumerate(hostnames)))
    assert found.own_hostname == expected


def test_a_host_name_is_its_own_again_when_the_other_node_is_gone() -> None:
    found = index(node("a", hostname="x"), node("b", hostname="x"))
    found.drop("b")
    assert found.own_hostname == 0b01


def test_a_host_name_is_its_own_again_when_the_other_node_changes_it() -> None:
    found = index(node("a", hostname="x"), node("b", hostname="x"))
    found.put(node("b", hostname="y"))
    assert found.own_hostname == 0b11


def test_a_dropped_node_is_nowhere() -> None:
    found = index(node("a", labels={"zone": "1"}, taints=[INFRA], addresses=["10.0.0.1"]), node("b"))
    found.drop("a")
    left = (found.everything, found.with_key("zone"), found.tainted, found.addresses, found.get("a"), found.named("a"))
    assert left == (0b10, 0, {}, {}, None, 0)


def test_dropping_a_node_that_is_not_there_changes_nothing() -> None:
    found = index(node("a"))
    found.drop("b")
    assert found.everything == 1


def test_the_slot_of_a_dropped_node_is_given_to_another_once_many_have_been_dropped() -> None:
    """A search that knows the slot may still ask for the name of the node."""
    found = index(node("a"), node("b"))
    found.drop("a")
    found.put(node("c"))
    assert (found.named("c"), found.names) == (0b100, {0: "a", 1: "b", 2: "c"})
    for at in range(RESTING):
        found.put(node(f"passing-{at}"))
        found.drop(f"passing-{at}")
    found.put(node("d"))
    assert (found.named("d"), found.names[0], len(found.names)) == (0b001, "d", RESTING + 3)


def test_a_slot_is_kept_while_pods_use_it() -> None:
    found = index(node("a"))
    found.capacity.take(0, {"pods": 1})
    found.drop("a")
    found.put(node("b"))
    found.put(node("a"))
    assert (found.named("b"), found.named("a")) == (0b10, 0b01)


def test_a_node_that_offers_the_same_as_before_is_not_counted_again() -> None:
    found = index(node("a"))
    found.put(node("a", labels={"zone": "1"}))
    assert found.capacity.allocatable("cpu", 0) == 8000


def test_a_node_that_offers_more_is_counted_again() -> None:
    found = index(node("a"))
    found.put(node("a", cpu=16_000))
    assert found.capacity.allocatable("cpu", 0) == 16_000


def test_a_name_that_only_pods_know_is_not_a_node() -> None:
    found = index()
    found.reserve("a")
    assert (found.get("a"), found.named("a"), found.everything) == (None, 0, 0)


def test_names_are_ranked_whatever_their_slots() -> None:
    found = index(node("c"), node("a"))
    before = found.ranks().tolist()
    found.put(node("b"))
    assert (before, found.ranks().tolist()) == ([1, 0], [2, 0, 1])


def test_ranks_are_kept_while_the_names_are_the_same() -> None:
    found = index(node("a"))
    before = found.ranks()
    found.put(node("a", labels={"zone": "1"}))
    assert found.ranks() is before


def test_names_that_are_gone_have_no_rank() -> None:
    found = index(node("c"), node("a"), node("b"))
    found.drop("a")
    assert found.ranks()[[0, 2]].tolist() == [1, 0]


def test_nodes_are_in_domains_by_the_value_of_a_label() -> None:
    found = index(node("a", labels={"zone": "1"}), node("b", labels={"zone": "2"}), node("c"))
    domains = found.domains_of("zone")
    assert (domains.count, domains.of.tolist()) == (2, [0, 1, -1])


def test_domains_follow_the_nodes() -> None:
    found = index(node("a", labels={"zone": "1"}), node("b"))
    assert found.domains_of("zone").count == 1
    found.put(node("b", labels={"zone": "2"}))
    assert found.domains_of("zone").count == 2
    found.drop("a")
    assert found.domains_of("zone").of.tolist() == [-1, 0]


def test_domains_are_kept_until_a_node_changes_but_not_of_all_keys_there_are() -> None:
    found = index(node("a"))
    first = found.domains_of("key-0")
    assert found.domains_of("key-0") is first
    for at in range(70):
        found.domains_of(f"key-{at}")
    assert found.domains_of("key-0") is not first


def test_keys_that_no_label_can_have_share_their_domains() -> None:
    found = index(node("a"))
    first = found.domains_of("k" * 318)
    assert (first.count, first.of.tolist()) == (0, [-1])
    assert found.domains_of("other" * 100) is first
    assert found.domains_of("k" * 317) is not first


def test_no_nodes_are_in_no_domains() -> None:
    assert index().domains_of("zone").count == 0


NOT_READY = Taint("node.kubernetes.io/not-ready", "", "NoSchedule")


def test_the_recovered_view_is_kept_until_a_node_changes() -> None:
    found = index(node("a", taints=[NOT_READY]), node("b"))
    assert found.recovered() is found.recovered()


def rebuilt() -> NodeIndex:
    """Two nodes, the second with a pod, and a slot that is reserved for a third one."""
    found = index(node("a", taints=[NOT_READY]), node("b"))
    found.capacity.take(found.slot_of["b"], {"pods": 1})
    found.reserve("c")
    return found


CHANGES: dict[str, Callable[[NodeIndex], object]] = {
    "a new node": lambda found: found.put(node("d")),
    "a changed node": lambda found: found.put(node("b", labels={"zone": "1"}, taints=[INFRA])),
    "a node that is gone and leaves pods": lambda found: found.drop("b"),
    "the node of a pod that came first": lambda found: found.reserve("e"),
    "a slot that is free": lambda found: found.release(found.slot_of["c"]),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_recovered_view_is_that_of_a_new_index(change: Callable[[NodeIndex], object]) -> None:
    found, fresh = rebuilt(), rebuilt()
    before = found.recovered()
    assert before is not None
    before.kept_away()
    before.ranks()
    change(found)
    change(fresh)
    after, expected = found.recovered(), fresh.recovered()
    assert after is not None
    assert expected is not None
    assert (after.everything, after.own_hostname) == (expected.everything, expected.own_hostname)
    assert after.kept_away() == expected.kept_away()
    assert after.ranks().tolist() == expected.ranks().tolist()
