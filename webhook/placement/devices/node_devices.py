"""The devices that one node can use, pool by pool, as the scheduler gathers them.

Source: ``dynamic-resource-allocation/structured/internal/incubating/pools_incubating.go`` of Kubernetes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct

from webhook.placement.devices.claims import DeviceName
from webhook.placement.devices.device import Counters, Device, Reach
from webhook.placement.devices.devices import Devices
from webhook.placement.devices.slices import DevicePool, DeviceSlice
from webhook.placement.kube.selection.tolerations import Taint

Reaches = Callable[[Reach], bool]
"""Whether the node in question can use devices of that reach."""


class UsableDevice(Struct, frozen=True, gc=False):
    """A device that a node can use; ``taints`` are the driver's and those of rules."""

    name: DeviceName
    device: Device
    taints: tuple[Taint, ...] = ()


class UsablePool(Struct, frozen=True, gc=False):
    """A pool of a node: its devices in the order in which they are tried, and what its counters have.

    ``others`` are devices of the pool that the node cannot use, which may consume counters as well.
    """

    name: DevicePool
    devices: tuple[UsableDevice, ...] = ()
    counters: Mapping[tuple[str, str], int] = {}
    others: tuple[UsableDevice, ...] = ()


class NodeDevices(Struct, frozen=True, gc=False):
    """The pools that a node can use.

    ``unsure`` tells that a pool is being updated, is not valid, or has a slice that cannot be read: the node may have
    what it seems to lack.
    """

    pools: tuple[UsablePool, ...] = ()
    unsure: bool = False


def node_devices(devices: Devices, node: str, reaches: Reaches) -> NodeDevices:
    """The devices that the node can use."""
    local = devices.local_pools(node)
    pools, unsure = [], any(name not in local for name in _doubtful(devices))
    for name in sorted({*local, *devices.shared_pools()}):
        pool, known = _seen(devices, name, reaches)
        unsure = unsure or not known
        if pool and pool.devices:
            pools.append(pool)
    return NodeDevices(tuple(pools), unsure or _confused(pools))


def _doubtful(devices: Devices) -> frozenset[DevicePool]:
    """The pools of counters, and of devices of single nodes, that all other nodes are unsure of.

    Each node sees the counters of all others, so this is found out once for all of them.
    """
    version, found = devices.doubtful
    if version != devices.changes.version:
        shared = {*devices.shared_pools()}
        alone = (name for name in devices.wide_pools() if name not in shared)
        found = frozenset(name for name in alone if not _seen(devices, name, lambda _: False)[1])
        devices.doubtful = devices.changes.version, found
    return found


def _seen(devices: Devices, name: DevicePool, reaches: Reaches) -> tuple[UsablePool | None, bool]:
    """The pool as the node sees it, if it does, and whether it is known what the node can use of it."""
    published = devices.slices_of(name)
    relevant = [found for found in published.values() if found.counters or any(map(reaches, _reaches(found)))]
    if not relevant:
        return None, True
    known = not any(found.unread for found in relevant)
    newest = max(found.generation for found in relevant)
    relevant = [found for found in relevant if found.generation == newest]
    others: list[DeviceSlice] = []
    if len(relevant) != relevant[0].expected:
        if any(found.generation > newest for found in published.values()):
            return None, known  # the driver replaces what the node sees
        others = [found for found in published.values() if found.generation == newest and found not in relevant]
        if len(relevant) + len(others) != relevant[0].expected:
            return None, False
    pool = _pool(devices, name, relevant, others, reaches)
    return pool, known and pool is not None


def _reaches(published: DeviceSlice) -> Iterator[Reach]:
    if published.reach is not None:
        yield published.reach
    else:
        yield from (found.traits.reach for found in published.devices if found.traits.reach is not None)


def _pool(
    devices: Devices, name: DevicePool, relevant: list[DeviceSlice], others: list[DeviceSlice], reaches: Reaches
) -> UsablePool | None:
    """The pool of these slices; ``None`` if it is not valid, so that no device of it is given to anybody."""
    ordered = sorted(relevant, key=lambda found: found.name)
    names = [found.name for part in ordered for found in part.devices]
    counters = _counters(part for part in ordered if part.counters)
    if len(names) != len(set(names)) or counters is None:
        return None
    consumed = (used for part in (*ordered, *others) for found in part.devices for used in found.traits.consumes)
    if any((used.name, counter) not in counters for used in consumed for counter, _ in used.amounts):
        return None
    usable: list[UsableDevice] = []
    rest: list[Device] = []
    for part in ordered:
        for found in part.devices:
            if part.reach is not None or (found.traits.reach and reaches(found.traits.reach)):
                usable.append(_usable(devices, name, found))
            else:
                rest.append(found)
    rest += [found for part in others for found in part.devices]
    consuming = tuple(_usable(devices, name, found) for found in rest if found.traits.consumes)
    return UsablePool(name, tuple(usable), counters, consuming)


def _usable(devices: Devices, pool: DevicePool, device: Device) -> UsableDevice:
    name = DeviceName(*pool, device.name)
    taints = device.traits.taints
    if rules := devices.rules():
        taints += tuple(rule.taint for rule in rules if rule.taints(name))
    return UsableDevice(name, device, taints)


def _counters(parts: Iterable[DeviceSlice]) -> dict[tuple[str, str], int] | None:
    """The amounts of the pool by counter set and counter; ``None`` if a set is there twice."""
    sets: list[Counters] = [found for part in parts for found in part.counters]
    if len({found.name for found in sets}) != len(sets):
        return None
    return {(found.name, counter): amount for found in sets for counter, amount in found.amounts}


def _confused(pools: list[UsablePool]) -> bool:
    """Whether pools of two drivers have one name, and counters: the scheduler then may count with those of one."""
    named = [pool.name.pool for pool in pools if pool.counters and pool.devices]
    return len(named) != len(set(named))
