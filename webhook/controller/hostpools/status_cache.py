"""What the status of pools was seen to say: whoever would say the same again need not even read it."""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.controller.clock import Clock
from webhook.controller.hostpools.pool_status import WAITING, State
from webhook.placement.inventory.objects import Pool
from webhook.placement.inventory.pool_index import Name

RESYNC: Final = 600.0
"""Seconds after which a pool is read although nothing was heard: against whatever was overlooked."""


ROUGHLY: Final = 10.0
"""Seconds for which it does not matter how many nodes a pool that waits could have, as long as they are too few: with
hundreds of such pools every node that comes or goes would be hundreds of writes."""


class _Known(Struct):
    """How a pool looked when its status was right, what the status said, when it was read and when it was so still."""

    pool: Pool
    state: State
    read: float
    seen: float


class StatusCache:
    """By pool: what its status is known to say."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[Name, _Known] = {}

    def note(self, pool: Pool, state: State) -> None:
        """The pool was just read, and its status says that."""
        now = self._clock()
        self._known[pool.namespace, pool.name] = _Known(pool, _essence(state), now, now)

    def left(self, pool: Pool, state: State) -> float:
        """Seconds for which there is nothing to be said of the pool, if its state is that; 0 if it has to be read."""
        known = self._known.get((pool.namespace, pool.name))
        if known is None or known.pool != pool:
            return 0.0
        if known.state == _essence(state):
            known.seen = self._clock()
            return max(0.0, known.read + RESYNC - known.seen)
        return self.roughly(pool) if _waits(state) and _uncounted(state) == _uncounted(known.state) else 0.0

    def roughly(self, pool: Pool) -> float:
        """Seconds for which there is nothing to be said of the pool if it has too few nodes still, however many."""
        known = self._known.get((pool.namespace, pool.name))
        if known is None or known.pool != pool or not _waits(known.state):
            return 0.0
        return max(0.0, known.seen + ROUGHLY - self._clock())

    def end(self, pool: Name) -> None:
        """The pool is gone."""
        self._known.pop(pool, None)


def _essence(state: State) -> State:
    """Without the number of eligible nodes where it is only to be known: it changes with pods anywhere."""
    return replace(state, eligible=None) if state.hosts else state


def _waits(state: State) -> bool:
    return state.reason in WAITING


def _uncounted(state: State) -> State:
    return replace(state, message="", eligible=None)
