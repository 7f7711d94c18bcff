"""The lower bound of the traffic between elements: never above the best partition, and near it."""

import itertools
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.placement.fusion.test_partition import exact, graph, models, searched
from tests.suite.example_count import examples
from webhook.placement.fusion import cut_bound
from webhook.placement.fusion.cut_bound import least_cut
from webhook.placement.fusion.graph import Graph
from webhook.placement.fusion.partition import evaluated
from webhook.placement.planning.search.linear_program import LinearProgram


def grown(size: int, seed: int = 1, clause: str = "") -> Graph:
    """A tree of streams with some more, and costs."""
    chance = random.Random(seed)  # noqa: S311 -- a seed gives the same graph in each run
    pairs = [(chance.randrange(at), at, chance.randint(1, 100)) for at in range(1, size)]
    pairs += [(max(0, at - chance.randint(1, 12)), at, chance.randint(1, 20)) for at in range(1, size)]
    streams = [{"from": f"Op{one}", "to": f"Op{to}", "rate": rate} for one, to, rate in pairs]
    operators = [{"name": f"Op{at}", "cost": str(chance.choice((1, 2, 4)))} for at in range(size)]
    for at in range(3 if clause else 0):
        operators[at]["placement"] = clause
    return graph({"operators": operators, "streams": streams})


@examples(150)
@given(models(8), st.integers(1, 5))
def test_no_partition_has_less_traffic(model: dict[str, Any], count: int) -> None:
    """Those that are heavier than the best one are no fusions."""
    found = graph(model)
    best = exact(found, count)
    if best is not None:
        assert 0 <= least_cut(found, best) <= best.cut
        other = searched(found, count)
        if (len(other.blocks), other.goals[0]) == (count, best.goals[0]):
            assert least_cut(found, other) <= best.cut


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.untraced) for seed in range(1, 4))])
def test_what_the_search_finds_is_near_the_bound(seed: int) -> None:
    """So it is of graphs that are too large to try everything."""
    found = grown(18, seed, 'partitionExlocation("x")')
    partition = searched(found, 3)
    bound = least_cut(found, partition)
    forest = least_cut(found, partition, lambda: True)
    assert 0 < forest < bound <= partition.cut <= 1.25 * bound


def test_operators_that_are_apart_have_a_cut_between_them() -> None:
    """The stream between two of them, the lightest one on the way between two others, and of the rest one more."""
    apart = 'partitionExlocation("x")'
    streams = [("A", "B", 9), ("B", "C", 5), ("C", "D", 3), ("D", "E", 7)]
    model = {
        "operators": [("A", apart), ("B", apart), "C", ("D", apart), "E"],
        "streams": [{"from": one, "to": to, "rate": rate} for one, to, rate in streams],
    }
    found = graph(model)
    partition = searched(found, 3)
    assert partition.cut == 12
    assert least_cut(found, partition) == 12
    finest = evaluated(found, range(5), {})
    assert least_cut(found, finest) == finest.cut == 24


def test_graphs_without_streams_have_no_bound() -> None:
    found = graph({"operators": ["A", "B", "C"]})
    assert least_cut(found, evaluated(found, (0, 1, 1), {})) == 0


def test_what_is_too_heavy_for_one_element_is_cut() -> None:
    """Two parts without a stream between them make two elements, but one of them is too heavy."""
    operators = [{"name": name, "cost": "2"} for name in "ABCD"]
    streams = [{"from": "A", "to": "B", "rate": 3}, {"from": "B", "to": "C", "rate": 2}]
    found = graph({"operators": operators, "streams": streams})
    partition = searched(found, 2)
    assert partition.cut == least_cut(found, partition) == 2
    assert least_cut(found, partition, lambda: True) == 0


def test_a_heavy_element_makes_room_for_others() -> None:
    """Where no partition keeps the bound on the load, others may be as heavy as the one that was chosen."""
    operators = [{"name": f"Op{at}", "cost": "1"} for at in range(6)]
    streams = [{"from": one["name"], "to": other["name"]} for one, other in itertools.pairwise(operators)]
    found = graph({"operators": operators, "streams": streams})
    uneven = evaluated(found, (0, 0, 0, 0, 0, 1), {})
    assert uneven.goals[0] == 5 * 10**9
    assert least_cut(found, uneven) == uneven.cut == 1


def test_a_poor_partition_has_the_bound_of_the_best_one() -> None:
    """The program ends when no row is missing: of a row of streams one has to be cut."""
    operators = [{"name": f"Op{at}", "cost": "1"} for at in range(6)]
    streams = [{"from": one["name"], "to": other["name"], "rate": 3} for one, other in itertools.pairwise(operators)]
    found = graph({"operators": operators, "streams": streams})
    poor = evaluated(found, (0, 1, 0, 1, 0, 1), {})
    assert poor.cut == 15
    assert least_cut(found, poor, work=0) == 3


def test_graphs_that_are_too_large_have_the_bound_of_a_forest() -> None:
    """The larger a graph is, the more work a step is: of 30 units 200 steps are more than so much."""
    found = grown(30)
    partition = searched(found, 3)
    forest = least_cut(found, partition, lambda: True)
    assert least_cut(found, partition, work=200 * 30**3 - 1) == forest
    assert forest < least_cut(found, partition) <= partition.cut


def test_the_bound_is_what_was_found_in_the_work_and_time_that_there_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the linear program: there is no work for the other one."""
    found = grown(18, 2)
    partition = searched(found, 3)
    whole = least_cut(found, partition, work=0)
    looks = iter([False] * 5)
    early = least_cut(found, partition, lambda: next(looks, True))
    monkeypatch.setattr(cut_bound, "_WORK", 500)
    some = least_cut(found, partition, work=0)
    assert early < whole
    assert some < whole
    monkeypatch.setattr(cut_bound, "_WORK", 60_000)
    monkeypatch.setattr(cut_bound, "_ROUNDS", 5)
    assert least_cut(found, partition, work=0) == early


def test_a_program_that_takes_too_long_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    found = grown(18)
    partition = searched(found, 3)
    forest = least_cut(found, partition, lambda: True)
    monkeypatch.setattr(LinearProgram, "run", lambda *_: ("unknown", None))
    assert least_cut(found, partition, work=0) == forest
