"""A smallest set of clauses that cannot hold together."""

from collections.abc import Callable, Sequence

import pytest

from webhook.placement.decision.refusal.clause_nodes import ClauseNodes
from webhook.placement.decision.refusal.conflict import (
    answered,
    answered_in_turn,
    irreducible,
    least,
    least_up_to,
    smallest_failing,
)
from webhook.placement.planning.search.solver import finished


def smallest(base: int, sets: list[int]) -> tuple[int, ...]:
    """The positions of the sets that have no node of the base in common."""
    return tuple(ClauseNodes({}, dict(enumerate(sets)), base).conflict())


def fewest(kept: Sequence[int], hold: Callable[[Sequence[int]], bool], tries: int = 4000) -> tuple[int, ...]:
    """The items that do not hold together."""
    return tuple(answered(smallest_failing(kept, tries), lambda choice: not hold(choice)))


@pytest.mark.parametrize(
    ("base", "sets", "expected"),
    [
        pytest.param(0, [0b1, 0b10], (), id="no clause is to blame where there is no node"),
        pytest.param(0b11, [0b11, 0b00], (1,), id="one clause alone"),
        pytest.param(0b11, [0b01, 0b10], (0, 1), id="two together"),
        pytest.param(0b11, [0b01, 0b11, 0b10], (0, 2), id="one that takes nothing away is not named"),
        pytest.param(0b111, [0b011, 0b101, 0b110], (0, 1, 2), id="all three"),
        pytest.param(0b01, [0b10, 0b11], (0,), id="only nodes of the base count"),
        pytest.param(0b1111, [0b0111, 0b1011, 0b1100, 0b0011], (2, 3), id="two are found behind others"),
        pytest.param(0b1111, [0b0011, 0b1100, 0b0111, 0b1000], (0, 1), id="the first of two equally small ones"),
        pytest.param(0b1111, [0b0000, 0b1100, 0b0011], (0,), id="one instead of two"),
    ],
)
def test_the_smallest_choice_without_a_common_node_is_found(
    base: int, sets: list[int], expected: tuple[int, ...]
) -> None:
    assert smallest(base, sets) == expected


def test_the_answer_is_irreducible_where_there_are_too_many_choices_to_try() -> None:
    everything = (1 << 64) - 1
    sets = [everything & ~(1 << at) for at in range(64)]
    assert smallest(everything, sets) == tuple(range(64))


@pytest.mark.parametrize(
    ("kept", "limit", "expected"),
    [
        pytest.param([1, 2], -1, (), id="no choice is to blame where not even nothing holds"),
        pytest.param([1, 2, 5], 4, (5,), id="one alone"),
        pytest.param([3, 1, 2], 3, (3, 1), id="two together, in their order"),
        pytest.param([1, 1, 1], 2, (1, 1, 1), id="all of them"),
    ],
)
def test_the_fewest_that_do_not_hold_are_found_by_asking(
    kept: list[int], limit: int, expected: tuple[int, ...]
) -> None:
    assert fewest(kept, lambda choice: sum(choice) <= limit) == expected


def test_only_so_many_smaller_choices_are_tried() -> None:
    asked: list[Sequence[int]] = []

    def hold(choice: Sequence[int]) -> bool:
        asked.append(choice)
        return len(choice) < 10

    assert len(fewest(range(20), hold, tries=50)) == 10
    assert 20 < len(asked) <= 20 + 50
    asked.clear()
    assert len(answered(smallest_failing(range(20), 50, again=True), lambda choice: not hold(choice))) == 10
    assert len(asked) == 20 + 10 + 50


def test_many_are_left_out_at_a_time_first() -> None:
    asked: list[Sequence[int]] = []

    def fails(choice: Sequence[int]) -> bool:
        asked.append(choice)
        return 3 in choice

    assert answered(irreducible([*range(8)], 4), fails) == [3]
    assert [len(choice) for choice in asked] == [4, 0, 2, 2, 1, 1]


@pytest.mark.parametrize(("questions", "expected"), [(0, "abcd"), (1, "abc"), (2, "ab"), (9, "a")])
def test_a_search_ends_with_what_it_has_when_nothing_more_may_be_asked(questions: int, expected: str) -> None:
    asked = iter(range(questions))

    def fails(choice: Sequence[str]) -> bool | None:
        return "a" in choice if next(asked, None) is not None else None

    assert "".join(answered(irreducible("abcd"), fails)) == expected


@pytest.mark.parametrize("number", range(1, 10))
def test_the_least_number_is_found(number: int) -> None:
    """Also where answers are waited for."""

    async def fails(asked: int) -> bool:
        return asked >= number

    assert finished(answered_in_turn(least(1, 9), fails)) == number
    assert finished(answered_in_turn(least_up_to(9), fails)) == number
    assert finished(answered_in_turn(least_up_to(number - 1), fails)) == 0


def test_nothing_is_tried_that_is_part_of_what_is_known_not_to_fail() -> None:
    """The first and the last of eight fail together: smaller choices that lack the last are known to hold."""
    asked: list[tuple[int, ...]] = []

    def fails(choice: Sequence[int]) -> bool:
        asked.append(tuple(choice))
        return {0, 7} <= {*choice}

    assert answered(smallest_failing([*range(8)]), fails) == [0, 7]
    assert len(asked) == 8
    asked.clear()
    assert answered(smallest_failing([*range(8)], again=True), fails) == [0, 7]
    assert asked[-8:] == [(at,) for at in range(8)]
