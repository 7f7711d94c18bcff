"""Devices are kept in columns that slices share: they come out as they were, and equal columns are one object."""

from msgspec.structs import replace

from webhook.placement.devices.published.columns import SharedColumns
from webhook.placement.devices.published.device import Attribute, Device, DeviceCapacity, Reach, Traits, Value, Version
from webhook.placement.devices.published.device_table import DeviceTable, table_of
from webhook.placement.devices.published.devices import Devices
from webhook.placement.devices.published.pools import PublishedPools
from webhook.placement.devices.published.slices import DevicePool, DeviceSlice

DRIVER = "gpu.example.com"
MEMORY = (DeviceCapacity("memory", 40),)


def gpu(at: int, *attributes: Attribute, model: str = "A100") -> Device:
    """A device with a serial number of its own."""
    return Device(f"gpu-{at}", (*attributes, Attribute("model", model), Attribute("serial", f"s{at}")), MEMORY)


def on(node: str, *devices: Device) -> DeviceSlice:
    return DeviceSlice(f"slice-{node}", DRIVER, node, reach=Reach(node=node), devices=devices)


def kept(devices: Devices, node: str) -> DeviceTable:
    """The devices of that slice as they are kept."""
    return devices.marks.by_name[f"slice-{node}"]


def columns_of(table: DeviceTable) -> dict[str, object]:
    return dict(zip(table.header.values, table.attributes, strict=True))


def test_devices_come_out_as_they_were() -> None:
    """Whatever attributes they have: all the same, some, or none."""
    columns, taken = SharedColumns(), Traits(shared=True)
    every = (gpu(0), gpu(1), Device("plain"), Device("part", (Attribute("model", None),), (), taken))
    for devices in (every, every[:2], every[2:3], every[3:], ()):
        table = table_of(devices, columns)
        assert [*table] == [*devices]
        assert len(table) == len(devices)
        assert all(device in table for device in devices)
        assert gpu(7) not in table


def test_slices_share_the_columns_in_which_they_agree() -> None:
    devices = Devices()
    for node, serial in (("n1", 0), ("n2", 2)):
        devices.put_slice(on(node, gpu(serial), replace(gpu(serial + 1), name="gpu-x")))
    one, other = kept(devices, "n1"), kept(devices, "n2")
    assert one.header is other.header
    assert (one.capacity, one.traits, one.common) == (other.capacity, other.traits, other.common)
    assert one.names is not other.names
    first, second = columns_of(one), columns_of(other)
    assert first["model"] is second["model"]
    assert first["serial"] is not second["serial"]


def test_a_number_never_stands_for_other_values() -> None:
    """Of columns that are forgotten neither: what was found out by them would hold for others."""
    columns, seen = SharedColumns(), set()
    values: list[Value] = [1, True, "1", Version("1"), (1,), None, -1, -2]
    for value in (*values, *values):
        table = table_of([Device("d", (Attribute("x", value),)), Device("e", (Attribute("x", "x"),))], columns)
        seen.add(table.attributes[0].number)
        table.give_back(columns)
    assert len(seen) == 2 * len(values)


def test_devices_with_one_name_differ_from_those_with_two() -> None:
    """The scheduler takes no device of a pool in which a name is there twice."""
    columns = SharedColumns()
    ambiguous = table_of([gpu(0), gpu(0)], columns)
    assert ambiguous.common is not table_of([gpu(0), gpu(1)], columns).common
    assert ambiguous.common is table_of([gpu(3), gpu(3)], columns).common


def test_a_slice_that_is_put_again_or_gone_gives_its_columns_back() -> None:
    devices = Devices()
    devices.put_slice(on("n1", gpu(0)))
    devices.put_slice(on("n2", gpu(0)))
    model = columns_of(kept(devices, "n1"))["model"]
    version = devices.version
    devices.put_slice(on("n1", gpu(0)))
    assert devices.version == version
    devices.drop_slice("slice-n2")
    devices.put_slice(on("n1", gpu(0), gpu(1)))
    devices.put_slice(on("n2", gpu(0)))
    assert columns_of(kept(devices, "n2"))["model"] is not model


def test_a_value_of_another_type_is_a_change() -> None:
    """In Python ``True`` equals 1, in a selector it does not."""
    devices = Devices()
    devices.put_slice(on("n1", Device("d", (Attribute("x", 1),))))
    version = devices.changes.version
    devices.put_slice(on("n1", Device("d", (Attribute("x", value=True),))))
    assert devices.changes.since(version) == {"n1"}
    assert [device.attributes[0].value for device in kept(devices, "n1")] == [True]


def test_pools_of_one_slice_and_of_several() -> None:
    """The slices of a pool are told in the order in which they came, whichever goes first."""
    pools, found = PublishedPools(), []
    one, other = DevicePool(DRIVER, "one"), DevicePool(DRIVER, "other")
    for name in "abc":
        pools.put(one, DeviceSlice(name, DRIVER, "one"))
    pools.put(other, DeviceSlice("d", DRIVER, "other"))
    assert (set(pools), [*pools.parted()]) == ({one, other}, [one])
    for name in "bac":
        pools.drop(one, name)
        found.append([part.name for part in pools.slices(one)])
    assert found == [["a", "c"], ["c"], []]
    assert ([*pools], [*pools.parted()]) == ([other], [])
