"""The largest sets of apps that fit into one cluster together.

Every subset of a set that fits also fits, so the maximal sets describe all of them.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from msgspec import Struct

from webhook.placement.planning.search.solver import Solving

QUESTIONS: Final = 200
"""Questions about one cluster: enough for all sets of a dozen apps in contention."""

STEPS: Final = 2_000
"""Sets of apps that are looked at in one cluster; most are known not to fit without a question."""


class CompatibleSets(Struct, frozen=True):
    """The ``maximal`` sets of positions of apps that fit together, sorted; ``complete`` tells that there are no more.

    Every app that fits alone is in one of them.
    """

    maximal: tuple[tuple[int, ...], ...]
    complete: bool = True


def rivals_of(maximal: Sequence[Sequence[int]]) -> set[int]:
    """The apps that are in some of the maximal sets and not in all of them: these had to share the cluster."""
    sets = [frozenset(one) for one in maximal]
    return set(frozenset.union(*sets) - frozenset.intersection(*sets)) if sets else set()


Fit = Callable[[frozenset[int]], Awaitable[bool | None]]
"""Whether all apps of the set fit into the cluster at the same time; ``None`` if there was no time to find out."""


async def maximal_sets(apps: frozenset[int], fit: Fit, solving: Solving) -> CompatibleSets:
    """The maximal sets among apps each of which fits alone, from a bounded number of questions."""
    search = _Search(fit, solving)
    if not apps:
        return CompatibleSets(())
    complete = await search.run(apps)
    covered = frozenset[int]().union(*search.found)
    search.found += [frozenset((app,)) for app in apps - covered]
    return CompatibleSets(tuple(sorted(tuple(sorted(one)) for one in search.found)), complete)


class _Search:
    """The search: ``found`` are sets that fit, ``_conflicts`` smallest sets that do not."""

    def __init__(self, fit: Fit, solving: Solving) -> None:
        self.found: list[frozenset[int]] = []
        self._fit = fit
        self._solving = solving
        self._conflicts: list[frozenset[int]] = []
        self._questions = QUESTIONS
        self._certain = True

    async def run(self, apps: frozenset[int]) -> bool:
        """Find all maximal sets; returns whether that could be done."""
        waiting, seen = deque([apps]), {apps}
        while waiting:
            chosen = waiting.popleft()
            if any(chosen <= known for known in self.found):
                continue
            conflict = next((known for known in self._conflicts if known <= chosen), None)
            if conflict is None and self._spent():
                return False
            if conflict is None and await self._asked(chosen):
                self.found.append(chosen)
                continue
            if conflict is None:
                conflict = await self._smallest(chosen)
            smaller = [chosen - {app} for app in sorted(conflict)]
            waiting += [one for one in smaller if one not in seen]
            seen.update(smaller)
            if len(seen) > STEPS:
                return False
        return self._certain

    def _spent(self) -> bool:
        return self._questions <= 0 or self._solving.left() <= 0

    async def _asked(self, chosen: frozenset[int]) -> bool:
        self._questions -= 1
        answer = await self._fit(chosen)
        self._certain = self._certain and answer is not None
        return bool(answer)

    async def _smallest(self, chosen: frozenset[int]) -> frozenset[int]:
        """A set within ``chosen`` that does not fit, from which no app can be left out, as long as questions last."""
        for app in sorted(chosen):
            if not self._spent() and len(chosen) > 1 and not await self._asked(chosen - {app}):
                chosen -= {app}
        self._conflicts.append(chosen)
        return chosen
