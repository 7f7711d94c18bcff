"""The look of a node: a value that is equal for nodes whose devices the selectors of given claims cannot tell apart."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Final
from weakref import WeakKeyDictionary

from webhook.placement.devices.allocation.node_devices import NodeDevices, SharedPool, UsableDevice, UsablePool
from webhook.placement.devices.published.claims import ClaimSpec
from webhook.placement.devices.published.columns import Column
from webhook.placement.devices.published.device import Device
from webhook.placement.devices.published.devices import Devices
from webhook.placement.devices.selectors.selector import selector

_KEPT: Final = 32_768
"""Maximum number of looks kept. The number of a look is never reused."""

Names = frozenset[str] | None
"""Ids of attributes without their domain; ``None`` stands for all."""


def names_read(claims: Iterable[ClaimSpec]) -> Names:
    """The ids of attributes that the claims may depend on."""
    names: set[str] = set()
    for spec in claims:
        names.update((agreement.match or agreement.distinct).partition("/")[2] for agreement in spec.agreements)
        for expression in {
            text for request in spec.requests for choice in request.choices for text in choice.selectors
        }:
            read = selector(expression).read
            if read is not None and read.names is None:
                return None
            names.update((read and read.names) or ())
    return frozenset(names)


def places_read(header: Sequence[str], names: Names) -> tuple[int, ...]:
    """Where attributes with these ids are in a header."""
    return tuple([at for at, name in enumerate(header) if _is_read(name, names)])


def _is_read(name: str, names: Names) -> bool:
    """Whether the attribute of that full name has one of the ids."""
    return names is None or name.rpartition("/")[2] in names


class Looks:
    """The looks of slices by the attributes of these names, as numbers: equal slices have the same one."""

    __slots__ = ("_last", "_matching", "_names", "_numbers", "_relevant", "_shared")

    def __init__(self, names: Names) -> None:
        self._names = names
        self._last = 0
        self._relevant: dict[str, bool] = {}
        """Full names of attributes, and whether they matter."""
        self._matching: dict[int, tuple[int, ...]] = {}
        """Positions of the relevant attributes, by table header."""
        self._numbers: dict[Hashable, int] = {}
        self._shared = WeakKeyDictionary[SharedPool, int]()

    def of_node(self, devices: Devices, node: str) -> Hashable | None:
        """The looks of the devices of a node with pools of its own, each one legible slice; else ``None``."""
        looks, devices_of, matching = list[tuple[Hashable, ...]](), devices.marks.by_name, self._matching
        for pool in devices.local_pools(node):
            published = devices.slices_of(pool)
            if len(published) > 1:
                return None
            (sole,) = published
            if sole.expected != 1 or sole.unread:
                return None
            table = devices_of[sole.name]
            places = matching.get(table.header.number)
            if places is None:
                places = self._places(table.header)
            columns = table.attributes
            looks.append((pool.driver, table.common.number, *[columns[at].number for at in places]))
        return looks[0] if len(looks) == 1 else tuple(sorted(looks))

    def of_devices(self, devices: NodeDevices, *, named: bool) -> Hashable:
        """The looks of the devices that a node can use; ``named`` tells that their names matter as well."""
        return devices.unsure, tuple(self._of_pool(pool, named=named) for pool in devices.pools)

    def of_shared(self, shared: SharedPool) -> int:
        """The looks of what several nodes see of a pool: found out once for all of them."""
        looks = self._shared.get(shared)
        if looks is None:
            pool = shared.pool
            looks = self._number((shared.known, pool and self._of_pool(pool, named=False)))
            self._shared[shared] = looks
        return looks

    def _of_pool(self, pool: UsablePool, *, named: bool) -> Hashable:
        return (
            pool.name if named else pool.name.driver,
            self._all(pool.devices, named=named),
            tuple(sorted(pool.counters.items())),
            self._all(pool.others, named=named),
        )

    def _places(self, header: Column[str]) -> tuple[int, ...]:
        """Where among the names of attributes those are that matter."""
        if len(self._matching) >= _KEPT:
            self._matching.clear()
        places = self._matching[header.number] = places_read(header.values, self._names)
        return places

    def _number(self, looks: Hashable) -> int:
        """The number that stands for these looks."""
        if len(self._numbers) >= _KEPT:
            self._numbers.clear()
        if looks not in self._numbers:
            self._last += 1
            self._numbers[looks] = self._last
        return self._numbers[looks]

    def _all(self, devices: Sequence[UsableDevice], *, named: bool) -> Hashable:
        return tuple((named and device.name, device.taints, self._of_device(device.device)) for device in devices)

    def _of_device(self, device: Device) -> Hashable:
        """All of the device but its name and attributes of other names; ``True`` differs from 1."""
        relevant, looks = self._relevant, list[Hashable]()
        for attribute in device.attributes:
            matters = relevant.get(attribute.name)
            if matters is None:
                matters = self._matters(attribute.name)
            if matters:
                looks.append((attribute.name, attribute.value.__class__, attribute.value))
        return tuple(looks), device.capacity, device.traits

    def _matters(self, name: str) -> bool:
        """Whether an attribute of that full name matters."""
        if len(self._relevant) >= _KEPT:
            self._relevant.clear()
        matters = self._relevant[name] = _is_read(name, self._names)
        return matters
