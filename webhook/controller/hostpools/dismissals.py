"""Hosts that exist and are replaced all the same, if the administrator wants it (``docs/hostpool.md``)."""

from msgspec import Struct

from kubeapi.clock import Clock
from webhook.placement.checks.pool_health import OUT, HostCondition, troubles
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.objects import Pool
from webhook.placement.inventory.pool_index import Name
from webhook.placement.pools.allocation import users

_Key = tuple[int, str, str]
"""Index, node and kind of trouble."""


class Replacement(Struct, frozen=True):
    """When hosts are replaced that exist.

    ``unusable_after`` seconds of being cordoned, not ready or otherwise tainted; 0 for never. ``unlabelled`` is whether
    a host that has lost a tag is.
    """

    unusable_after: float = 0.0
    unlabelled: bool = False


class Dismissals:
    """Since when hosts have been in trouble."""

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
            left = known[key] + patience - now
            if left > 0:
                waits.append(left)
            elif not users(pool, inventory) & inventory.nodes.named(trouble.host.name):
                due.add(trouble.host.index)
        if known:
            self._since[name] = known
        return due, min(waits, default=None)

    def end(self, pool: Name) -> None:
        """The pool is gone, or has no hosts."""
        self._since.pop(pool, None)

    @property
    def _at_all(self) -> bool:
        return self._rules.unlabelled or self._rules.unusable_after > 0

    def _patience(self, trouble: HostCondition) -> float | None:
        """Seconds for which a host with that trouble is kept; ``None`` for ever."""
        if trouble.kind in OUT and self._rules.unusable_after:
            return self._rules.unusable_after
        return 0.0 if trouble.kind == "unlabelled" and self._rules.unlabelled else None
