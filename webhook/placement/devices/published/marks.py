"""Slices as numbers of their columns: slices whose devices have equal values of an attribute have equal numbers.

The numbers are put into tables when a slice arrives, so that a decision compares the numbers of all nodes at once
instead of their devices.
"""

from webhook.placement.devices.published.device_table import DeviceTable
from webhook.placement.devices.published.mark_table import MarkTable
from webhook.placement.devices.published.slices import DeviceSlice


class MarkIndex:
    """The marks of all slices."""

    __slots__ = ("by_name", "tables")

    def __init__(self) -> None:
        self.by_name: dict[str, DeviceTable] = {}
        """The devices of slices, by name of the slice."""
        self.tables: dict[int, MarkTable] = {}
        """The slices whose devices have the attributes of a header, by number of the header."""

    def put(self, part: DeviceSlice, devices: DeviceTable) -> None:
        """Add those of the slice with these devices."""
        table = self.tables.get(devices.header.number)
        if table is None:
            table = self.tables[devices.header.number] = MarkTable(devices.header.values)
        numbers = [hash((part.driver, devices.common.number)), *[column.number for column in devices.attributes]]
        table.put(part.name, part.reach.node if part.reach else "", numbers)
        self.by_name[part.name] = devices

    def drop(self, name: str) -> DeviceTable:
        """Remove those of the slice of that name; its devices."""
        devices = self.by_name.pop(name)
        table = self.tables[devices.header.number]
        table.drop(name)
        if not table.rows:
            del self.tables[devices.header.number]
        return devices
