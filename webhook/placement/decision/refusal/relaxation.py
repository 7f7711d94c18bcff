"""A refused pod decided anew without some of its clauses: which clauses cannot hold together, and which one to drop.

Clauses change what others mean: each of several tags is a label of its own, an exclusive pool opens its hosts, pods to
be near make a pod wait. So nothing is concluded from the sets of nodes of single clauses: these sets only tell which
clauses to try first (``docs/refusals.md``).
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Final, Generic, TypeVar

from webhook.placement.decision.refusal.conflict import answered, irreducible

Item = TypeVar("Item", bound=Hashable)

Fitting = Callable[[frozenset[Item]], int]
"""Function of dropped clauses: how many nodes could run the pod without these clauses.

For a workload: how many of its pods would fit. :data:`REFUSED` if such a pod would be refused for something else.
"""

REFUSED: Final = -1
"""Result of :data:`Fitting` for a pod that would be refused for something else than a lack of nodes."""

_FEWEST, _MOST, _EFFORT = 8, 24, 384
"""Bounds for how many times a pod is decided anew: without one clause, without two, and for the first line.

Each decision costs the more the more clauses there are, so there are ``_EFFORT`` / clauses of each, but at least
``_FEWEST`` and at most ``_MOST``: all clauses that people write. Together they take some milliseconds.
"""


class Relaxation(Generic[Item]):
    """A pod that is refused as long as fewer than ``enough`` fit, decided anew without some of its clauses.

    What fits is counted by ``fitting``. ``verbs`` are all clauses with their verbs (drop, lower).
    ``alone`` tells how many fit if one clause is dropped (or lowered), for the clauses that were tried: of too many
    those for which ``likely`` is largest.
    """

    def __init__(
        self,
        verbs: Mapping[Item, str],
        fitting: Fitting[Item],
        enough: int = 1,
        *,
        likely: Callable[[], Mapping[Item, int]],
    ) -> None:
        self.verbs = verbs
        self._fitting = fitting
        self._enough = enough
        self._known = {frozenset[Item](): enough - 1}
        self._tries = min(_MOST, max(_FEWEST, _EFFORT // max(1, len(verbs))))
        tried = self._likeliest(likely()) if len(verbs) > self._tries else verbs
        self.alone = {clause: self.fit((clause,)) for clause in verbs if clause in tried}
        self._firm = {clause for clause, count in self.alone.items() if count == REFUSED}

    def _likeliest(self, likely: Mapping[Item, int]) -> Collection[Item]:
        """The likeliest clauses, as many as are tried."""
        return {*sorted(self.verbs, key=lambda clause: -likely[clause])[: self._tries]}

    def fit(self, dropped: Collection[Item]) -> int:
        """The number of pods or nodes that fit without these clauses."""
        choice = frozenset(dropped)
        if choice not in self._known:
            self._known[choice] = self._fitting(choice)
        return self._known[choice]

    def conflict(self, guess: Collection[Item]) -> tuple[Item, ...]:
        """A small set of clauses that cannot hold together: those of ``guess``, if deciding anew proves it right.

        These clauses alone leave too few that fit, and each of them is needed: without it enough would fit, of a pod
        with the other clauses of the set or with all others. Clauses without which the pod would be refused for
        something else are never left out; if these alone are too much, the answer is those of them in ``guess``.
        """
        needed = {clause for clause, count in self.alone.items() if count >= self._enough}
        chosen = needed.union(guess) - self._firm
        smaller = (chosen - {clause} for clause in chosen - needed)
        if not self._fails(chosen) or not all(self._fit_with(kept) >= self._enough for kept in smaller):
            chosen = self._reduced(needed)
        chosen = chosen or self._firm.intersection(guess)
        return tuple(clause for clause in self.verbs if clause in chosen)

    def best(self) -> tuple[int, tuple[Item, ...]]:
        """How many fit without the one clause that helps most, and that clause; 0 and no clause if none helps."""
        count = max(self.alone.values(), default=0)
        return (count, tuple(one for one, fits in self.alone.items() if fits == count)[:1]) if count > 0 else (0, ())

    def best_of(self, choices: Iterable[tuple[Item, Item]]) -> tuple[int, tuple[Item, ...]]:
        """How many fit without the pair of clauses that helps most, and that pair; 0 and no pair if none helps.

        Only the first ``choices`` are tried.
        """
        best: tuple[int, tuple[Item, ...]] = (0, ())
        for choice, _ in zip(choices, range(self._tries), strict=False):
            count = self.fit(choice)
            if count > best[0]:
                best = count, choice
        return best

    def _fit_with(self, kept: Collection[Item]) -> int:
        """How many fit if only these clauses are left, and those without which the pod would be refused."""
        return self.fit(self.verbs.keys() - self._firm.union(kept))

    def _fails(self, kept: Collection[Item]) -> bool:
        """Whether too few fit with these clauses alone; false if such a pod would be refused for something else."""
        return REFUSED < self._fit_with(kept) < self._enough

    def _reduced(self, needed: set[Item]) -> set[Item]:
        """The clauses without those that the conflict does not need; clauses in ``needed`` stay."""
        tries = 2 * self._tries

        def fails(chosen: Sequence[Item]) -> bool | None:
            nonlocal tries
            tries -= 1
            return self._fails(needed.union(chosen)) if tries >= 0 else None

        kept = [clause for clause in self.verbs if clause not in needed and clause not in self._firm]
        return needed.union(answered(irreducible(kept, max(1, len(self.verbs)), again=True), fails))
