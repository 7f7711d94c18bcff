"""A smallest set of clauses that cannot hold together, found on sets of nodes, or by asking whether some hold."""

import itertools
from collections.abc import Callable, Sequence

from webhook.placement.kube.bits import Bits

TRIES = 4000
"""Subsets tried for one that is smaller still: all pairs of 64 clauses, and a few milliseconds at 15,000 nodes."""


def smallest(base: Bits, sets: Sequence[Bits]) -> tuple[int, ...]:
    """Ascending positions of a smallest choice of ``sets`` that has no node in common within ``base``.

    Empty when ``base`` is empty: then no clause is to blame. ``sets`` together must have no node in common with
    ``base``. Deletion finds a choice from which none can be left out; every smaller choice is then tried, up to a
    bound, so the answer is a smallest one for all but extreme numbers of clauses, and irreducible always.
    """
    kept = [at for at, nodes in enumerate(sets) if base & ~nodes]
    return fewest(kept, lambda choice: bool(_meet(base, sets, choice)))


def fewest(kept: Sequence[int], hold: Callable[[Sequence[int]], bool], tries: int = TRIES) -> tuple[int, ...]:
    """A smallest choice of ``kept`` that does not ``hold`` together; empty where not even nothing does.

    What does not hold together does not hold together with more either, and all of ``kept`` do not hold together.
    """
    if not hold(()):
        return ()
    irreducible = _delete(kept, hold)
    choices = itertools.chain.from_iterable(itertools.combinations(kept, size) for size in range(1, len(irreducible)))
    return next((choice for choice in itertools.islice(choices, tries) if not hold(choice)), irreducible)


def _delete(kept: Sequence[int], hold: Callable[[Sequence[int]], bool]) -> tuple[int, ...]:
    """Leave out, from the last on, everything that the conflict does not need."""
    chosen = tuple(kept)
    for at in reversed(kept):
        without = tuple(other for other in chosen if other != at)
        if not hold(without):
            chosen = without
    return chosen


def _meet(base: Bits, sets: Sequence[Bits], choice: Sequence[int]) -> Bits:
    found = base
    for at in choice:
        found &= sets[at]
    return found
