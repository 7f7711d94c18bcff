"""The semidefinite bound of the traffic between elements: never above the best partition, and near what is found."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.placement.fusion.test_cut_bound import grown
from tests.placement.fusion.test_partition import exact, graph, models, refined_search
from tests.suite.example_count import examples
from webhook.placement.fusion import shared_elements
from webhook.placement.fusion.partition import bound
from webhook.placement.fusion.shared_elements import SharedElements

WORK = 10**9


def never() -> bool:
    return False


@examples(60)
@given(models(7), st.integers(2, 5))
def test_no_partition_has_less_traffic(model: dict[str, Any], count: int) -> None:
    """Nor one that is heavier than may be, if the limit is its own."""
    found = graph(model)
    best = exact(found, count)
    if best is not None and any(any(near.values()) for near in found.near):
        limit = max(best.goals[0], bound(found, count))
        least = SharedElements(found, count, limit).least(best.cut, WORK, never)
        assert least <= best.cut * (1 + 1e-6) + 1e-6


@pytest.mark.untraced
@pytest.mark.parametrize(("seed", "clause"), [(1, ""), (2, 'partitionExlocation("x")')])
def test_what_is_found_of_more_units_is_near_the_bound(seed: int, clause: str) -> None:
    found = grown(48, seed, clause)
    partition = refined_search(found, 4)
    assert (len(partition.blocks), partition.goals[0]) == (4, 0)
    least = SharedElements(found, 4, bound(found, 4)).least(partition.cut, WORK, never)
    assert least <= partition.cut <= 1.25 * least


def test_the_bound_gets_better_with_time_and_work_and_ends_when_it_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred steps are without triples; so is what is enough already."""
    found = grown(30)
    limit = bound(found, 3)
    looks = iter([False] * 100)
    early = SharedElements(found, 3, limit).least(1e9, WORK, lambda: next(looks, True))
    some = SharedElements(found, 3, limit).least(1e9, 250 * 30**3, never)
    enough = SharedElements(found, 3, limit).least(some / 2, WORK, never)
    whole = SharedElements(found, 3, limit).least(1e9, WORK, never)
    assert 0 < early < some < whole
    assert some / 2 < enough < whole
    monkeypatch.setattr(shared_elements, "_ROUNDS", 1)
    assert SharedElements(found, 3, limit).least(1e9, WORK, never) == enough


def test_operators_that_cost_nothing_have_the_bound_of_those_that_are_kept_apart() -> None:
    """All others may share an element: nothing is too heavy."""
    apart = {"cost": "0", "placement": 'partitionExlocation("x")'}
    model = {
        "operators": [{"name": f"Op{at}", "cost": "0", **(apart if at < 3 else {})} for at in range(7)],
        "streams": [{"from": f"Op{one}", "to": f"Op{to}", "rate": one + to} for one in range(7) for to in range(one)],
    }
    found = graph(model)
    best = exact(found, 3)
    assert best is not None
    assert 0.9 * best.cut <= SharedElements(found, 3, 0).least(best.cut, WORK, never) <= best.cut * (1 + 1e-6)
