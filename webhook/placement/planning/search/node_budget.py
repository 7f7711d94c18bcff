"""``NodeBudget``: what blocks may use in all of nodes that do not exist yet, because a node group makes no more."""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct


class NodeBudget(Struct, frozen=True, eq=False):
    """At most ``most`` of the ``nodes`` run blocks (``None`` for no bound), whose requests there sum up to ``amounts``.

    ``nodes`` has one entry for each position, ``amounts`` are by row of what is free. An amount is a bound on what all
    blocks on these nodes request together, whichever of the nodes they are on.
    """

    nodes: npt.NDArray[np.bool_]
    most: int | None = None
    amounts: tuple[tuple[int, int], ...] = ()

    def kept(self, placed: Iterable[tuple[Sequence[int], Sequence[int]]]) -> bool:
        """Whether blocks keep to the budget; of each block its requests, and the positions of its sets."""
        used: set[int] = set()
        sums = dict.fromkeys((row for row, _ in self.amounts), 0)
        for requests, places in placed:
            here = [place for place in places if self.nodes[place]]
            used.update(here)
            for row in sums:
                sums[row] += requests[row] * len(here)
        return (self.most is None or len(used) <= self.most) and all(sums[row] <= most for row, most in self.amounts)


class BudgetLeft:
    """What a search has left of a budget while it places one block after another."""

    def __init__(self, budget: NodeBudget) -> None:
        self._nodes = budget.nodes
        self._most = budget.most
        self._amounts = dict(budget.amounts)
        self._used = np.zeros(len(budget.nodes), np.bool_)

    def within(self, room: npt.NDArray[np.int64], requests: Sequence[int]) -> npt.NDArray[np.int64]:
        """How many sets of a block each node can take, of those that ``room`` has for it; earlier nodes come first."""
        able = self._nodes & (room > 0)
        if self._most is not None:
            fresh = np.flatnonzero(able & ~self._used)
            able[fresh[max(0, self._most - int(self._used.sum())) :]] = False
        copies = np.where(able, room, 0)
        for row, remaining in self._amounts.items():
            if requests[row]:
                before = np.cumsum(copies) - copies
                copies = np.minimum(copies, np.maximum(remaining // requests[row] - before, 0))
        return np.where(self._nodes, copies, room)

    def take(self, places: Sequence[int], requests: Sequence[int]) -> None:
        """Count a block whose sets are placed there."""
        here = [place for place in places if self._nodes[place]]
        self._used[here] = True
        for row in self._amounts:
            self._amounts[row] -= requests[row] * len(here)
