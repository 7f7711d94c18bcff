"""Removes from nodes the marks of HostPools that do not exist any more.

A paused controller can leave such marks, and so can a user who removes a finalizer by hand.
"""

from typing import Final

from kubeapi.client.api_types import Identified
from kubeapi.clock import Clock, seconds
from webhook.cluster.objects import items
from webhook.cluster.objects.metadata import NAMESPACE
from webhook.cluster.watch.lists import ListReader, listed
from webhook.controller.hostpools.claims import Claims
from webhook.controller.hostpools.marks import MarkOwners, mark_named
from webhook.controller.object_editor import ObjectWriter
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.pool_index import Name
from webhook.placement.text.api_kinds import HOST_POOL

GRACE: Final = 3.0
"""Seconds for which a mark must have had no owner: the watches of nodes and of pools are not in step."""


class Orphans:
    """Removes orphaned marks from nodes."""

    def __init__(self, nodes: ObjectWriter, inventory: Inventory, whose: MarkOwners, *, clock: Clock = seconds) -> None:
        self._claims = Claims(nodes, lambda _: None)
        self._inventory = inventory
        self._whose = whose
        self._clock = clock
        self._names = PoolNames(nodes, clock)
        self._since: dict[str, float] = {}

    async def reconcile(self, name: str) -> float | None:
        """Check that node; returns the seconds after which to check again, or ``None``. Raises ApiError."""
        marks = self._whose.orphaned(self._inventory.nodes.get(name))
        if not marks:
            self._since.pop(name, None)
            return None
        since = self._since.setdefault(name, self._clock())
        wait = since + GRACE - self._clock()
        if wait > 0:
            return wait
        # The cache of pools can be a minute behind if its watch has died, and marks of a live pool must stay.
        alive = [mark_named(*pool) for pool in await self._names.since(since)]
        labels, values = {mark.label for mark in alive}, {mark.value for mark in alive}
        gone = [mark for mark in marks if mark.label not in labels and mark.value not in values]
        for mark in gone:
            await self._claims.release_all([name], mark)
        del self._since[name]
        return None if gone == marks else GRACE


_PAGE: Final = 5
"""Objects in one page of a list: a HostPool with 5,000 hosts may have more than a megabyte."""


class PoolNames:
    """Names of all HostPools, listed again only if the last list is too old."""

    def __init__(self, reader: ListReader, clock: Clock) -> None:
        self._reader = reader
        self._clock = clock
        self._begun = float("-inf")
        self._names: frozenset[Name] = frozenset()

    async def since(self, moment: float) -> frozenset[Name]:
        """The names as listed at some time after that moment of the clock. Raises ApiError."""
        if self._begun <= moment:
            begun = self._clock()
            names = {_name(item) async for item in listed(self._reader, HOST_POOL.path, {}, page=_PAGE)}
            self._begun, self._names = begun, frozenset(names)
        return self._names


def _name(item: object) -> Name:
    identity = items.decode(item, Identified).metadata
    return identity.namespace or NAMESPACE, identity.name
