"""ResourceSlices of the API server, translated into the values of ``placement``.

Fields are those of ``resource.k8s.io/v1``. A slice with fields that cannot be read is kept without its devices, so that
the nodes that may use these are known (``docs/devices.md``).
"""

import functools
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct, field

from kubeapi.client import decoding
from webhook.cluster.objects import wire
from webhook.cluster.objects.items import Item, decode
from webhook.cluster.objects.metadata import MalformedError, Notes, metadata_of
from webhook.placement.devices.published.device import (
    PLAIN,
    Attribute,
    CapacityPolicy,
    Counters,
    Device,
    DeviceCapacity,
    Reach,
    Scalar,
    Traits,
    Version,
    attribute,
    capacity,
    shared_traits,
)
from webhook.placement.devices.published.slices import DeviceSlice
from webhook.placement.kube.pod import Amount, NodeSelector
from webhook.placement.kube.quantity import parse_quantity
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.text.problem import quote

_KEPT: Final = 1024
"""Maximum number of capacities kept for sharing: more than a cluster has models of devices."""

INFORMS: Final = "None"
"""Effect of a taint that keeps no pod away."""


class _Selection(Struct, frozen=True, gc=False, rename="camel"):
    """Which nodes can use devices: of a slice, or of one device."""

    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None


class _Attribute(Struct, frozen=True, gc=False):
    int_: int | None = field(name="int", default=None)
    bool_: bool | None = field(name="bool", default=None)
    string: str | None = None
    version: str | None = None
    ints: tuple[int, ...] | None = None
    bools: tuple[bool, ...] | None = None
    strings: tuple[str, ...] | None = None
    versions: tuple[str, ...] | None = None


class _Range(Struct, frozen=True, gc=False):
    min: Amount | None = None
    max: Amount | None = None
    step: Amount | None = None


class _Policy(Struct, frozen=True, gc=False, rename="camel"):
    default: Amount | None = None
    valid_values: tuple[Amount, ...] | None = None
    valid_range: _Range | None = None


class _Capacity(Struct, frozen=True, gc=False, rename="camel"):
    value: Amount = 0
    request_policy: _Policy | None = None


class _Counter(Struct, frozen=True, gc=False):
    value: Amount = 0


class _CounterSet(Struct, frozen=True, gc=False, rename="camel"):
    """A set of shared counters, which slices call by ``name`` and devices by ``counterSet``."""

    name: str = ""
    counter_set: str = ""
    counters: dict[str, _Counter] | None = None


class _Device(_Selection, frozen=True, gc=False, rename="camel"):
    name: str = ""
    attributes: dict[str, _Attribute] | None = None
    capacity: dict[str, _Capacity] | None = None
    consumes_counters: tuple[_CounterSet, ...] | None = None
    taints: tuple[wire.NodeTaint, ...] | None = None
    binds_to_node: bool | None = None
    allow_multiple_allocations: bool | None = None


class _Pool(Struct, frozen=True, gc=False, rename="camel"):
    name: str = ""
    generation: int = 0
    resource_slice_count: int = 1


class _SliceSpec(_Selection, frozen=True, gc=False, rename="camel"):
    driver: str = ""
    pool: _Pool = _Pool()
    devices: tuple[_Device, ...] | None = None
    per_device_node_selection: bool | None = None
    shared_counters: tuple[_CounterSet, ...] | None = None


class _SliceObject(Struct, frozen=True, gc=False):
    """``resource.k8s.io/v1 ResourceSlice``."""

    metadata: wire.ObjectMetadata | None = None
    spec: _SliceSpec = _SliceSpec()


class _OutlineSpec(_Selection, frozen=True, gc=False, rename="camel"):
    driver: str = ""
    pool: _Pool = _Pool()


class _SliceOutline(Struct, frozen=True, gc=False):
    """What of a ResourceSlice says whose devices it publishes, without the devices."""

    spec: _OutlineSpec = _OutlineSpec()


class NamedObject(Struct, frozen=True, gc=False):
    """What an object needs to be told apart from others."""

    metadata: wire.ObjectMetadata | None = None


def read_slice(item: Item) -> tuple[DeviceSlice, Notes]:
    """A slice with its devices, or with the counters that devices of its pool share.

    The devices of an ``unread`` slice are not known. Raises only for a slice without a name.
    """
    try:
        return _read(decode(item, _SliceObject)), []
    except MalformedError as error:
        reason = str(error)
    except decoding.ERRORS as error:
        reason = decoding.reason(error)
    _, name = metadata_of(decode(item, NamedObject).metadata)
    return _unread(name, item), [f"{reason}; nothing is refused for lack of its devices"]


