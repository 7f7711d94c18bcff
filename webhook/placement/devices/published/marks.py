"""What slices are like, attribute by attribute, as numbers: slices that are alike in an attribute have the same one.

They are made when a slice comes, so that a decision compares numbers of nodes, and not their devices.
"""

from array import array
from collections.abc import Hashable
from typing import Final

from msgspec import Struct

from webhook.placement.devices.published.mark_table import MarkTable
from webhook.placement.devices.published.slices import DeviceSlice

_KEPT: Final = 32_768
"""So many different kinds of slices are remembered, by what they have beside attributes."""


class SliceMarks(Struct, frozen=True, gc=False):
    """A number for each attribute by its id, that is, its name without a domain, and one for the ``rest`` of the slice.

    The number of an attribute is a hash of 64 bits. ``ids`` is one object for all slices with the same ones, ``row``
    where the slice is in their table.
    """

    ids: tuple[str, ...]
    numbers: "array[int]"
    rest: int
    row: int


class MarkIndex:
    """The marks of all slices."""

    __slots__ = ("_last", "_rests", "by_name", "tables")

    def __init__(self) -> None:
        self.by_name: dict[str, SliceMarks] = {}
        """By names of slices."""
        self.tables: dict[tuple[str, ...], MarkTable] = {}
        """By ids of attributes, the slices that have these."""
        self._rests: dict[Hashable, int] = {}
        self._last = 0

    def put(self, part: DeviceSlice) -> None:
        """Add those of the slice."""
        texts: dict[str, list[str]] = {}
        for at, device in enumerate(part.devices):
            for entry in device.attributes:
                # The representation of a value tells true from 1, and a version from its text.
                texts.setdefault(entry.name.rpartition("/")[2], []).append(f"{at} {entry.name} {entry.value!r}")
        ids = tuple(sorted(texts))
        numbers = array("q", [hash("\n".join(texts[name])) for name in ids])  # of a list, so without spare room
        marks = self._in_table(part, ids, numbers, self._rest(part))
        self.by_name[part.name] = marks

    def drop(self, name: str) -> None:
        """Remove those of the slice of that name."""
        marks = self.by_name.pop(name)
        table = self.tables[marks.ids]
        table.drop(marks.row)
        if not table.rows:
            del self.tables[marks.ids]

    def _in_table(self, part: DeviceSlice, ids: tuple[str, ...], numbers: "array[int]", rest: int) -> SliceMarks:
        table = self.tables.get(ids)
        if table is None:
            table = self.tables[ids] = MarkTable(ids)
        row = table.put(part.reach.node if part.reach else "", hash((part.driver, rest)), numbers)
        return SliceMarks(table.ids, numbers, rest, row)

    def _rest(self, part: DeviceSlice) -> int:
        """The number of all of its devices but for names and attributes. None ever stands for something else again."""
        twice = len({device.name for device in part.devices}) != len(part.devices)
        rest = twice, tuple((device.capacity, device.traits) for device in part.devices)
        if len(self._rests) >= _KEPT:
            self._rests.clear()
        if rest not in self._rests:
            self._last += 1
            self._rests[rest] = self._last
        return self._rests[rest]
