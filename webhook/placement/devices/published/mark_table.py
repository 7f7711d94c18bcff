"""The marks of slices whose devices have attributes of the same names, as a table: compared at once for all nodes."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

_MIXER: Final = np.uint64(0x9E3779B97F4A7C15)
_SHIFT: Final = np.uint64(29)

Prints = np.ndarray[tuple[int], np.dtype[np.uint64]]
"""A hash for each slot, or for each row of a table."""


class MarkTable:
    """A row for each slice: a hash of what it has beside attributes, and the number of each attribute of ``header``.

    ``nodes`` are the names of the slices' nodes by row; a row that is free, or not of one node, has none.
    """

    __slots__ = ("_free", "_numbers", "_row_of", "header", "nodes")

    def __init__(self, header: tuple[str, ...]) -> None:
        self.header = header
        self.nodes: list[str] = []
        self._numbers = np.zeros((1, 1 + len(header)), np.int64)
        self._row_of: dict[str, int] = {}
        self._free: list[int] = []

    @property
    def rows(self) -> int:
        """The number of slices in the table."""
        return len(self._row_of)

    def put(self, name: str, node: str, numbers: Sequence[int]) -> None:
        """Add the row of the slice of that name, which is of that node."""
        if self._free:
            row = self._free.pop()
        else:
            row = len(self.nodes)
            self.nodes.append("")
            if row >= len(self._numbers):
                self._numbers = np.concatenate((self._numbers, np.zeros_like(self._numbers[row // 2 :])))
        self.nodes[row] = node
        self._numbers[row] = numbers
        self._row_of[name] = row

    def drop(self, name: str) -> None:
        """Remove the row of the slice."""
        row = self._row_of.pop(name)
        self.nodes[row] = ""
        self._free.append(row)

    def add_prints(self, prints: Prints, places: Sequence[int], slot_of: Mapping[str, int]) -> None:
        """Add to that of its node a hash of each row, by those attributes; the order of slices does not matter."""
        there = [row for row, name in enumerate(self.nodes) if name in slot_of]
        rows = self._numbers[np.array(there, np.intp)].view(np.uint64)
        hashes = mixed(rows[:, 0])
        for at in places:
            hashes = mixed(hashes ^ rows[:, 1 + at])
        np.add.at(prints, [slot_of[self.nodes[row]] for row in there], hashes)


def mixed(hashes: Prints) -> Prints:
    """Other hashes, of which each bit depends on many of these; different ones stay different."""
    result = hashes * _MIXER
    result ^= result >> _SHIFT
    return result * _MIXER