def _unread(name: str, item: Item) -> DeviceSlice:
    """The slice without its devices; any node may have them if the slice names none, or not legibly."""
    try:
        spec = decode(item, _SliceOutline).spec
    except decoding.ERRORS:
        spec = _OutlineSpec()
    reach = _reach(spec)
    return DeviceSlice(
        name,
        sys.intern(spec.driver),
        sys.intern(spec.pool.name),
        generation=spec.pool.generation,
        expected=spec.pool.resource_slice_count,
        reach=Reach(everywhere=True) if reach == Reach() else reach,
        unread=True,
    )


def _read(source: _SliceObject) -> DeviceSlice:
    _, name = metadata_of(source.metadata)
    spec, pool = source.spec, source.spec.pool
    per_device = spec.per_device_node_selection or False
    return DeviceSlice(
        name,
        sys.intern(spec.driver),
        sys.intern(pool.name),
        generation=pool.generation,
        expected=pool.resource_slice_count,
        reach=None if per_device else _reach(spec),
        devices=tuple(
            _device(device, f"spec.devices[{at}]", per_device=per_device)
            for at, device in enumerate(spec.devices or ())
        ),
        counters=_counters(spec.shared_counters, "spec.sharedCounters"),
    )


def nano(amount: Amount, path: str) -> int:
    """The amount in nano-units; raises :class:`MalformedError` with its path if it is invalid."""
    quantity = parse_quantity(amount)
    if quantity is None or quantity < 0:
        raise MalformedError(f"{path}: {quote(str(amount))} is not a quantity")
    return quantity


def _reach(said: _Selection) -> Reach:
    terms = said.node_selector.node_selector_terms if said.node_selector else None
    return Reach(sys.intern(said.node_name or ""), said.all_nodes or False, terms or ())


def _device(device: _Device, path: str, *, per_device: bool) -> Device:
    return Device(
        sys.intern(device.name),
        tuple(_attribute(sys.intern(name), said) for name, said in sorted((device.attributes or {}).items())),
        _shared(tuple(_capacity(name, said, path) for name, said in sorted((device.capacity or {}).items()))),
        _traits(device, path, per_device=per_device),
    )


def _traits(device: _Device, path: str, *, per_device: bool) -> Traits:
    """What few devices have; nearly all have nothing of it."""
    traits = Traits(
        _reach(device) if per_device else None,
        _counters(device.consumes_counters, f"{path}.consumesCounters"),
        tuple(taints(device.taints or ())),
        device.allow_multiple_allocations or False,
        device.binds_to_node or False,
    )
    return PLAIN if traits == PLAIN else shared_traits(traits)


def taints(said: Iterable[wire.NodeTaint]) -> Iterator[Taint]:
    """The taints that keep claims away."""
    return (Taint(each.key or "", each.value or "", each.effect or "") for each in said if each.effect != INFORMS)


def _attribute(name: str, said: _Attribute) -> Attribute:
    for value in (said.string, said.bool_, said.int_):
        if value is not None:
            return attribute(name, value)
    if said.version is not None:
        return attribute(name, Version(said.version))
    lists: tuple[tuple[Scalar, ...] | None, ...] = said.strings, said.bools, said.ints
    for values in lists:
        if values is not None:
            return Attribute(name, values)
    return Attribute(name, None if said.versions is None else tuple(map(Version, said.versions)))


def _capacity(name: str, said: _Capacity, path: str) -> DeviceCapacity:
    at = f"{path}.capacity[{name}]"
    policy = said.request_policy
    return capacity(name, nano(said.value, f"{at}.value"), None if policy is None else _policy(policy, at))


@functools.lru_cache(_KEPT)
def _shared(capacities: tuple[DeviceCapacity, ...]) -> tuple[DeviceCapacity, ...]:
    """The equal capacities that were seen first: devices of one model have the same."""
    return capacities


def _policy(said: _Policy, path: str) -> CapacityPolicy:
    allowed, at = said.valid_range or _Range(), f"{path}.requestPolicy"
    return CapacityPolicy(
        default=_optional(said.default, f"{at}.default"),
        valid=tuple(sorted(nano(one, f"{at}.validValues") for one in said.valid_values or ())),
        ranged=said.valid_range is not None,
        least=_optional(allowed.min, f"{at}.validRange.min"),
        most=_optional(allowed.max, f"{at}.validRange.max"),
        step=_optional(allowed.step, f"{at}.validRange.step"),
    )


def _optional(amount: Amount | None, path: str) -> int | None:
    return None if amount is None else nano(amount, path)


def _counters(sets: tuple[_CounterSet, ...] | None, path: str) -> tuple[Counters, ...]:
    return tuple(
        Counters(one.name or one.counter_set, _amounts(one.counters or {}, f"{path}[{at}].counters"))
        for at, one in enumerate(sets or ())
    )


def _amounts(counters: Mapping[str, _Counter], path: str) -> tuple[tuple[str, int], ...]:
    return tuple((sys.intern(name), nano(one.value, f"{path}[{name}]")) for name, one in sorted(counters.items()))
