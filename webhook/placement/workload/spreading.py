"""How many equal pods each node gets, if each goes to whichever node is cheapest by then (``docs/scoring.md``).

In the Poseidon node affinity design a node offers an arc of capacity 1 for each pod that it can hold, each dearer than
the one before: three equal nodes share six pods two by two.
"""

import bisect
from collections.abc import Callable

import numpy as np

from webhook.placement.inventory.capacity import Row

Cost = Callable[[Row], Row]
"""What the pods cost that are each node's first, second, ...: it grows with their number, on every node."""


def spread(count: int, room: Row, cost: Cost) -> Row:
    """How many of ``count`` pods each node gets: the one by one cheapest, among equals on the node that stands first.

    No node gets more than its ``room``, so it may be fewer than ``count``. Costs grow on every node, so what one by one
    would choose are the ``count`` cheapest places of all: those below some level, and the first of those at it.
    """
    room = np.minimum(room, count)
    if room.sum() <= count:
        return room
    dearest = int(cost(room).max())
    lowest = int(cost(np.ones_like(room)).min())
    within = range(lowest, dearest + 1)
    level = lowest + bisect.bisect_left(within, count, key=lambda most: int(_filled(most, room, cost).sum()))
    given = _filled(level - 1, room, cost)
    open_ = np.flatnonzero((given < room) & (cost(given + 1) == level))
    given[open_[: count - given.sum()]] += 1
    return given


def _filled(most: int, room: Row, cost: Cost) -> Row:
    """How many pods each node takes at no more than that cost, by halving the numbers that it may be."""
    low, high = np.zeros_like(room), room
    while (low < high).any():
        middle = (low + high + 1) // 2
        cheap = cost(middle) <= most
        low, high = np.where(cheap, middle, low), np.where(cheap, high, middle - 1)
    return low
