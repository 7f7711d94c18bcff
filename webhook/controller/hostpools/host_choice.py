"""Chooses a pool's hosts by ``pool_plan``, without nodes that could not be claimed and hosts long in trouble."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from msgspec import Struct

from kubeapi.clock import Clock
from webhook.controller.hostpools.marks import PoolMark, mark_of
from webhook.controller.reconciler_settings import Replacement
from webhook.placement.checks.pool_health import OUT, HostCondition, troubles
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.bits import union
from webhook.placement.objects.pool import Pool, PoolHost
from webhook.placement.pools.allocation import users
from webhook.placement.pools.pool_plan import PoolPlan, plan, published

_Key = tuple[int, str, str]
"""Index of the host, name of its node, and kind of trouble."""


class Dismissals:
    """Hosts that exist but are due for replacement, by how long they have been in trouble."""

    def __init__(self, rules: Replacement, clock: Clock) -> None:
        self._rules = rules
        self._clock = clock
        self._since: dict[Name, dict[_Key, float]] = {}

    def of(self, pool: Pool, inventory: Inventory) -> tuple[set[int], float | None]:
        """Indices of hosts to replace, and in how many seconds there may be more.

        A host on which a pod of the pool runs stays: its pods would lose it. So do those of a literal pool, which are
        what it lists.
        """
        now, due, waits = self._clock(), set[int](), list[float]()
        name = pool.namespace, pool.name
        before, known = self._since.pop(name, {}), dict[_Key, float]()
        for trouble in troubles(pool, inventory) if self._at_all and pool.hosts is None else ():
            patience = self._patience(trouble)
            if patience is None:
                continue
            key = trouble.host.index, trouble.host.name, trouble.kind
            known[key] = before.get(key, now)
            wait = known[key] + patience - now
            if wait > 0:
                waits.append(wait)
            elif not users(pool, inventory) & inventory.nodes.named(trouble.host.name):
                due.add(trouble.host.index)
        if known:
            self._since[name] = known
        return due, min(waits, default=None)

    def end(self, pool: Name) -> None:
        """Forget the pool."""
        self._since.pop(pool, None)

    @property
    def _at_all(self) -> bool:
        return self._rules.unlabelled or self._rules.unusable_after > 0

    def _patience(self, trouble: HostCondition) -> float | None:
        """Seconds after which a host with that trouble is replaced; ``None`` for never."""
        if trouble.kind in OUT and self._rules.unusable_after:
            return self._rules.unusable_after
        return 0.0 if trouble.kind == "unlabelled" and self._rules.unlabelled else None


SECONDS: Final = 10.0
"""Seconds for which a node is excluded; by then the cache has the node's new state."""


class NodeExclusions:
    """Nodes that a pool could not claim, excluded from its choices for a while; other pools may still choose them."""

    def __init__(self, clock: Clock, *, duration: float = SECONDS) -> None:
        self._clock = clock
        self._seconds = duration
        self._until: dict[Name, dict[str, float]] = {}

    def add(self, pool: Name, nodes: Iterable[str]) -> None:
        """Exclude the nodes, or extend their exclusion."""
        until = self._clock() + self._seconds
        excluded = dict.fromkeys(nodes, until)
        if excluded:
            self._until.setdefault(pool, {}).update(excluded)

    def of(self, pool: Name) -> dict[str, float]:
        """The excluded nodes, each with the seconds that are left."""
        now = self._clock()
        excluded = {node: until for node, until in self._until.pop(pool, {}).items() if until > now}
        if excluded:
            self._until[pool] = excluded
        return {node: until - now for node, until in excluded.items()}

    def end(self, pool: Name) -> None:
        """Forget the pool."""
        self._until.pop(pool, None)


SHORT: Final = 5.0
"""Seconds until the next choice for a pool that has a host to replace and no other node for it."""


class Choice(Struct, frozen=True):
    """The chosen hosts. ``unmarked`` are those whose nodes lack the mark according to the cache.

    ``fresh`` are those that have not been published. Of those that have been, ``gone`` are the ones whose nodes are
    gone, as far as is known, and ``dropped`` the ones that are not chosen although their nodes stand. ``due`` are the
    seconds after which the choice may be another one although nothing has changed; ``None`` for never.
    """

    plan: PoolPlan
    unmarked: list[PoolHost]
    fresh: list[PoolHost]
    gone: list[PoolHost]
    dropped: list[PoolHost]
    due: float | None


PlannedHosts = Callable[[Pool], Mapping[int, str]]
"""The nodes that the plan of a pool's Job has for it, by index."""


class Choices:
    """Chooses hosts for pools; a node that could not be claimed is not chosen again for a while."""

    def __init__(self, inventory: Inventory, policy: Policy, replacement: Replacement, clock: Clock) -> None:
        self.planned: PlannedHosts = lambda _: {}
        self._inventory = inventory
        self._policy = policy
        self._exclusions = NodeExclusions(clock)
        self._dismissals = Dismissals(replacement, clock)

    def mark(self, pool: Pool) -> PoolMark:
        """The mark of the pool's hosts."""
        return mark_of(pool, self._policy)

    def of(self, pool: Pool) -> Choice:
        """Choose the pool's hosts by what the caches hold now."""
        excluded = self._exclusions.of((pool.namespace, pool.name))
        nodes = union(self._inventory.nodes.named(name) for name in excluded)
        lost = {host.index for host in pool.assigned if host.name in excluded}
        unwanted, due = self._dismissals.of(pool, self._inventory) if published(pool) else (set[int](), None)
        waits = [*excluded.values(), *(() if due is None else (due,))]
        wanted = {} if published(pool) else self.planned(pool)
        chosen = plan(pool, self._inventory, self._policy, excluded=nodes, dismissed=lost | unwanted, planned=wanted)
        if unwanted and chosen.reason:
            # A host in trouble is kept while no other node can replace it.
            chosen = plan(pool, self._inventory, self._policy, excluded=nodes, dismissed=lost)
            waits.append(SHORT)
        mark, had = self.mark(pool), dict.fromkeys(pool.assigned if published(pool) else ())
        standing, kept = self._inventory.pools.hosts(pool), set(chosen.hosts)
        return Choice(
            plan=chosen,
            unmarked=[host for host in chosen.hosts if not self._is_marked(host, mark)],
            fresh=[host for host in chosen.hosts if host not in had],
            gone=[host for host in had if not standing[host.index]],
            dropped=[host for host in had if standing[host.index] and host not in kept],
            due=min(waits, default=None),
        )

    def bar(self, pool: Pool, hosts: Iterable[PoolHost]) -> None:
        """Exclude these hosts from the pool's next choices."""
        self._exclusions.add((pool.namespace, pool.name), (host.name for host in hosts))

    def end(self, name: Name) -> None:
        """Forget the pool."""
        self._exclusions.end(name)
        self._dismissals.end(name)

    def _is_marked(self, host: PoolHost, mark: PoolMark) -> bool:
        node = self._inventory.nodes.get(host.name)
        return node is not None and mark.on(node, host.index)
