"""``accepted`` finds as many items as fit together, in their order, with few questions."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from webhook.placement.planning.acceptance import accepted
from webhook.placement.planning.search.solver import finished

SIZES = st.lists(st.integers(0, 5), max_size=12)


def taken(sizes: Sequence[int], room: int) -> tuple[list[tuple[int, int]], list[int]]:
    """The items, each with its place, that fit into the room, and the lengths of the lists that were asked about."""
    asked: list[int] = []

    async def fits(chosen: Sequence[tuple[int, int]]) -> bool:
        asked.append(len(chosen))
        return sum(size for _, size in chosen) <= room

    return finished(accepted(list(enumerate(sizes)), fits, lambda item: item[1])), asked


@given(SIZES, st.integers(0, 20))
def test_each_item_is_judged_beside_all_that_were_accepted_before(sizes: list[int], room: int) -> None:
    expected, used = [], 0
    for at, size in enumerate(sizes):
        if used + size <= room:
            expected.append((at, size))
            used += size
    assert taken(sizes, room)[0] == expected


@given(SIZES, st.integers(0, 20))
def test_the_last_list_that_fits_is_the_result(sizes: list[int], room: int) -> None:
    last: list[tuple[int, int]] = []

    async def fits(chosen: Sequence[tuple[int, int]]) -> bool:
        nonlocal last
        fine = sum(size for _, size in chosen) <= room
        last = [*chosen] if fine else last
        return fine

    assert finished(accepted(list(enumerate(sizes)), fits, lambda item: item[1])) == last


def test_nothing_is_asked_about_nothing() -> None:
    assert taken([], 0) == ([], [])


def test_a_thousand_equal_items_take_a_dozen_questions() -> None:
    found, asked = taken([1] * 1000, 700)
    assert len(found) == 700
    assert len(asked) < 13
