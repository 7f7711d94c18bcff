"""A smallest set of clauses that cannot hold together."""

import pytest

from webhook.placement.conflict import smallest


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
