"""Room that no packing can use: which amounts cannot all be packed onto nodes although their sum is free.

A node with 16 cores that runs a pod of 9 has no room for another one of 9. Two bounds see that, each for all amounts
from some size on, so that smaller pods do not matter for the proof:

- a node has room for at most so many of them as its capacity holds of the smallest;
- an amount that leaves less than the smallest, on any node, has its node to itself, and so takes at least the least
  capacity that holds it (the bound L2 of Martello and Toth for bin packing, here with bins that differ).
"""

from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

Amounts = npt.NDArray[np.int64]

_EXACT: Final = 2**53
"""Above it what a sum is compared with would no longer be exact."""


class TooMany(Struct, frozen=True, gc=False):
    """``wanted`` amounts of ``least`` or more cannot all be packed.

    Either there is room for only ``fit`` of them, or (with ``fit`` 0) they take ``asked`` of what is ``there``, as
    ``alone`` of them leave too little on their nodes for another one.
    """

    least: int
    wanted: int
    fit: int = 0
    alone: int = 0
    asked: int = 0
    there: int = 0


def too_many(amounts: Amounts, counts: Amounts, capacities: Amounts) -> TooMany | None:
    """What cannot all be packed of the amounts, ``counts[i]`` times ``amounts[i]``; ``None`` if nothing is proved.

    Each amount is packed onto one of the nodes with these ``capacities``, and the largest node can hold each of them.
    """
    sizes, at = np.unique(amounts, return_inverse=True)
    times = np.zeros(len(sizes), np.int64)
    np.add.at(times, at, counts)
    asked = (sizes > 0) & (times > 0)
    sizes, times = sizes[asked], times[asked]
    free = np.sort(capacities)
    if not len(sizes) or float(times.sum()) * float(free[-1]) >= _EXACT or float(free.sum(dtype=np.float64)) >= _EXACT:
        return None
    return _of_number(sizes, times, free) or _of_volume(sizes, times, free)


def _of_number(sizes: Amounts, times: Amounts, free: Amounts) -> TooMany | None:
    """The proof by the largest size of which, or of more, the nodes cannot hold so many."""
    wanted = times.sum() - _sums(times)[:-1]
    within = np.searchsorted(free, sizes)
    there = _sums(free)
    # Every node holds more than its share less one, so most sizes need no look at each node.
    surely = (there[-1] - there[within]) // sizes - (len(free) - within)
    for least in np.flatnonzero(wanted > surely)[::-1]:
        fit = int((free[within[least] :] // sizes[least]).sum())
        if wanted[least] > fit:
            return TooMany(int(sizes[least]), int(wanted[least]), fit)
    return None


def _of_volume(sizes: Amounts, times: Amounts, free: Amounts) -> TooMany | None:
    """The proof by the largest size from which on the amounts take more than there is on nodes that can hold one."""
    amounts = _sums(sizes * times)
    rounded = _sums(free[np.searchsorted(free, sizes)] * times)
    least = np.arange(len(sizes))
    # From here on an amount leaves less than the smallest, whichever node it is on.
    alone = np.maximum(np.searchsorted(sizes, free[-1] - sizes, side="right"), least)
    asked = amounts[alone] - amounts[least] + rounded[-1] - rounded[alone]
    sums = _sums(free)
    there = sums[-1] - sums[np.searchsorted(free, sizes)]
    for at in np.flatnonzero(asked > there)[-1:]:
        figures = (sizes[at], times[at:].sum(), 0, times[alone[at] :].sum(), asked[at], there[at])
        return TooMany(*map(int, figures))
    return None


def _sums(amounts: Amounts) -> Amounts:
    """The sum of the first n amounts, for each n from 0 on."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(amounts)))
