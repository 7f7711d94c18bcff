"""The cost of a node."""

import pytest

from tests.builders import GIB, bound_pod, cluster, node
from webhook.placement.kube.pod import NodeTerm, PreferredNodeTerm, Requirement
from webhook.placement.pools.score import base, costs, worth

LABELLED = cluster([node("a", labels={"size": "2", "zone": "x"}), node("b", labels={"size": "10"}), node("c")]).nodes


def preferred(weight: int, key: str, operator: str, *values: str) -> PreferredNodeTerm:
    """A preference of one expression."""
    return PreferredNodeTerm(weight, NodeTerm((Requirement(key, operator, values or None),)))


@pytest.mark.parametrize(
    ("used", "asked", "expected"),
    [
        pytest.param({}, {}, 1000, id="empty node"),
        pytest.param({"cpu": 8000, "memory": 32 * GIB}, {}, 2000, id="full node"),
        pytest.param({"cpu": 4000}, {}, 1250, id="half of one resource of two"),
        pytest.param({"cpu": 4000}, {"cpu": 4000}, 1500, id="the pod to place counts"),
        pytest.param({}, {"memory": 16 * GIB}, 1250, id="memory weighs as much as cpu"),
        pytest.param({}, {"example.com/gpu": 1}, 1000, id="other resources do not count"),
    ],
)
def test_a_node_costs_more_the_fuller_it_would_be(used: dict[str, int], asked: dict[str, int], expected: int) -> None:
    inventory = cluster([node()], pods=[bound_pod(requests=used)])
    assert base(inventory.nodes.capacity, asked)[0] == expected


def test_a_resource_that_a_node_does_not_offer_counts_as_full() -> None:
    inventory = cluster([node(memory=0)])
    assert base(inventory.nodes.capacity, {})[0] == 1500


def test_copies_of_the_pod_fill_the_node() -> None:
    inventory = cluster([node()])
    assert base(inventory.nodes.capacity, {"cpu": 1000}, copies=4)[0] == 1250


@pytest.mark.parametrize("resource", ["cpu", "memory"])
def test_an_amount_beyond_any_node_costs_very_much_instead_of_failing(resource: str) -> None:
    """It is what a user wrote: no number of digits may raise."""
    inventory = cluster([node()])
    assert base(inventory.nodes.capacity, {resource: 10**40})[0] > 2000


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        pytest.param(preferred(70, "zone", "In", "x"), [70, 0, 0], id="In"),
        pytest.param(preferred(70, "zone", "NotIn", "x"), [0, 70, 70], id="NotIn holds where the key is absent"),
        pytest.param(preferred(70, "size", "Exists"), [70, 70, 0], id="Exists"),
        pytest.param(preferred(70, "zone", "DoesNotExist"), [0, 70, 70], id="DoesNotExist"),
        pytest.param(preferred(70, "size", "Gt", "9"), [0, 70, 0], id="Gt compares whole numbers"),
        pytest.param(preferred(70, "size", "Lt", "9"), [70, 0, 0], id="Lt compares whole numbers"),
        pytest.param(preferred(70, "size", "Gt", "1.5"), [0, 0, 0], id="Gt than a fraction never holds"),
        pytest.param(PreferredNodeTerm(70, NodeTerm()), [0, 0, 0], id="an empty term adds nothing"),
        pytest.param(PreferredNodeTerm(70, NodeTerm((), ())), [0, 0, 0], id="nor does one of empty lists"),
        pytest.param(
            PreferredNodeTerm(70, NodeTerm(match_fields=(Requirement("metadata.name", "In", ("c",)),))),
            [0, 0, 70],
            id="a field",
        ),
    ],
)
def test_a_preferred_term_is_worth_its_weight_where_it_matches(term: PreferredNodeTerm, expected: list[int]) -> None:
    assert worth(LABELLED.capacity, [term], LABELLED)[:3].tolist() == expected


def test_weights_add_up_even_those_of_a_term_that_is_there_twice() -> None:
    terms = [preferred(70, "zone", "Exists"), preferred(70, "zone", "Exists"), preferred(5, "size", "Exists")]
    assert worth(LABELLED.capacity, terms, LABELLED)[:3].tolist() == [145, 5, 0]


def test_the_cost_is_the_base_less_what_the_node_is_worth() -> None:
    worths = worth(LABELLED.capacity, [preferred(30, "zone", "Exists")], LABELLED)
    assert costs(LABELLED.capacity, {"cpu": 4000}, worths)[:3].tolist() == [1220, 1250, 1250]


def test_many_preferences_may_make_the_cost_negative() -> None:
    worths = worth(LABELLED.capacity, [preferred(100, "zone", "Exists")] * 11, LABELLED)
    assert costs(LABELLED.capacity, {}, worths)[0] == -100


def test_each_further_pod_on_a_node_costs_a_hundred_more() -> None:
    worths = worth(LABELLED.capacity, [], LABELLED)
    assert [int(costs(LABELLED.capacity, {}, worths, copies=copies)[0]) for copies in (1, 2, 3)] == [1000, 1100, 1200]


def test_only_the_slots_that_are_asked_about_are_costed_in_their_order() -> None:
    worths = worth(LABELLED.capacity, [preferred(30, "zone", "Exists")], LABELLED)
    assert costs(LABELLED.capacity, {}, worths, slice(1, None, -1)).tolist() == [1000, 970]
