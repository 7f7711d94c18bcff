"""Proofs that amounts cannot all be packed, against every way to pack them."""

import random

import numpy as np
import pytest

from tests.suite.example_count import EVERY_DAY
from webhook.placement.planning.search.packing import TooMany, too_many

COUNT = 1500 if EVERY_DAY else 15000


def proved(sizes: list[int], capacities: list[int]) -> TooMany | None:
    return too_many(np.array(sizes), np.ones(len(sizes), np.int64), np.array(capacities))


def fits(sizes: list[int], left: list[int]) -> bool:
    """Whether the sizes, the largest first, can all be packed."""
    if not sizes:
        return True
    for at in {room: at for at, room in enumerate(left) if room >= sizes[0]}.values():
        left[at] -= sizes[0]
        done = fits(sizes[1:], left)
        left[at] += sizes[0]
        if done:
            return True
    return False


PROOFS = {
    "more halves than nodes": ([51, 51, 51], [100, 100], TooMany(51, 3, fit=2)),
    "thirds": ([34] * 5, [100, 100], TooMany(34, 5, fit=4)),
    "a large one has its node to itself": (
        [80, 60, 45], [100, 100], TooMany(45, 3, alone=2, asked=245, there=200)),
    "smaller ones do not matter": ([80, 60, 45, 1], [100, 100], TooMany(45, 3, alone=2, asked=245, there=200)),
    "a node that is too small for all of them": ([60, 60, 60], [100, 100, 50], TooMany(60, 3, fit=2)),
    "the least node that holds a large one": (
        [85, 85, 36, 30, 30], [90, 90, 95, 10], TooMany(30, 5, alone=2, asked=276, there=275)),
}  # fmt: skip


@pytest.mark.parametrize("case", PROOFS)
def test_what_is_free_but_cannot_be_used(case: str) -> None:
    sizes, capacities, proof = PROOFS[case]
    assert proved(sizes, capacities) == proof
    assert not fits(sorted((size for size in sizes if size >= proof.least), reverse=True), [*capacities])


NO_PROOFS = {
    "they fit": ([50, 50, 50, 50], [100, 100]),
    "each fits exactly": ([100, 50], [100, 50]),
    "nothing is asked for": ([0, 0], [0, 100]),
    "sums that are not exact": ([2**51] * 8, [2**51] * 4),
    "free amounts that are not exact": ([1], [2**52] * 4),
}


@pytest.mark.parametrize("case", NO_PROOFS)
def test_nothing_is_proved(case: str) -> None:
    assert proved(*NO_PROOFS[case]) is None


def test_equal_amounts_count_as_often_as_they_are_there() -> None:
    assert too_many(np.array([51, 51]), np.array([2, 1]), np.array([100, 100])) == TooMany(51, 3, fit=2)
    assert too_many(np.array([51, 51]), np.array([1, 1]), np.array([100, 100])) is None


def test_what_is_proved_has_no_packing() -> None:
    """Most amounts are a fifth to three quarters of a node, the nodes are equal or not: half are proved that cannot."""
    chance = random.Random(11)  # noqa: S311 -- the same cases each time
    impossible = found = 0
    for _ in range(COUNT):
        nodes = chance.randint(1, 4)
        room = [20] * nodes if chance.random() < 0.5 else [chance.randint(12, 20) for _ in range(nodes)]
        sizes = sorted((chance.randint(1, max(room)) for _ in range(chance.randint(1, 7))), reverse=True)
        proof = proved(sizes, room)
        if proof is not None:
            assert not fits([size for size in sizes if size >= proof.least], list(room)), (sizes, room)
            found += 1
        impossible += not fits(sizes, list(room))
    assert found > impossible * 0.5
