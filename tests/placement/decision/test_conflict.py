"""A smallest set of clauses that cannot hold together."""

from collections.abc import Sequence

import pytest

from webhook.placement.decision.conflict import fewest, smallest


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
    assert len(asked) == 1 + 20 + 50
