"""Marks of pools that are no more: left by a controller that was paused, or by a finalizer taken off by hand."""

from typing import Final

from webhook.cluster.client.api_types import Identified
from webhook.cluster.objects import items
from webhook.cluster.objects.translate import NAMESPACE
from webhook.cluster.watch.lists import Reader, listed
from webhook.controller.clock import Clock, seconds
from webhook.controller.hostpools.claims import Claims, Nodes
from webhook.controller.hostpools.marks import MarkOwners, mark_named
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.pool_index import Name

GRACE: Final = 3.0
"""Seconds for which a mark has to have been nobody's: the caches of nodes and of pools do not go on together."""


class Orphans:
    """Takes marks off nodes that no pool stands for."""

    def __init__(self, nodes: Nodes, inventory: Inventory, whose: MarkOwners, *, clock: Clock = seconds) -> None:
        self._claims = Claims(nodes, lambda _: None)
        self._inventory = inventory
        self._whose = whose
        self._clock = clock
        self._names = PoolNames(nodes, clock)
        self._since: dict[str, float] = {}

    async def reconcile(self, name: str) -> float | None:
        """Look at that node; returns seconds after which to look again. Raises ApiError."""
        marks = self._whose.nobodys(self._inventory.nodes.get(name))
        if not marks:
            self._since.pop(name, None)
            return None
        since = self._since.setdefault(name, self._clock())
        left = since + GRACE - self._clock()
        if left > 0:
            return left
        # A cache of pools can be behind by a minute if its watch has died: marks of a pool that lives must stay.
        alive = [mark_named(*pool) for pool in await self._names.since(since)]
        labels, values = {mark.label for mark in alive}, {mark.value for mark in alive}
        gone = [mark for mark in marks if mark.label not in labels and mark.value not in values]
        for mark in gone:
            await self._claims.release_all([name], mark)
        del self._since[name]
        return None if gone == marks else GRACE


PATH: Final = "/apis/streams.ibm.com/v1/streamshostpools"

_PAGE: Final = 5
"""Pools of one page: one of 5,000 hosts may have more than a megabyte."""


class PoolNames:
    """Namespace and name of every HostPool; listed again only where the last list is too old."""

    def __init__(self, reader: Reader, clock: Clock) -> None:
        self._reader = reader
        self._clock = clock
        self._begun = float("-inf")
        self._names: frozenset[Name] = frozenset()

    async def since(self, moment: float) -> frozenset[Name]:
        """Those that there were at some time after that moment. Raises ApiError."""
        if self._begun <= moment:
            begun = self._clock()
            found = {_name(item) async for item in listed(self._reader, PATH, {}, page=_PAGE)}
            self._begun, self._names = begun, frozenset(found)
        return self._names


def _name(item: object) -> Name:
    identity = items.decode(item, Identified).metadata
    return identity.namespace or NAMESPACE, identity.name
