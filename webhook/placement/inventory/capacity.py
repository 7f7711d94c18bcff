"""Allocatable and used amounts of every resource on every node: two numpy rows of ``int64`` per resource."""

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.bits import Bits, from_mask, to_slots

_KEPT = 1024
"""Cached sets of nodes: two megabytes for 15,000 nodes, and more amounts than the templates of a cluster request."""

Row = npt.NDArray[np.int64]
"""One number per node slot."""

_INITIAL = 64
"""Slots of a new row; rows double when they are full."""

_CEILING = 2**62
"""Largest amount that is kept: a sum of two never overflows an ``int64``. No node has 4 EiB of anything."""


_TAKEN_LIMIT = _CEILING >> 20
"""Largest amount that one pod takes: a million pods of such an amount reach the ceiling."""


_FEW = 16
"""A resource that no node offers has a row once one in so many nodes uses it: until then a dict of slots is smaller."""


class _Used:
    """The amounts of one resource that pods use, by slot, and how often these have changed.

    ``cells`` is the memory of ``row``: Python reads and writes one number there in half the time that numpy takes.
    """

    __slots__ = ("cells", "changes", "row")

    def __init__(self, row: Row) -> None:
        self.row = row
        self.cells = row.data
        self.changes = 0

    def grow(self, size: int) -> None:
        """Make room for so many slots."""
        self.row = np.concatenate([self.row, np.zeros(size - len(self.row), np.int64)])
        self.cells = self.row.data


