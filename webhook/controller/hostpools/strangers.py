"""Strangers on new hosts and users of deleted pools, listed from the API server; and the wait after a taint.

The API server is asked, not a cache, before a host is published and before the hosts of a deleted pool are released.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable
from typing import Final

from msgspec import Raw

from kubeapi.client import decoding
from kubeapi.clock import Clock
from webhook.cluster.objects import items, wire
from webhook.cluster.objects.metadata import MalformedError
from webhook.cluster.objects.pods import bound_pod
from webhook.cluster.watch.lists import ListReader, listed
from webhook.controller.concurrency import gather_or_cancel
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.pool_index import Name
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Pool, PoolHost
from webhook.placement.pools.allocation import is_stranger, is_user
from webhook.placement.text import keys
from webhook.placement.text.api_kinds import POD

AT_A_TIME: Final = 16
"""Concurrent requests, one a host."""

_ALIVE: Final = "status.phase!=Succeeded,status.phase!=Failed"


async def strangers_on(
    hosts: Collection[PoolHost], pool: Pool, inventory: Inventory, reader: ListReader
) -> list[PoolHost]:
    """The hosts on which a stranger runs, also one that is being deleted. Raises ApiError."""
    turns = asyncio.Semaphore(AT_A_TIME)
    elements = {"labelSelector": keys.JOB} if inventory.foreign_pods.spared is None else {}

    async def strange(host: PoolHost) -> bool:
        selectors = {**elements, "fieldSelector": f"spec.nodeName={host.name},{_ALIVE}"}
        async with turns:
            return any([is_stranger(pod, pool, inventory) async for pod in _pods(reader, POD.path, selectors)])

    verdicts = await gather_or_cancel(strange(host) for host in hosts)
    return [host for host, is_so in zip(hosts, verdicts, strict=True) if is_so]


async def hosts_in_use(pool: Pool, inventory: Inventory, reader: ListReader) -> int:
    """The number of nodes that run a pod which names the pool, also one that is being deleted. Raises ApiError."""
    selectors = {"fieldSelector": _ALIVE}
    if pool.job is not None:
        selectors["labelSelector"] = f"{keys.JOB}={pool.job}"
    pods = _pods(reader, POD.path_in(pool.namespace), selectors)
    return len({pod.node async for pod in pods if pod.node and is_user(pod, pool, inventory)})


async def _pods(reader: ListReader, path: str, selectors: dict[str, str]) -> AsyncIterator[PodInfo]:
    async for item in listed(reader, path, selectors):
        pod = _pod(item)
        if pod is not None:
            yield pod


def _pod(item: Raw) -> PodInfo | None:
    """The pod; ``None`` if it has finished or cannot be read."""
    try:
        return bound_pod(items.decode(item, wire.PodObject))[0]
    except (MalformedError, *decoding.ERRORS):
        return None


SECONDS: Final = 1.0
"""Seconds from the taint to the check. The scheduler was seen to bind pods up to 120 ms after a taint was written."""


class TaintGracePeriod:
    """When hosts were marked that are not published yet, by pool and node.

    The scheduler may still bind pods whose node it chose before it saw the taint, so a host is checked for
    strangers only after the grace period.
    """

    def __init__(self, clock: Clock, *, duration: float = SECONDS) -> None:
        self._clock = clock
        self._seconds = duration
        self._since: dict[Name, dict[str, float]] = {}

    def unseen(self, pool: Name, hosts: Iterable[PoolHost]) -> list[PoolHost]:
        """The hosts whose grace period has not begun, such as those that an earlier leader marked."""
        known = self._since.get(pool, {})
        return [host for host in hosts if host.name not in known]

    def begin(self, pool: Name, hosts: Iterable[PoolHost]) -> None:
        """Begin the grace period of the hosts."""
        now = self._clock()
        self._since.setdefault(pool, {}).update({host.name: now for host in hosts})

    def left(self, pool: Name, hosts: Iterable[PoolHost]) -> float:
        """Seconds until the grace period of all these hosts is over; other hosts of the pool are forgotten."""
        now, known = self._clock(), self._since.get(pool, {})
        since = self._since[pool] = {host.name: known[host.name] for host in hosts}
        return max(0.0, max(since.values(), default=now - self._seconds) + self._seconds - now)

    def end(self, pool: Name) -> None:
        """Forget the pool: its hosts were published, or the allocation was abandoned."""
        self._since.pop(pool, None)
