"""The devices of a slice as a table, of which slices of equal nodes share the columns."""

import itertools
from collections.abc import Collection, Iterator
from typing import Any, Final

from msgspec import Struct

from webhook.placement.devices.published.columns import Column, SharedColumns
from webhook.placement.devices.published.device import Attribute, Device, DeviceCapacity, Traits

_ABSENT: Final = Attribute("", None)
"""Stands in a column for a device without the attribute."""


class DeviceTable(Struct, frozen=True, gc=False):
    """Devices, each of which is put together when it is asked for.

    ``header`` are the names of the ``attributes``, in order. Slices whose devices have the same but for names and
    attributes have one ``common`` number. The table is ``full`` if each device has every attribute.
    """

    header: Column[str]
    names: Column[str]
    attributes: tuple[Column[Attribute], ...]
    capacity: Column[tuple[DeviceCapacity, ...]]
    traits: Column[Traits]
    common: Column[int]
    full: bool

    def __len__(self) -> int:
        return len(self.names.values)

    def __contains__(self, device: object) -> bool:
        return device in [*self]

    def __iter__(self) -> Iterator[Device]:
        return map(Device, self.names.values, self._rows(), self.capacity.values, self.traits.values)

    def give_back(self, columns: SharedColumns) -> None:
        """The slice is gone: it has the columns no more."""
        shared: tuple[Column[Any], ...] = self.header, self.names, self.capacity, self.traits, self.common
        for column in (*shared, *self.attributes):
            columns.give_back(column)

    def _rows(self) -> Iterator[tuple[Attribute, ...]]:
        """The attributes of each device."""
        if not self.attributes:
            return itertools.repeat(())
        rows = zip(*[column.values for column in self.attributes], strict=True)
        return rows if self.full else (tuple([each for each in row if each is not _ABSENT]) for row in rows)


def table_of(devices: Collection[Device], columns: SharedColumns) -> DeviceTable:
    """The table of a slice with these devices."""
    rows = [{attribute.name: attribute for attribute in device.attributes} for device in devices]
    header = tuple(sorted({name for row in rows for name in row}))
    names = tuple([device.name for device in devices])
    capacity = columns.take(tuple([device.capacity for device in devices]))
    traits = columns.take(tuple([device.traits for device in devices]))
    ambiguous = len({*names}) < len(names)
    return DeviceTable(
        columns.take(header),
        columns.take(names),
        tuple([_column([row.get(name, _ABSENT) for row in rows], columns) for name in header]),
        capacity,
        traits,
        columns.take((ambiguous, capacity.number, traits.number)),
        all(len(row) == len(header) for row in rows),
    )


def _column(attributes: list[Attribute], columns: SharedColumns) -> Column[Attribute]:
    types = tuple([each.value.__class__ for each in attributes])
    return columns.take(tuple(attributes), types[0] if len({*types}) == 1 else types)