class Capacity:
    """Allocatable and used amounts by resource name and node slot.

    Amounts are milli-units of ``cpu`` and whole units of everything else. A resource that no node offers has no
    allocatable row, and no row of used amounts unless pods on many nodes request it, until the last of these is gone: a
    pod may request any names, as many as its object holds, and a row for each would take a thousand times the memory of
    the name.
    """

    __slots__ = ("_allocatable", "_changes", "_few", "_known", "_size", "_used")

    def __init__(self) -> None:
        self._size = _INITIAL
        self._allocatable: dict[str, Row] = {}
        self._used: dict[str, _Used] = {}
        self._few: dict[str, dict[int, int]] = {}
        """What pods use of the resources without a row, by slot, without zeros."""
        self._changes = 0
        """How often amounts of any of these have changed."""
        self._known: dict[tuple[str, int], Bits] = {}

    def offer(self, slot: int, tally: Tally) -> None:
        """Set the allocatable amounts of the node in ``slot``; resources that are not in ``tally`` become 0."""
        self._reach(slot)
        self._known.clear()
        for resource in tally.keys() - self._allocatable.keys():
            self._allocatable[resource] = np.zeros(self._size, np.int64)
        for resource, row in self._allocatable.items():
            row[slot] = min(tally.get(resource, 0), _CEILING)

    def take(self, slot: int, tally: Tally, sign: int = 1) -> None:
        """Add the amounts to those used on ``slot``; with ``sign=-1`` subtract them."""
        self._reach(slot)
        for resource, amount in tally.items():
            used = self._used.get(resource)
            if used is None:
                self._take_of_few(resource, slot, sign * min(amount, _TAKEN_LIMIT))
                continue
            used.cells[slot] += sign * min(amount, _TAKEN_LIMIT)
            used.changes += 1
            if sign < 0 and resource not in self._allocatable and not used.row.any():
                del self._used[resource]
                self._changes = max(self._changes, used.changes)  # never fewer than before

    def _take_of_few(self, resource: str, slot: int, amount: int) -> None:
        """Add the amount to what is used of a resource without a row, which it gets if offered, or used by many."""
        self._changes += 1
        few = self._few.setdefault(resource, {})
        few[slot] = few.get(slot, 0) + amount
        if not few[slot]:
            del few[slot]
        if not few:
            del self._few[resource]
        elif resource in self._allocatable or len(few) * _FEW > self._size:
            used = self._used[resource] = _Used(self._row_of(few))
            used.changes = self._changes  # never fewer than before
            del self._few[resource]

    def _row_of(self, few: Mapping[int, int]) -> Row:
        row = np.zeros(self._size, np.int64)
        for slot, amount in few.items():
            row[slot] = amount
        return row

    def unused(self) -> "Capacity":
        """A view of the amounts that nodes offer, none of which are used; callers must not change it."""
        view = Capacity()
        view._size, view._allocatable, view._known = self._size, self._allocatable, self._known
        return view

    def changes(self, resources: Iterable[str]) -> int:
        """A number that grows whenever used amounts of these resources change: by one for each, or more.

        It may be smaller once a node offers one of them for the first time.
        """
        return sum(map(self._changes_of, resources))

    def _changes_of(self, resource: str) -> int:
        if resource in self._used:
            return self._used[resource].changes
        # What is offered gets a row with the first amount that is used of it.
        return 0 if resource in self._allocatable and resource not in self._few else self._changes

    def used(self, resource: str, slot: int) -> int:
        """The amount of ``resource`` used on ``slot``."""
        used = self._used.get(resource)
        if used is None:
            return self._few[resource].get(slot, 0) if resource in self._few else 0
        return 0 if slot >= self._size else used.cells[slot]

    def free(self, resource: str, slot: int) -> int:
        """The amount of ``resource`` that is free on ``slot``; negative if more is used than the node offers."""
        row, used = self._allocatable.get(resource), self._used.get(resource)  # in one call: each bound pod asks often
        in_use = self.used(resource, slot) if used is None else 0 if slot >= self._size else used.cells[slot]
        return (0 if row is None else int(row[slot])) - in_use

    def allocatable(self, resource: str, slot: int) -> int:
        """The amount of ``resource`` that the node in ``slot`` offers."""
        row = self._allocatable.get(resource)
        return 0 if row is None else int(row[slot])

    def fits(self, tally: Tally) -> Bits:
        """The slots whose allocatable amounts include all of ``tally``, whether or not the amounts are free."""
        fitting = -1
        for resource, amount in tally.items():
            known = self._known.get((resource, amount))
            fitting &= self._offering(resource, amount) if known is None else known
        return fitting

    def fits_free(self, tally: Tally) -> Bits:
        """The slots whose free amounts include all of ``tally``."""
        fitting = -1
        for resource, amount in tally.items():
            allocatable, used = self.rows(resource)
            fitting &= from_mask(allocatable - used >= min(amount, _CEILING))
        return fitting

    def holds(self, slot: int, tally: Tally) -> bool:
        """Whether the free amounts on ``slot`` include all of ``tally``: :meth:`fits_free` for one node."""
        for resource, amount in tally.items():  # noqa: SIM110 -- a generator takes twice as long
            if self.free(resource, slot) < min(amount, _CEILING):
                return False
        return True

    def copies(self, tally: Tally, *, free: Bits = 0) -> Row:
        """How many times each slot could hold all of ``tally``, whose amounts are 1 or more.

        Slots in ``free`` count with their free amounts, all other slots with their allocatable amounts.
        """
        copies = np.full(self._size, _CEILING, np.int64)
        counting = to_slots(free)
        for resource, amount in tally.items():
            allocatable, used = self.rows(resource)
            room = allocatable.copy()
            room[counting] = np.maximum(room[counting] - used[counting], 0)
            copies = np.minimum(copies, room // min(amount, _CEILING))
        return copies

    def rows(self, resource: str) -> tuple[Row, Row]:
        """Allocatable and used amounts of a resource by slot; zeros for an unknown resource. Callers must not write."""
        zeros = np.zeros(self._size, np.int64)
        used, few = self._used.get(resource), self._few.get(resource)
        in_use = used.row if used is not None else self._row_of(few) if few else zeros
        return self._allocatable.get(resource, zeros), in_use

    def _offering(self, resource: str, amount: int) -> Bits:
        """The slots whose allocatable amount is enough. The set is cached: most pods request one of a few amounts.

        Of resources that no node offers it is not, since pods may request any names.
        """
        offered = self._allocatable.get(resource)
        if amount <= 0 or offered is None:
            return -1 if amount <= 0 else 0
        offering = from_mask(offered >= min(amount, _CEILING))
        if len(self._known) >= _KEPT:
            self._known.clear()
        self._known[resource, amount] = offering
        return offering

    def _reach(self, slot: int) -> None:
        if slot < self._size:
            return
        grown = max(slot + 1, 2 * self._size)
        for resource, row in self._allocatable.items():
            self._allocatable[resource] = np.concatenate([row, np.zeros(grown - self._size, np.int64)])
        for used in self._used.values():
            used.grow(grown)
        self._size = grown
