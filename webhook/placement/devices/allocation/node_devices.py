"""The devices that one node can use, pool by pool, as the scheduler gathers them.

Source: ``dynamic-resource-allocation/structured/internal/incubating/pools_incubating.go`` of Kubernetes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct

from webhook.placement.devices.published.claims import DeviceName
from webhook.placement.devices.published.device import Counters, Device, Reach
from webhook.placement.devices.published.devices import Devices
from webhook.placement.devices.published.slices import DevicePool, DeviceSlice
from webhook.placement.kube.pod import NodeTerm
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


class SharedPool(Struct, frozen=True, eq=False, weakref=True):
    """A pool that several nodes can use, as some of them see it, and whether it is known what they can use of it.

    ``pool`` is ``None`` if they can use none of it. Nodes that see the same have the same object.
    """

    pool: UsablePool | None
    known: bool


class _PoolSight(Struct):
    """The nodes that devices of a pool are for: those of ``reaches``, and ``nodes`` by their names.

    ``seen`` is what nodes see of it that are not among these, by the reaches that they are in.
    """

    reaches: tuple[Reach, ...]
    nodes: frozenset[str]
    seen: dict[tuple[bool, ...], SharedPool]


class NodeSights:
    """The devices that nodes can use. What several nodes see of a pool is put together once, until devices change."""

    __slots__ = ("_devices", "_doubtful", "_pools", "_version")

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self._version = -1
        self._pools: dict[DevicePool, _PoolSight] = {}
        self._doubtful: frozenset[DevicePool] = frozenset()

    def of_node(self, node: str, reaches: Reaches) -> NodeDevices:
        """The devices that the node can use."""
        shared = self.shared(node, reaches)
        local = self._devices.local_pools(node)
        pools: dict[DevicePool, UsablePool | None] = {}
        unsure = self.unsure(node)
        for name in local:
            if name not in shared:
                pool, known = _seen(self._devices, name, reaches)
                unsure = unsure or not known
                pools[name] = pool
        for name, sight in shared.items():
            unsure = unsure or not sight.known
            pools[name] = sight.pool
        usable = tuple(pool for _, pool in sorted(pools.items()) if pool and pool.devices)
        return NodeDevices(usable, unsure or confused(usable))

    def shared(self, node: str, reaches: Reaches) -> Mapping[DevicePool, SharedPool]:
        """What the node sees of the pools that several nodes may use."""
        self._follow()
        return {name: self._seen(name, sight, node, reaches) for name, sight in self._pools.items()}

    def unsure(self, node: str) -> bool:
        """Whether there are pools that no node without devices of them can judge, and that this node has none of.

        These are pools of counters, and of devices of single nodes. Each node sees the counters of all others.
        """
        self._follow()
        local = self._devices.local_pools(node)
        return any(name not in local for name in self._doubtful)

    def named(self) -> Iterator[str]:
        """The names of nodes of which a pool of several nodes has devices by their names."""
        self._follow()
        for sight in self._pools.values():
            yield from sight.nodes

    def terms(self) -> Iterable[tuple[NodeTerm, ...]]:
        """The terms by which some nodes, and not others, see devices of pools of several nodes."""
        self._follow()
        return dict.fromkeys(reach.terms for sight in self._pools.values() for reach in sight.reaches if reach.terms)

    def _follow(self) -> None:
        """Forget what was seen before the last change."""
        devices, version = self._devices, self._devices.changes.version
        if version == self._version:
            return
        self._version = version
        shared = {*devices.shared_pools()}
        alone = (name for name in devices.wide_pools() if name not in shared)
        self._doubtful = frozenset(name for name in alone if not _seen(devices, name, lambda _: False)[1])
        self._pools = {name: self._sight(name) for name in sorted(shared)}

    def _sight(self, name: DevicePool) -> _PoolSight:
        every = dict.fromkeys(reach for part in self._devices.slices_of(name) for reach in _reaches(part))
        nodes = frozenset(reach.node for reach in every if reach.node)
        return _PoolSight(tuple(reach for reach in every if not reach.node), nodes, {})

    def _seen(self, name: DevicePool, sight: _PoolSight, node: str, reaches: Reaches) -> SharedPool:
        if node in sight.nodes:
            return SharedPool(*_seen(self._devices, name, reaches))
        key = tuple(map(reaches, sight.reaches))
        shared = sight.seen.get(key)
        if shared is None:
            shared = sight.seen[key] = SharedPool(*_seen(self._devices, name, reaches))
        return shared


def _seen(devices: Devices, name: DevicePool, reaches: Reaches) -> tuple[UsablePool | None, bool]:
    """The pool as the node sees it, if it does, and whether it is known what the node can use of it."""
    published = devices.slices_of(name)
    relevant = [part for part in published if part.counters or any(map(reaches, _reaches(part)))]
    if not relevant:
        return None, True
    known = not any(part.unread for part in relevant)
    newest = max(part.generation for part in relevant)
    relevant = [part for part in relevant if part.generation == newest]
    others: list[DeviceSlice] = []
    if len(relevant) != relevant[0].expected:
        if any(part.generation > newest for part in published):
            return None, known  # the driver replaces what the node sees
        others = [part for part in published if part.generation == newest and part not in relevant]
        if len(relevant) + len(others) != relevant[0].expected:
            return None, False
    pool = _pool(devices, name, relevant, others, reaches)
    return pool, known and pool is not None


def _reaches(published: DeviceSlice) -> Iterator[Reach]:
    if published.reach is not None:
        yield published.reach
    else:
        yield from (device.traits.reach for device in published.devices if device.traits.reach is not None)


def _pool(
    devices: Devices, name: DevicePool, relevant: list[DeviceSlice], others: list[DeviceSlice], reaches: Reaches
) -> UsablePool | None:
    """The pool of these slices; ``None`` if it is not valid, so that none of its devices is allocated."""
    ordered = sorted(relevant, key=lambda part: part.name)
    own = [(part, device) for part in ordered for device in part.devices]
    foreign = [device for part in others for device in part.devices]
    counters = _counters(part for part in ordered if part.counters)
    if len({device.name for _, device in own}) != len(own) or counters is None:
        return None
    consumed = (used for device in (*[device for _, device in own], *foreign) for used in device.traits.consumes)
    if any((used.name, counter) not in counters for used in consumed for counter, _ in used.amounts):
        return None
    usable: list[UsableDevice] = []
    unreachable: list[Device] = []
    for part, device in own:
        if part.reach is not None or (device.traits.reach and reaches(device.traits.reach)):
            usable.append(_usable(devices, name, device))
        else:
            unreachable.append(device)
    consuming = tuple(_usable(devices, name, device) for device in (*unreachable, *foreign) if device.traits.consumes)
    return UsablePool(name, tuple(usable), counters, consuming)


def _usable(devices: Devices, pool: DevicePool, device: Device) -> UsableDevice:
    name = DeviceName(*pool, device.name)
    taints = device.traits.taints
    if rules := devices.rules():
        taints += tuple(rule.taint for rule in rules if rule.taints(name))
    return UsableDevice(name, device, taints)


def _counters(parts: Iterable[DeviceSlice]) -> dict[tuple[str, str], int] | None:
    """The amounts of the pool by counter set and counter; ``None`` if a set is there twice."""
    sets: list[Counters] = [counters for part in parts for counters in part.counters]
    if len({counters.name for counters in sets}) != len(sets):
        return None
    return {(counters.name, counter): amount for counters in sets for counter, amount in counters.amounts}


def confused(pools: Iterable[UsablePool]) -> bool:
    """Whether pools of two drivers have one name, and counters: the scheduler then may count with those of one."""
    named = [pool.name.pool for pool in pools if pool.counters and pool.devices]
    return len(named) != len(set(named))
