"""Cache of the HostPool statuses last read from the API server.

The reconciler skips reading a pool whose status would not change.
"""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from kubeapi.clock import Clock
from webhook.controller.hostpools.pool_status import WAITING, State
from webhook.placement.inventory.pool_index import Name
from webhook.placement.objects.pool import Pool

RESYNC: Final = 600.0
"""Seconds after which a pool is read although nothing changed, as a safeguard against missed changes."""


ROUGHLY: Final = 10.0
"""Seconds for which the ``eligible`` count of a waiting pool may be stale while nodes are still too few. Otherwise each
node that comes or goes would cause a write for each of possibly hundreds of waiting pools."""


class _Known(Struct):
    """A pool, the state that its status reported, and when that was read and last confirmed."""

    pool: Pool
    state: State
    read: float
    seen: float


class StatusCache:
    """Known statuses by pool."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[Name, _Known] = {}

    def note(self, pool: Pool, state: State) -> None:
        """Remember that the pool was just read and its status reports the state."""
        now = self._clock()
        self._known[pool.namespace, pool.name] = _Known(pool, _essence(state), now, now)

    def left(self, pool: Pool, state: State) -> float:
        """Seconds for which a pool in that state needs no read; 0 if it has to be read now."""
        known = self._known.get((pool.namespace, pool.name))
        if known is None or known.pool != pool:
            return 0.0
        if known.state == _essence(state):
            known.seen = self._clock()
            return max(0.0, known.read + RESYNC - known.seen)
        return self.roughly(pool) if _waits(state) and _uncounted(state) == _uncounted(known.state) else 0.0

    def roughly(self, pool: Pool) -> float:
        """Seconds for which a pool that still has too few nodes needs no read, whatever their number."""
        known = self._known.get((pool.namespace, pool.name))
        if known is None or known.pool != pool or not _waits(known.state):
            return 0.0
        return max(0.0, known.seen + ROUGHLY - self._clock())

    def end(self, pool: Name) -> None:
        """Forget the pool."""
        self._known.pop(pool, None)


def _essence(state: State) -> State:
    """The state without the eligible count of a pool with hosts: that count changes with pods anywhere."""
    return replace(state, eligible=None) if state.hosts else state


def _waits(state: State) -> bool:
    return state.reason in WAITING


def _uncounted(state: State) -> State:
    return replace(state, message="", eligible=None)
