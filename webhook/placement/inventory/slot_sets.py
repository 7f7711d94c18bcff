"""Sets of nodes by value, for values that most often belong to one node: host names, addresses, uids.

A set of one is kept as the number of its slot: with 15,000 nodes a bitset takes two kilobytes, a number 32 bytes.
"""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from webhook.placement.kube.bits import Bits

_Key = TypeVar("_Key")


class SlotSets(Mapping[_Key, Bits]):
    """A table of sets that are never empty."""

    __slots__ = ("_sets",)

    def __init__(self) -> None:
        self._sets: dict[_Key, int] = {}
        """A set as its bits, or, if it is of one slot only, the complement of the slot: a negative number."""

    def add(self, key: _Key, slot: int) -> None:
        """Put the node into the set of that key."""
        there = self._sets.get(key)
        if there is None:
            self._sets[key] = ~slot
        elif there != ~slot:
            self._sets[key] = _bits(there) | 1 << slot

    def discard(self, key: _Key, slot: int) -> None:
        """Take the node out of the set of that key; an empty set leaves the table."""
        left = _bits(self._sets.get(key, 0)) & ~(1 << slot)
        if not left:
            self._sets.pop(key, None)
        else:
            self._sets[key] = ~(left.bit_length() - 1) if left.bit_count() == 1 else left

    def of(self, key: _Key) -> Bits:
        """The set of that key; empty where there is none."""
        found = self._sets.get(key, 0)
        return found if found >= 0 else 1 << ~found

    def __getitem__(self, key: _Key) -> Bits:
        return _bits(self._sets[key])

    def __iter__(self) -> Iterator[_Key]:
        return iter(self._sets)

    def __len__(self) -> int:
        return len(self._sets)


def _bits(kept: int) -> Bits:
    return kept if kept >= 0 else 1 << ~kept
