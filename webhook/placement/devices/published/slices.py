"""ResourceSlices: the parts in which a driver publishes a pool of devices."""

from collections.abc import Collection
from typing import NamedTuple

from msgspec import Struct

from webhook.placement.devices.published.device import Counters, Device, Reach


class DevicePool(NamedTuple):
    """A pool of devices: the driver that publishes it, and the name that the driver gave it."""

    driver: str
    pool: str


class DeviceSlice(Struct, frozen=True, gc=False):
    """A ResourceSlice: devices of a pool, or the counters that devices of the pool share.

    ``reach`` says which nodes can use the devices, ``None`` if each device says it. Only slices of the newest
    ``generation`` of a pool count, and the pool is complete if there are ``expected`` of them. ``unread`` tells that
    the object has fields that cannot be read, so it may publish devices that are not here.
    """

    name: str
    driver: str
    pool: str
    generation: int = 0
    expected: int = 1
    reach: Reach | None = None
    devices: Collection[Device] = ()
    counters: tuple[Counters, ...] = ()
    unread: bool = False

    @property
    def pool_name(self) -> DevicePool:
        """The pool of the slice."""
        return DevicePool(self.driver, self.pool)
