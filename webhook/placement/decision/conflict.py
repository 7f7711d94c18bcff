"""Search for a smallest set of clauses that cannot hold together, by sets of nodes or by a predicate."""

import itertools
from collections.abc import Callable, Sequence

from webhook.placement.kube.bits import Bits

TRIES = 4000
"""At most so many subsets are tried for a smaller one: all pairs of 64 clauses, some milliseconds at 15,000 nodes."""


def smallest(base: Bits, sets: Sequence[Bits]) -> tuple[int, ...]:
    """Ascending positions of a smallest choice of ``sets`` that has no node in common within ``base``.

    Empty if ``base`` is empty: then no clause is to blame. All of ``sets`` together must have no node in common within
    ``base``. Deletion finds a choice from which no set can be left out; every smaller choice is then tried, up to
    :data:`TRIES`. So the answer is irreducible always, and a smallest one for all but extreme numbers of clauses.
    """
    kept = [at for at, nodes in enumerate(sets) if base & ~nodes]
    return fewest(kept, lambda choice: bool(_meet(base, sets, choice)))


def fewest(kept: Sequence[int], hold: Callable[[Sequence[int]], bool], tries: int = TRIES) -> tuple[int, ...]:
    """A smallest choice of ``kept`` that does not ``hold`` together; empty if the empty choice does not hold.

    ``hold`` must be monotonic: a choice that does not hold does not hold with more in it. All of ``kept`` together must
    not hold. At most ``tries`` choices smaller than an irreducible one are tried.
    """
    if not hold(()):
        return ()
    irreducible = _delete(kept, hold)
    choices = itertools.chain.from_iterable(itertools.combinations(kept, size) for size in range(1, len(irreducible)))
    return next((choice for choice in itertools.islice(choices, tries) if not hold(choice)), irreducible)


def _delete(kept: Sequence[int], hold: Callable[[Sequence[int]], bool]) -> tuple[int, ...]:
    """An irreducible choice: from the last on, everything is left out without which the rest still does not hold."""
    chosen = tuple(kept)
    for at in reversed(kept):
        without = tuple(other for other in chosen if other != at)
        if not hold(without):
            chosen = without
    return chosen


def _meet(base: Bits, sets: Sequence[Bits], choice: Sequence[int]) -> Bits:
    """The nodes of ``base`` that are in all of the chosen sets."""
    found = base
    for at in choice:
        found &= sets[at]
    return found
