"""What nodes offer and have given away."""

import gc
import random
import tracemalloc
from collections import Counter

import pytest

from webhook.placement.inventory.capacity import Capacity


@pytest.fixture
def capacity() -> Capacity:
    """Slot 0 offers 4 cores, slot 1 offers 2; one core of each is used."""
    found = Capacity()
    found.offer(0, {"cpu": 4000, "pods": 110})
    found.offer(1, {"cpu": 2000, "pods": 110})
    for slot in (0, 1):
        found.take(slot, {"cpu": 1000})
    return found


@pytest.mark.parametrize(
    ("tally", "free", "expected"),
    [
        pytest.param({"cpu": 4000}, False, 0b01, id="all that a node offers"),
        pytest.param({"cpu": 4001}, False, 0b00, id="more than any offers"),
        pytest.param({"cpu": 2000}, True, 0b01, id="less is free than offered"),
        pytest.param({"cpu": 1000}, True, 0b11, id="exactly what is free"),
        pytest.param({"pods": 110}, True, 0b11, id="nothing of it used"),
        pytest.param({"cpu": 1000, "pods": 111}, False, 0b00, id="all resources count"),
        pytest.param({"example.com/gpu": 1}, False, 0b00, id="resource that nobody offers"),
        pytest.param({"example.com/gpu": 0, "cpu": 1}, False, 0b11, id="nothing of what nobody offers"),
        pytest.param({"cpu": 2**200}, False, 0b00, id="beyond 64 bits"),
    ],
)
def test_nodes_fit_that_have_enough_of_everything(
    capacity: Capacity, tally: dict[str, int], *, free: bool, expected: int
) -> None:
    assert (capacity.fits_free(tally) if free else capacity.fits(tally)) & 0b11 == expected


def test_a_pod_that_asks_for_nothing_fits_everywhere(capacity: Capacity) -> None:
    assert capacity.fits({}) == -1


def test_an_answer_is_forgotten_when_a_node_offers_something_else(capacity: Capacity) -> None:
    assert capacity.fits({"cpu": 3000}) == 0b01
    capacity.offer(1, {"cpu": 3000})
    assert capacity.fits({"cpu": 3000}) == 0b11


def test_any_number_of_amounts_can_be_asked_about(capacity: Capacity) -> None:
    answers = {amount: capacity.fits({"cpu": amount}) for amount in range(1, 4002)}
    assert [answers[amount] for amount in (1, 2000, 2001, 4000, 4001)] == [0b11, 0b11, 0b01, 0b01, 0]


def test_a_resource_that_a_node_no_longer_offers_is_gone(capacity: Capacity) -> None:
    capacity.offer(0, {"pods": 110})
    assert capacity.allocatable("cpu", 0) == 0


def test_what_is_given_back_is_free_again(capacity: Capacity) -> None:
    capacity.take(0, {"cpu": 1000}, -1)
    assert capacity.used("cpu", 0) == 0


@pytest.mark.parametrize(
    ("resource", "slot"),
    [
        pytest.param("memory", 0, id="resource that nobody uses"),
        pytest.param("cpu", 5000, id="slot beyond all others"),
    ],
)
def test_nothing_is_used_where_nothing_was_taken(capacity: Capacity, resource: str, slot: int) -> None:
    assert capacity.used(resource, slot) == 0


def test_a_resource_that_no_node_offers_has_an_amount_of_zero(capacity: Capacity) -> None:
    assert capacity.allocatable("example.com/gpu", 0) == 0


def test_rows_grow_with_the_highest_slot_and_keep_their_amounts(capacity: Capacity) -> None:
    capacity.offer(1000, {"cpu": 8000})
    assert [capacity.allocatable("cpu", slot) for slot in (0, 1, 500, 1000)] == [4000, 2000, 0, 8000]


def test_rows_of_an_unknown_resource_are_zeros(capacity: Capacity) -> None:
    offered, used = capacity.rows("example.com/gpu")
    assert not offered.any()
    assert not used.any()


def test_an_absurd_amount_never_overflows(capacity: Capacity) -> None:
    for _ in range(100):
        capacity.take(0, {"cpu": 2**63})
    assert capacity.fits_free({"cpu": 1}) & 0b11 == 0b10


@pytest.mark.parametrize(
    ("tally", "free", "expected"),
    [
        pytest.param({"cpu": 1000}, 0b00, [4, 2], id="whatever is used"),
        pytest.param({"cpu": 1500}, 0b00, [2, 1], id="whole pods"),
        pytest.param({"cpu": 1000}, 0b01, [3, 2], id="of what is left, in some slots"),
        pytest.param({"cpu": 1, "pods": 50}, 0b00, [2, 2], id="the scarcest resource counts"),
        pytest.param({"example.com/gpu": 1}, 0b11, [0, 0], id="resource that nobody offers"),
        pytest.param({"cpu": 2**200}, 0b00, [0, 0], id="beyond 64 bits"),
    ],
)
def test_a_node_holds_so_many_copies(capacity: Capacity, tally: dict[str, int], free: int, expected: list[int]) -> None:
    assert capacity.copies(tally, free=free)[:2].tolist() == expected


