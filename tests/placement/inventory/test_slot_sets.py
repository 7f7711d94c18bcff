"""Sets of nodes by value, most of them of one node."""

import pytest

from webhook.placement.inventory.index import SlotSets


@pytest.fixture
def sets() -> SlotSets[str]:
    """One node under "a", two under "b"."""
    found: SlotSets[str] = SlotSets()
    for key, slot in (("a", 3), ("b", 0), ("b", 5)):
        found.add(key, slot)
    return found


def test_a_set_is_a_bitset_however_it_is_kept(sets: SlotSets[str]) -> None:
    assert (sets.of("a"), sets.of("b"), sets.of("c")) == (0b1000, 0b100001, 0)
    assert dict(sets) == {"a": 0b1000, "b": 0b100001}


@pytest.mark.parametrize(("key", "slot"), [("a", 3), ("b", 5)], ids=["the only one", "one of two"])
def test_a_node_is_in_a_set_once(sets: SlotSets[str], key: str, slot: int) -> None:
    before = sets.of(key)
    sets.add(key, slot)
    assert sets.of(key) == before


def test_a_set_shrinks_to_one_and_grows_again(sets: SlotSets[str]) -> None:
    sets.discard("b", 0)
    assert sets.of("b") == 0b100000
    sets.add("b", 1)
    assert sets.of("b") == 0b100010


def test_a_large_set_stays_one_when_a_node_goes(sets: SlotSets[str]) -> None:
    sets.add("b", 7)
    sets.discard("b", 0)
    assert sets.of("b") == 0b10100000


def test_an_empty_set_leaves_the_table(sets: SlotSets[str]) -> None:
    sets.discard("a", 3)
    sets.discard("never", 3)
    assert list(sets) == ["b"]
    assert len(sets) == 1
    assert "a" not in sets
