"""Who is on a host right now: asked of the API server, not of a cache, before a host is given away or freed."""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable
from typing import Final

from msgspec import Raw

from webhook.cluster.objects import items, wire
from webhook.cluster.objects.translate import MalformedError, bound_pod
from webhook.cluster.watch.lists import Reader, listed
from webhook.controller.clock import Clock
from webhook.controller.concurrency import gather_or_cancel
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.objects import PodInfo, Pool, PoolHost
from webhook.placement.inventory.pool_index import Name
from webhook.placement.pools.allocation import is_stranger, is_user
from webhook.placement.text import keys

AT_A_TIME: Final = 16
"""Hosts that are asked about."""

_ALIVE: Final = "status.phase!=Succeeded,status.phase!=Failed"


async def strangers_on(hosts: Collection[PoolHost], pool: Pool, inventory: Inventory, reader: Reader) -> list[PoolHost]:
    """Those of the hosts that run a stranger, be it about to end."""
    turns = asyncio.Semaphore(AT_A_TIME)
    elements = {"labelSelector": keys.JOB} if inventory.outsiders.spared is None else {}

    async def strange(host: PoolHost) -> bool:
        selectors = {**elements, "fieldSelector": f"spec.nodeName={host.name},{_ALIVE}"}
        async with turns:
            return any([is_stranger(pod, pool, inventory) async for pod in _pods(reader, "/api/v1/pods", selectors)])

    told = await gather_or_cancel(strange(host) for host in hosts)
    return [host for host, is_so in zip(hosts, told, strict=True) if is_so]


async def hosts_in_use(pool: Pool, inventory: Inventory, reader: Reader) -> int:
    """How many nodes run a pod that names the pool, be it about to end."""
    selectors = {"fieldSelector": _ALIVE}
    if pool.job is not None:
        selectors["labelSelector"] = f"{keys.JOB}={pool.job}"
    found = _pods(reader, f"/api/v1/namespaces/{pool.namespace}/pods", selectors)
    return len({pod.node async for pod in found if pod.node and is_user(pod, pool, inventory)})


async def _pods(reader: Reader, path: str, selectors: dict[str, str]) -> AsyncIterator[PodInfo]:
    async for item in listed(reader, path, selectors):
        pod = _pod(item)
        if pod is not None:
            yield pod


def _pod(item: Raw) -> PodInfo | None:
    """The pod; ``None`` if it has ended, or is none that anybody could place."""
    try:
        return bound_pod(items.decode(item, wire.Pod))[0]
    except (MalformedError, *items.ERRORS):
        return None


SECONDS: Final = 1.0
"""From the taint to the look whether anybody slipped in: eight times the longest that was seen."""


class TaintGracePeriod:
    """Hosts that have been marked, by pool and node, and are not given away yet."""

    def __init__(self, clock: Clock, *, duration: float = SECONDS) -> None:
        self._clock = clock
        self._seconds = duration
        self._since: dict[Name, dict[str, float]] = {}

    def unseen(self, pool: Name, hosts: Iterable[PoolHost]) -> list[PoolHost]:
        """Those that nobody has begun with: marked by an earlier controller, if at all."""
        known = self._since.get(pool, {})
        return [host for host in hosts if host.name not in known]

    def begin(self, pool: Name, hosts: Iterable[PoolHost]) -> None:
        """They are marked from now on."""
        now = self._clock()
        self._since.setdefault(pool, {}).update({host.name: now for host in hosts})

    def left(self, pool: Name, hosts: Iterable[PoolHost]) -> float:
        """Seconds until all of them have settled, which have been begun with; whatever else has been is forgotten."""
        now, known = self._clock(), self._since.get(pool, {})
        since = self._since[pool] = {host.name: known[host.name] for host in hosts}
        return max(0.0, max(since.values(), default=now - self._seconds) + self._seconds - now)

    def end(self, pool: Name) -> None:
        """They are given away, or given up."""
        self._since.pop(pool, None)
