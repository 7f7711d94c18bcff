"""Which pools there are: asked of the API server, as a cache that is late would cost pools their hosts."""

from typing import Final

from webhook.cluster.client.api_types import Identified
from webhook.cluster.objects import items
from webhook.cluster.objects.translate import NAMESPACE
from webhook.cluster.watch.lists import Reader, listed
from webhook.controller.clock import Clock
from webhook.placement.inventory.pool_index import Name

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
        """Those that there were at some time after that moment. Raises Failure."""
        if self._begun <= moment:
            begun = self._clock()
            found = {_name(item) async for item in listed(self._reader, PATH, {}, page=_PAGE)}
            self._begun, self._names = begun, frozenset(found)
        return self._names


def _name(item: object) -> Name:
    identity = items.decode(item, Identified).metadata
    return identity.namespace or NAMESPACE, identity.name
