"""The nodes of a cluster in groups whose devices look alike to selectors that read the same attributes.

What is found out about claims is found out for each group once. A group is found once for all such claims.
"""

from collections.abc import Callable, Hashable, Iterator
from typing import Final

from webhook.placement.devices.looks.looks import Looks, Names
from webhook.placement.devices.selectors.selector import DeviceBudget
from webhook.placement.kube.bits import Bits, slots, to_slots

_FEW: Final = 16
"""Up to this number of nodes, slots are found faster one by one."""

GroupKey = tuple[Names, bool]
"""Ids of attributes that are read, and whether the names of devices matter as well."""


class NodesByLooks:
    """Sets of nodes by their looks; ``left`` are nodes that have not been looked at yet.

    ``version`` grows with every change, ``time`` is when nodes were last followed. ``named`` tells that the names of
    devices matter as well.
    """

    __slots__ = ("_of", "key", "looks", "named", "sets", "time", "unseen", "version")

    def __init__(self, key: GroupKey) -> None:
        self.key = key
        self.named = key[1]
        self.looks = Looks(key[0])
        self.sets: dict[Hashable, Bits] = {}
        self.unseen: Bits = 0
        self.version = 0
        self.time = (-1, -1)
        self._of: dict[int, Hashable] = {}
        """The looks of nodes, by slot."""

    def forget(self, places: Bits | None, everything: Bits) -> None:
        """Look again at these nodes, which may have changed or gone; at all of them for ``None``."""
        if places is None:
            self.sets, self._of, self.unseen = {}, {}, everything
            self.version += 1
            return
        for slot in slots(places) if places.bit_count() <= _FEW else to_slots(places).tolist():
            looks = self._of.pop(slot, None)
            if looks is not None:
                self.sets[looks] &= ~(1 << slot)
                if not self.sets[looks]:
                    del self.sets[looks]
        self.unseen = (self.unseen | places) & everything
        self.version += bool(places)

    def look(
        self, batches: Iterator[list[int]], look: Callable[[int], tuple[Hashable, int]], budget: DeviceBudget
    ) -> None:
        """Put those that are left, in batches of nodes that look alike, into their groups, as far as the budget goes.

        The first node of each batch is looked at; each look comes with what it costs.
        """
        places_of: dict[Hashable, list[int]] = {}
        same, done = {looks: looks for looks in self.sets}, list[int]()
        for batch in batches:
            looks, cost = look(batch[0])
            budget.evaluations -= cost
            looks = same.setdefault(looks, looks)  # equal ones are one object, which takes less memory
            done += batch
            places_of.setdefault(looks, []).extend(batch)
            if budget.evaluations <= 0:
                break
        for looks, places in places_of.items():
            bits = 1 << places[0] if len(places) == 1 else bits_of(places)
            self._of |= dict.fromkeys(places, looks)
            self.sets[looks] = self.sets.get(looks, 0) | bits
        self.unseen &= ~bits_of(done)
        self.version += 1


def bits_of(places: list[int]) -> Bits:
    """The set of these slots."""
    if len(places) <= _FEW:
        return sum(1 << slot for slot in places)
    raw = bytearray(max(places) // 8 + 1)
    for slot in places:
        raw[slot >> 3] |= 1 << (slot & 7)
    return int.from_bytes(raw, "little")
