"""The slices of each pool of devices."""

import itertools
from collections.abc import Collection, Iterable, Iterator

from webhook.placement.devices.published.slices import DevicePool, DeviceSlice


class PublishedPools:
    """The slices of all pools. Nearly every pool has one slice, which takes no dict of its own."""

    __slots__ = ("_parts", "_sole")

    def __init__(self) -> None:
        self._sole: dict[DevicePool, DeviceSlice] = {}
        self._parts: dict[DevicePool, dict[str, DeviceSlice]] = {}
        """The slices of pools with several slices, by pool and name."""

    def __iter__(self) -> Iterator[DevicePool]:
        """All pools."""
        return itertools.chain(self._sole, self._parts)

    def put(self, pool: DevicePool, published: DeviceSlice) -> None:
        """Add the slice to its pool, which has none of that name yet."""
        parts = self._parts.get(pool)
        if parts is not None:
            parts[published.name] = published
        elif pool in self._sole:
            self._parts[pool] = {part.name: part for part in (self._sole.pop(pool), published)}
        else:
            self._sole[pool] = published

    def drop(self, pool: DevicePool, name: str) -> None:
        """Remove the slice of that name from its pool."""
        if self._sole.pop(pool, None):
            return
        parts = self._parts[pool]
        del parts[name]
        if len(parts) == 1:
            del self._parts[pool]
            (self._sole[pool],) = parts.values()

    def slices(self, pool: DevicePool) -> Collection[DeviceSlice]:
        """The slices of the pool, in the order in which they came."""
        sole = self._sole.get(pool)
        return self._parts.get(pool, {}).values() if sole is None else (sole,)

    def parted(self) -> Iterable[DevicePool]:
        """The pools that have several slices."""
        return self._parts
