"""The smallest conflict among sets of nodes, against a search of all choices."""

import functools
import itertools
import operator

from hypothesis import assume, given
from hypothesis import strategies as st

from tests.placement.properties.random_choices import examples
from webhook.placement.decision.refusal.clause_nodes import ClauseNodes


def smallest(base: int, sets: list[int]) -> tuple[int, ...]:
    """The positions of the sets that conflict."""
    return tuple(ClauseNodes({}, dict(enumerate(sets)), base).conflict())


SETS = st.lists(st.integers(0, 255), max_size=8)


def meet(base: int, sets: list[int], choice: tuple[int, ...]) -> int:
    return functools.reduce(operator.and_, (sets[at] for at in choice), base)


@given(st.integers(1, 255), SETS)
@examples(400)
def test_no_smaller_choice_conflicts(base: int, sets: list[int]) -> None:
    everything = tuple(range(len(sets)))
    assume(not meet(base, sets, everything))
    choices = itertools.chain.from_iterable(itertools.combinations(everything, size) for size in range(len(sets) + 1))
    least = next(choice for choice in choices if not meet(base, sets, choice))
    found = smallest(base, sets)
    assert not meet(base, sets, found)
    assert len(found) == len(least)
    assert list(found) == sorted(set(found))


@given(SETS)
@examples(50)
def test_no_clause_is_to_blame_where_no_node_is_open(sets: list[int]) -> None:
    assert smallest(0, sets) == ()


@given(st.lists(st.integers(0, 2**40 - 1), min_size=64, max_size=64), st.integers(1, 2**40 - 1))
@examples(50)
def test_of_many_clauses_none_can_be_left_out(sets: list[int], base: int) -> None:
    assume(not meet(base, sets, tuple(range(64))))
    found = smallest(base, sets)
    assert not meet(base, sets, found)
    assert all(meet(base, sets, tuple(other for other in found if other != at)) for at in found)
