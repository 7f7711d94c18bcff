"""A device of a ResourceSlice: its attributes, its capacity, and what else decides who can be given it.

A cluster has tens of thousands of devices that mostly look alike. :func:`attribute`, :func:`capacity` and
``Device.traits`` let equal parts be one object. Source: ``resource.k8s.io/v1`` of Kubernetes, ``types.go``. Fields
behind a feature gate are there only if the gate is on: the API server drops them from objects otherwise.
"""

import functools
from typing import Final

from msgspec import Struct

from webhook.placement.kube.pod import NodeTerm
from webhook.placement.kube.selection.tolerations import Taint

_SHARED: Final = 2048
"""Maximum number of attributes and capacities kept for sharing; unique ones, such as serial numbers, are displaced.

Each that passes takes 0.2 KB until it has passed.
"""


class Version(Struct, frozen=True, gc=False, order=True):
    """The value of an attribute that is a semantic version; it differs from the string of the same text."""

    text: str


Scalar = bool | int | str | Version
"""One value of an attribute: ``bool``, ``int``, ``string`` or ``version``."""

Value = Scalar | tuple[Scalar, ...] | None
"""The value of an attribute: one, several of one type, or ``None`` for a type that is not known here."""


class Attribute(Struct, frozen=True, gc=False):
    """An attribute of a device. ``name`` has a domain, or is in the domain of the driver (``domain/id`` or ``id``)."""

    name: str
    value: Value


class CapacityPolicy(Struct, frozen=True, gc=False):
    """How a capacity is consumed by several requests (``requestPolicy``), in nano-units.

    ``valid`` are ``validValues`` in ascending order; ``ranged`` tells that ``validRange`` is set.
    """

    default: int | None = None
    valid: tuple[int, ...] = ()
    ranged: bool = False
    least: int | None = None
    most: int | None = None
    step: int | None = None


class DeviceCapacity(Struct, frozen=True, gc=False):
    """A capacity of a device, in nano-units; its name is as that of an attribute."""

    name: str
    amount: int
    policy: CapacityPolicy | None = None


class Counters(Struct, frozen=True, gc=False):
    """Amounts of the counters of one counter set, in nano-units: what a pool has, or what a device takes of it."""

    name: str
    amounts: tuple[tuple[str, int], ...] = ()


class Reach(Struct, frozen=True, gc=False):
    """The nodes that can use a device: one by name, those that a selector matches, or every node.

    ``terms`` are those of ``nodeSelector``; the object ought to have exactly one. Without any of the three, no node.
    """

    node: str = ""
    everywhere: bool = False
    terms: tuple[NodeTerm, ...] = ()


class Traits(Struct, frozen=True, gc=False):
    """What few devices have; equal devices share one object.

    ``reach`` is that of the device if its slice says nodes for each device (``perDeviceNodeSelection``), ``consumes``
    what it takes of shared counters, ``shared`` ``allowMultipleAllocations``, ``binds`` ``bindsToNode``. ``taints``
    are those that the driver publishes.
    """

    reach: Reach | None = None
    consumes: tuple[Counters, ...] = ()
    taints: tuple[Taint, ...] = ()
    shared: bool = False
    binds: bool = False


PLAIN: Final = Traits()
"""The traits of most devices."""


class Device(Struct, frozen=True, gc=False):
    """A device, with its attributes and capacities in the order of their names."""

    name: str
    attributes: tuple[Attribute, ...] = ()
    capacity: tuple[DeviceCapacity, ...] = ()
    traits: Traits = PLAIN


@functools.lru_cache(maxsize=_SHARED, typed=True)
def attribute(name: str, value: Scalar | None) -> Attribute:
    """The attribute with one value; equal ones are mostly one object."""
    return Attribute(name, value)


@functools.lru_cache(maxsize=_SHARED)
def capacity(name: str, amount: int, policy: CapacityPolicy | None = None) -> DeviceCapacity:
    """The capacity; equal ones are mostly one object."""
    return DeviceCapacity(name, amount, policy)


@functools.lru_cache(maxsize=_SHARED)
def shared_traits(traits: Traits) -> Traits:
    """The equal traits that were seen first."""
    return traits
