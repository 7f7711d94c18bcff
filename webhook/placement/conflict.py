"""A smallest set of clauses that cannot hold together, found on sets of nodes."""

import itertools
from collections.abc import Sequence

from webhook.placement.bits import Bits

_TRIES = 4000
"""Subsets tried for one that is smaller still: all pairs of 64 clauses, and a few milliseconds at 15,000 nodes."""


def smallest(base: Bits, sets: Sequence[Bits]) -> tuple[int, ...]:
    """Ascending positions of a smallest choice of ``sets`` that has no node in common within ``base``.

    Empty when ``base`` is empty: then no clause is to blame. ``sets`` together must have no node in common with
    ``base``. Deletion finds a choice from which none can be left out; every smaller choice is then tried, up to a
    bound, so the answer is a smallest one for all but extreme numbers of clauses, and irreducible always.
    """
    if not base:
        return ()
    kept = [at for at, nodes in enumerate(sets) if base & ~nodes]
    irreducible = _delete(base, sets, kept)
    tries = itertools.islice(
        (choice for size in range(1, len(irreducible)) for choice in itertools.combinations(kept, size)), _TRIES
    )
    return next((choice for choice in tries if not _meet(base, sets, choice)), irreducible)


def _delete(base: Bits, sets: Sequence[Bits], kept: Sequence[int]) -> tuple[int, ...]:
    """Leave out, from the last on, every set that the conflict does not need."""
    chosen = tuple(kept)
    for at in reversed(kept):
        without = tuple(other for other in chosen if other != at)
        if not _meet(base, sets, without):
            chosen = without
    return chosen


def _meet(base: Bits, sets: Sequence[Bits], choice: Sequence[int]) -> Bits:
    found = base
    for at in choice:
        found &= sets[at]
    return found
