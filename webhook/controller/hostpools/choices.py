"""The choice of a pool's hosts, from what is known just now: the core's plan, and what the controller knows besides."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from webhook.controller.clock import Clock
from webhook.controller.hostpools.dismissals import Dismissals, Replacement
from webhook.controller.hostpools.marks import Mark, mark_of
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.objects import Pool, PoolHost
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.bits import union
from webhook.placement.pools.pool_plan import PoolPlan, plan, published

SECONDS: Final = 10.0
"""For so long: by then a cache knows, unless it is cut off, and then another try tells it again."""


class NodeExclusions:
    """Names of nodes by pool, each for a while: what one pool cannot have may well be another's."""

    def __init__(self, clock: Clock, *, duration: float = SECONDS) -> None:
        self._clock = clock
        self._seconds = duration
        self._until: dict[Name, dict[str, float]] = {}

    def add(self, pool: Name, nodes: Iterable[str]) -> None:
        """Bar them, or bar them longer."""
        until = self._clock() + self._seconds
        found = dict.fromkeys(nodes, until)
        if found:
            self._until.setdefault(pool, {}).update(found)

    def of(self, pool: Name) -> dict[str, float]:
        """The nodes that are barred now, each with the seconds that are left."""
        now = self._clock()
        left = {node: until for node, until in self._until.pop(pool, {}).items() if until > now}
        if left:
            self._until[pool] = left
        return {node: until - now for node, until in left.items()}

    def end(self, pool: Name) -> None:
        """The pool is gone."""
        self._until.pop(pool, None)


SHORT: Final = 5.0
"""Seconds after which a pool is looked at that should let go of a host for which there is no other."""


class Choice(Struct, frozen=True):
    """``unmarked`` are the hosts of the plan that do not carry their mark, as far as is known.

    ``fresh`` are those that have not been published, ``gone`` those that have been and whose nodes are gone, as far as
    is known. ``due`` are the seconds after which the choice may be another one although nothing has changed; ``None``
    for never.
    """

    plan: PoolPlan
    unmarked: list[PoolHost]
    fresh: list[PoolHost]
    gone: list[PoolHost]
    due: float | None


class Choices:
    """Chooses; a node that could not be had is not chosen again for a while."""

    def __init__(self, inventory: Inventory, policy: Policy, replacement: Replacement, clock: Clock) -> None:
        self._inventory = inventory
        self._policy = policy
        self._barred = NodeExclusions(clock)
        self._dismissals = Dismissals(replacement, clock)

    def mark(self, pool: Pool) -> Mark:
        """How its hosts are marked."""
        return mark_of(pool, self._policy)

    def of(self, pool: Pool) -> Choice:
        """The hosts that the pool is to have now."""
        barred = self._barred.of((pool.namespace, pool.name))
        nodes = union(self._inventory.nodes.named(name) for name in barred)
        lost = {host.index for host in pool.assigned if host.name in barred}
        unwanted, due = self._dismissals.of(pool, self._inventory) if published(pool) else (set[int](), None)
        waits = [*barred.values(), *(() if due is None else (due,))]
        found = plan(pool, self._inventory, self._policy, barred=nodes, dismissed=lost | unwanted)
        if unwanted and found.reason:
            # Not unless there is another one.
            found = plan(pool, self._inventory, self._policy, barred=nodes, dismissed=lost)
            waits.append(SHORT)
        mark, had = self.mark(pool), dict.fromkeys(pool.assigned if published(pool) else ())
        standing = self._inventory.pools.hosts(pool)
        return Choice(
            plan=found,
            unmarked=[host for host in found.hosts if not self._is_marked(host, mark)],
            fresh=[host for host in found.hosts if host not in had],
            gone=[host for host in had if not standing[host.index]],
            due=min(waits, default=None),
        )

    def bar(self, pool: Pool, hosts: Iterable[PoolHost]) -> None:
        """The pool cannot have these."""
        self._barred.add((pool.namespace, pool.name), (host.name for host in hosts))

    def end(self, name: Name) -> None:
        """The pool is gone."""
        self._barred.end(name)
        self._dismissals.end(name)

    def _is_marked(self, host: PoolHost, mark: Mark) -> bool:
        node = self._inventory.nodes.get(host.name)
        return node is not None and mark.on(node, host.index)