def test_of_less_than_nothing_no_copy_is_left(capacity: Capacity) -> None:
    capacity.take(1, {"cpu": 9000})
    assert capacity.copies({"cpu": 1}, free=0b10)[:2].tolist() == [4000, 0]


def test_counting_copies_changes_nothing(capacity: Capacity) -> None:
    capacity.copies({"cpu": 1}, free=0b11)
    assert [capacity.allocatable("cpu", slot) for slot in (0, 1)] == [4000, 2000]


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        pytest.param(["cpu"], 1, id="given back"),
        pytest.param(["memory"], 1, id="taken, and offered by no node"),
        pytest.param(["cpu", "memory"], 2, id="of all of them"),
        pytest.param([], 0, id="of nothing"),
    ],
)
def test_changes_are_counted_by_resource(capacity: Capacity, resources: list[str], expected: int) -> None:
    before = capacity.changes(resources)
    capacity.take(0, {"cpu": 1000, "memory": 1}, -1)
    assert capacity.changes(resources) - before == expected


def test_changes_never_come_to_a_number_again_when_many_use_what_no_node_offers(capacity: Capacity) -> None:
    names, found = ["example.com/a", "example.com/b"], list[int]()
    for sign in (1, -1, 1):
        for slot in range(8):
            capacity.take(slot, {names[slot % 2]: 1, names[0]: 1}, sign)
            found.append(capacity.changes(names))
    assert found == sorted({*found})


def test_what_is_used_of_any_resource_is_known_however_many_nodes_use_it() -> None:
    """Beside a count by hand: taken and given back, on few nodes and many, before and after nodes offer it."""
    dice = random.Random(7)  # noqa: S311 -- no secret
    capacity, by_hand = Capacity(), Counter[tuple[str, int]]()
    names = [f"example.com/{at}" for at in range(6)]
    for turn in range(4000):
        name, slot = dice.choice(names), dice.randrange(3 if turn < 2000 else 100)
        amount = dice.choice([0, 1, 5, by_hand[name, slot]])
        sign = -1 if by_hand[name, slot] >= amount and dice.random() < 0.6 else 1
        capacity.take(slot, {name: amount}, sign)
        by_hand[name, slot] += sign * amount
        if turn in {1000, 3000}:
            capacity.offer(1, {names[turn // 1000]: 7})
        if turn % 50 == 0:
            for other in names:
                _, row = capacity.rows(other)
                known = [by_hand[other, at] for at in range(len(row))]
                assert row.tolist() == known
                assert [capacity.used(other, at) for at in range(len(row))] == known
                assert [capacity.allocatable(other, at) - used for at, used in enumerate(known)] == [
                    capacity.free(other, at) for at in range(len(row))
                ]


def test_a_pod_that_requests_a_thousand_resources_of_its_own_costs_little_and_leaves_nothing() -> None:
    """Whoever may create pods may request any names, and name the node: a row of 5,000 nodes for each took 40 MB."""
    capacity = Capacity()
    capacity.offer(4999, {"cpu": 1})
    tally = {f"example.com/{at}": 1 for at in range(1000)}
    gc.collect()
    tracemalloc.start()
    try:
        capacity.take(7, tally)
        most, _ = tracemalloc.get_traced_memory()
        capacity.take(7, tally, -1)
        left, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 1_000_000
    assert left < 100_000


def test_what_nodes_offer_is_not_a_change_of_what_is_used(capacity: Capacity) -> None:
    before = capacity.changes(["cpu"])
    capacity.offer(0, {"cpu": 8000})
    assert capacity.changes(["cpu"]) == before


def test_changes_of_a_resource_that_no_node_offers_are_counted_on_when_its_last_use_ends(capacity: Capacity) -> None:
    """What was kept by an earlier count must not be found again."""
    counts = []
    for _ in range(2):
        for slot in range(9):
            capacity.take(slot, {"example.com/gpu": 1})
            counts.append(capacity.changes(["example.com/gpu"]))
        for slot in range(9):
            capacity.take(slot, {"example.com/gpu": 1}, -1)
            counts.append(capacity.changes(["example.com/gpu"]))
        assert not capacity.rows("example.com/gpu")[1].any()
    assert counts == sorted(set(counts))


def test_what_is_used_of_an_offered_resource_is_counted_on_when_its_last_use_ends(capacity: Capacity) -> None:
    capacity.take(0, {"cpu": 1000}, -1)
    capacity.take(1, {"cpu": 1000}, -1)
    capacity.take(1, {"cpu": 500})
    assert [capacity.used("cpu", slot) for slot in (0, 1)] == [0, 500]
