"""Event handlers that turn changes of nodes, pods, devices and HostPools into keys of work queues."""

import asyncio
from collections.abc import Iterator
from typing import Final

from webhook.controller.hostpools.marks import MarkOwners, marks
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.controller.hostpools.pool_object import unreadable
from webhook.controller.workqueue.queue import Queue
from webhook.placement.inventory.pool_index import Name
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Phase, Pool
from webhook.placement.pools.pool_plan import marked_nodes

PER_ROUND: Final = 100
"""Pools that a round can queue without delay. With more pools the rounds are further apart in proportion, so that the
number of reconciles a second is bounded; one takes a millisecond or two in a cluster of 15,000 nodes."""


class Debounce:
    """Adds pools to the queue at most once in ``seconds``; for the tasks of one event loop.

    Each namespace has a timer of its own and an equal share of the reconciles, so a namespace with one pool does not
    wait longer because another namespace has hundreds.
    """

    def __init__(self, queue: Queue[Name], seconds: float) -> None:
        self._queue = queue
        self._seconds = seconds
        self._names: dict[str, set[str]] = {}
        """Names of the member pools by namespace."""
        self._due: dict[str, asyncio.TimerHandle] = {}
        """The running timer of each namespace."""

    def join(self, name: Name) -> None:
        """Make the pool a member: every round queues it."""
        self._names.setdefault(name[0], set()).add(name[1])

    def leave(self, name: Name) -> None:
        """Remove the pool from the members."""
        names = self._names.get(name[0])
        if names is None:
            return
        names.discard(name[1])
        if not names:
            del self._names[name[0]]
            if name[0] in self._due:
                self._due.pop(name[0]).cancel()

    def ask(self) -> None:
        """Start the timers that are not running; each queues the members of its namespace once."""
        if len(self._due) == len(self._names):
            return  # all timers are running
        for namespace, names in self._names.items():
            if namespace not in self._due:
                looks = len(names) * len(self._names)
                seconds = self._seconds * max(1.0, looks / PER_ROUND)
                self._due[namespace] = asyncio.get_running_loop().call_later(seconds, self._go, namespace)

    def _go(self, namespace: str) -> None:
        del self._due[namespace]
        for name in sorted(self._names[namespace]):
            self._queue.add((namespace, name))


TOGETHER: Final = 0.2
"""Seconds in which changes of a pool's hosts and of the pods on them are merged: a job starts and ends many pods."""

AGAIN: Final = 1.0
"""Seconds between two reconciles of pools that wait for nodes, while nodes and pods change."""

COUNTED: Final = 10.0
"""Seconds between two counts of eligible nodes, for pools without assigned hosts."""


class Triggers:
    """Listens to an inventory and fills two queues: HostPools, and nodes with marks of no existing HostPool.

    Nothing is queued before :meth:`begin`, which the leader calls.
    """

    def __init__(self, watched: ObservedInventory, whose: MarkOwners, pools: Queue[Name], nodes: Queue[str]) -> None:
        self._inventory = watched.inventory
        self._whose = whose
        self._pools = pools
        self._nodes = nodes
        self._leading = False
        self._waiting = Debounce(pools, AGAIN)
        """Pools that have more or fewer hosts than they should."""
        self._counted = Debounce(pools, COUNTED)
        self._open = Debounce(pools, COUNTED)
        """Exclusive pools, whose status counts sleepers (``docs/hostpool.md``)."""
        self._equipped = Debounce(pools, AGAIN)
        """Pools that ask for devices."""
        watched.on_pool.append(self._pool)
        watched.on_node.append(self._node)
        watched.on_pod.append(self._pod)
        watched.devices.on_change.append(self._devices)

    def begin(self) -> None:
        """Queue every pool and every node with an orphaned mark, and from now on what changes."""
        self._leading = True
        for name in self._inventory.pools:
            self._pools.add(name)
        for node in self._inventory.nodes.nodes.values():
            self._orphaned(node)

    def _pool(self, name: Name, before: Pool | None, after: Pool | None) -> None:
        goes = set() if after is None else set(self._rounds(after))
        for rounds in (self._waiting, self._counted, self._open, self._equipped):
            (rounds.join if rounds in goes else rounds.leave)(name)
        if not self._leading:
            return
        self._pools.add(name)
        if before is not None and (after is None or before.assigned != after.assigned):
            self._waiting.ask()  # nodes may have become free
        if after is None:
            for node in marked_nodes(name, self._inventory):
                self._nodes.add(node)

    def _rounds(self, pool: Pool) -> Iterator[Debounce]:
        """The debounced groups that the pool is a member of."""
        if unreadable(pool):
            return
        if pool.devices:
            yield self._equipped
        if pool.exclusive and pool.assigned:
            yield self._open
        if pool.phase is Phase.READY and not pool.sized:
            yield self._counted
        elif _incomplete(pool):
            yield self._waiting

    def _node(self, _: str, before: Node | None, after: Node | None) -> None:
        if not self._leading:
            return
        at_once = after is None or set(marks(before)) != set(marks(after))
        for pool in sorted(self._whose.pools(before) | self._whose.pools(after)):
            self._pools.add_after(pool, 0.0 if at_once else TOGETHER)
        if after is not None:
            self._orphaned(after)
        self._waiting.ask()
        self._counted.ask()

    def _pod(self, _: str, before: PodInfo | None, after: PodInfo | None) -> None:
        if not self._leading:
            return
        if any(pod is not None and pod.sleeps for pod in (before, after)):
            self._open.ask()
        concerning = (pod for pod in (before, after) if pod is not None and self._inventory.concerns_pools(pod))
        seen = {pod.node for pod in concerning if pod.node}
        for node in sorted(seen):
            for pool in sorted(self._whose.pools(self._inventory.nodes.get(node))):
                self._pools.add_after(pool, TOGETHER)
        if seen and (after is None or after.terminating):
            self._waiting.ask()

    def _devices(self) -> None:
        if self._leading:
            self._equipped.ask()

    def _orphaned(self, node: Node) -> None:
        if self._whose.orphaned(node):
            self._nodes.add(node.name)


def _incomplete(pool: Pool) -> bool:
    wanted = pool.size if pool.hosts is None else len(pool.hosts)
    return pool.phase is not Phase.READY or len(pool.assigned) < (wanted or 0)
