"""How long ago exclusive hosts were tainted: pods are still being bound to them for a while.

The scheduler decides on what it knows, and binds what it has decided: it was seen to put pods on a node up to 120 ms
after the taint had been written there.
"""

from collections.abc import Iterable
from typing import Final

from kubeapi.clock import Clock
from webhook.placement.inventory.objects import PoolHost
from webhook.placement.inventory.pool_index import Name

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
