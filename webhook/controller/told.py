"""What the status of pools was seen to say: whoever would say the same again need not even read it."""

from typing import Final

from msgspec.structs import replace

from webhook.controller.clock import Clock
from webhook.controller.pool_status import State
from webhook.placement.cluster import Pool
from webhook.placement.pool_index import Name

RESYNC: Final = 600.0
"""Seconds after which a pool is read although nothing was heard: against whatever was overlooked."""


class Told:
    """By pool: how it looked when its status was right, what the status said, and when that was."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[Name, tuple[Pool, State, float]] = {}

    def note(self, pool: Pool, state: State) -> None:
        """The pool was just read, and its status says that."""
        self._known[pool.namespace, pool.name] = pool, _essence(state), self._clock()

    def left(self, pool: Pool, state: State) -> float:
        """Seconds for which there is nothing to be said of the pool, if its state is that; 0 if it has to be read."""
        known = self._known.get((pool.namespace, pool.name))
        if known is None or known[:2] != (pool, _essence(state)):
            return 0.0
        return max(0.0, known[2] + RESYNC - self._clock())

    def end(self, pool: Name) -> None:
        """The pool is gone."""
        self._known.pop(pool, None)


def _essence(state: State) -> State:
    """Without the number of eligible nodes where it is only to be known: it changes with pods anywhere."""
    return replace(state, eligible=None) if state.hosts else state
