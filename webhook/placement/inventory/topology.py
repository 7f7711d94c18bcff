"""Topology domains: the nodes by the value of one of their labels, as the scheduler sees them."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from webhook.placement.inventory.capacity import Row
from webhook.placement.inventory.objects import Node
from webhook.placement.kube.bits import Bits, to_slots

NOWHERE = -1
"""The domain of a node without the label."""


class Domains(Struct, frozen=True, gc=False, eq=False):
    """The domains of one key: ``of`` is each slot's, from 0 to below ``count``, or :data:`NOWHERE`."""

    count: int
    of: Row

    def sums(self, places: npt.NDArray[np.intp], amounts: Row) -> Row:
        """What the slots ``places`` have of it together, by domain."""
        found = self.of[places]
        there = found >= 0
        return np.bincount(found[there], amounts[there], self.count).astype(np.int64)

    def having(self, nodes: Bits) -> npt.NDArray[np.bool_]:
        """Whether one of the nodes is there, by domain."""
        places = to_slots(nodes)
        return self.sums(places, np.ones_like(places)) > 0

    def each(self, amounts: Row, elsewhere: int) -> Row:
        """By slot, the amount of its domain; ``elsewhere`` where there is none."""
        return np.append(amounts, elsewhere)[self.of]


_KEYS = 64
"""Keys that are kept: more than pods of a cluster name, so requests cannot fill memory."""


class Topology:
    """The domains of keys that somebody asked for, kept until a node changes."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[str, Domains] = {}

    def forget(self) -> None:
        """A node came, went, or changed."""
        self._known.clear()

    def domains(self, key: str, nodes: Mapping[int, Node]) -> Domains:
        """The domains of the key among these nodes, by slot."""
        found = self._known.get(key)
        if found is None:
            of = np.full(max(nodes, default=-1) + 1, NOWHERE, np.int64)
            numbers: dict[str, int] = {}
            for slot, node in nodes.items():
                value = node.labels.get(key)
                if value is not None:
                    of[slot] = numbers.setdefault(value, len(numbers))
            if len(self._known) >= _KEYS:
                self._known.clear()
            found = self._known[key] = Domains(len(numbers), of)
        return found
