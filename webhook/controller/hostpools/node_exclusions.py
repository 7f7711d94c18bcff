"""Nodes that a pool cannot be given just now, whatever the caches say of them."""

from collections.abc import Iterable
from typing import Final

from webhook.controller.clock import Clock
from webhook.placement.inventory.pool_index import Name

SECONDS: Final = 10.0
"""For so long: by then a cache knows, unless it is cut off, and then another try tells it again."""


class Barred:
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
