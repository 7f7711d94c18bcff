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

Amounts = npt.NDArray[np.int64]

_EXACT: Final = 2**53
"""Above it what a sum is compared with would no longer be exact."""


def too_many(amounts: Amounts, counts: Amounts, capacities: Amounts) -> int | None:
    """The size from which on the amounts cannot all be packed, ``counts[i]`` times ``amounts[i]``; ``None`` if unknown.

    Each amount is packed onto one of the nodes with these ``capacities``, and the largest node can hold each of them.
    """
    sizes, at = np.unique(amounts, return_inverse=True)
    times = np.zeros(len(sizes), np.int64)
    np.add.at(times, at, counts)
    sizes, times = sizes[sizes > 0], times[sizes > 0]
    free = np.sort(capacities)
    if not len(sizes) or float(times.sum()) * float(free[-1]) >= _EXACT or float(free.sum(dtype=np.float64)) >= _EXACT:
        return None
    too_large = np.flatnonzero(_of_volume(sizes, times, free))
    if len(too_large):
        return int(sizes[too_large[-1]])
    return _of_number(sizes, times, free)


def _of_volume(sizes: Amounts, times: Amounts, free: Amounts) -> npt.NDArray[np.bool_]:
    """For each size whether the amounts from it on take more than there is on the nodes that can hold one of them."""
    taken = _sums(sizes * times)
    alone = _sums(free[np.searchsorted(free, sizes)] * times)
    least = np.arange(len(sizes))
    # From here on an amount leaves less than the smallest, whichever node it is on.
    lonely = np.maximum(np.searchsorted(sizes, free[-1] - sizes, side="right"), least)
    asked = taken[lonely] - taken[least] + alone[-1] - alone[lonely]
    there = _sums(free)
    found: npt.NDArray[np.bool_] = asked > there[-1] - there[np.searchsorted(free, sizes)]
    return found


def _of_number(sizes: Amounts, times: Amounts, free: Amounts) -> int | None:
    """The largest size of which, or of more, the nodes cannot hold so many."""
    wanted = times.sum() - _sums(times)[:-1]
    within = np.searchsorted(free, sizes)
    there = _sums(free)
    # Every node holds more than its share less one, so most sizes need no look at each node.
    surely = (there[-1] - there[within]) // sizes - (len(free) - within)
    for least in np.flatnonzero(wanted > surely)[::-1]:
        if wanted[least] > (free[within[least] :] // sizes[least]).sum():
            return int(sizes[least])
    return None


def _sums(amounts: Amounts) -> Amounts:
    """The sum of the first n amounts, for each n from 0 on."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(amounts)))
