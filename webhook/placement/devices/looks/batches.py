"""Nodes that have not been looked at yet, in batches that look alike, of which the first stands for all.

The numbers of slices are compared at once for all nodes. So a look costs by nodes that differ, and not by nodes.
"""

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from webhook.placement.devices.allocation.node_devices import NodeSights
from webhook.placement.devices.looks.looks import Names, places_read
from webhook.placement.devices.published.devices import Devices
from webhook.placement.devices.published.mark_table import Prints, mixed
from webhook.placement.kube.bits import Bits, to_slots
from webhook.placement.kube.pod import NodeTerm

_TABLE: Final = 8
"""Cost of comparing all slices with the same attribute names."""

_ROWS: Final = 64
"""Number of nodes that can be compared at the cost of one look."""

Matching = Callable[[tuple[NodeTerm, ...]], Bits]
"""The nodes that the terms of a slice match."""


class Batches:
    """Nodes in batches by what claims read of the devices; ``cost`` is that of putting them into batches."""

    __slots__ = ("_devices", "_names", "_sights", "cost")

    def __init__(self, devices: Devices, sights: NodeSights, names: Names) -> None:
        self._devices = devices
        self._sights = sights
        self._names = names
        self.cost = 0

    def of(self, nodes: Bits, slot_of: dict[str, int], matching: Matching) -> Iterator[list[int]]:
        """The slots, large batches first. Nodes with pools in several slices are alone."""
        slots, prints = to_slots(nodes), np.zeros(nodes.bit_length(), np.uint64)
        self.cost = len(slots) // _ROWS
        alone = {slot for name in self._add_prints(prints, slot_of) if (slot := slot_of.get(name)) is not None}
        for at, terms in enumerate(self._sights.terms(), 1):
            self.cost += _TABLE
            seen = to_slots(matching(terms) & nodes)
            prints[seen] = mixed(prints[seen] + np.uint64(at))  # 0 would stay 0
        many = np.ones(len(prints), np.bool_)
        many[[slot for slot in alone if slot < len(many)]] = False
        yield from _equal(prints, slots[many[slots]])
        yield from ([slot] for slot in slots[~many[slots]].tolist())

    def _add_prints(self, prints: Prints, slot_of: dict[str, int]) -> set[str]:
        """Add hashes of the devices of nodes; the names of nodes of which the hash does not tell enough."""
        marks, alone = self._devices.marks, {*self._devices.odd_nodes(), *self._sights.named()}
        known_slots = {name: slot for name, slot in slot_of.items() if slot < len(prints)}
        for table in marks.tables.values():
            if table.rows < _TABLE:
                alone.update(table.nodes)
                continue
            self.cost += _TABLE + table.rows // _ROWS
            table.add_prints(prints, places_read(table.header, self._names), known_slots)
        return alone


def _equal(prints: Prints, slots: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Iterator[list[int]]:
    """The slots with equal hashes, many first."""
    ordered = slots[np.argsort(prints[slots], kind="stable")]
    hashes, every = prints[ordered], ordered.tolist()
    starts = np.flatnonzero(np.append(True, hashes[1:] != hashes[:-1])[: len(every)])
    ends = np.append(starts[1:], len(every))[: len(starts)]
    for at in np.argsort(starts - ends, kind="stable").tolist():
        yield every[starts[at] : ends[at]]
