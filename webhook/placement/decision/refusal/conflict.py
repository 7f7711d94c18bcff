"""Searches for a smallest choice that fails, a conflict, where only an oracle knows which choices fail.

A search is a generator: it yields a choice and is sent whether that choice fails, or ``None`` if nothing more may be
asked, which ends it with the best answer so far. So one search serves oracles that answer at once (``answered``, for a
pod and for replicas) and those that others wait for (``answered_in_turn``, for whole Jobs). Oracles are taken to be
monotonic: more of what fails fails as well.
"""

import itertools
from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import TypeAlias, TypeVar

Item = TypeVar("Item")
Choice = TypeVar("Choice")
Found = TypeVar("Found")

Search: TypeAlias = Generator[Choice, bool | None, Found]
"""Yields choices, is sent whether each of them fails, and returns what it has found."""

TRIES = 4000
"""Maximum number of choices tried below an irreducible one: all pairs of 64 clauses, some milliseconds."""


def smallest_failing(
    items: Sequence[Item], tries: int = TRIES, *, again: bool = False
) -> Search[Sequence[Item], Sequence[Item]]:
    """Find a smallest choice of the items that fails, in their order; all of them together are known to fail.

    Up to ``tries`` choices are tried that are smaller than an irreducible one. So the answer is irreducible always, and
    a smallest one for all but extreme numbers of items. ``again`` is for an oracle that is not monotonic; of one that
    is, no choice is tried that is part of one known not to fail.
    """
    passing: list[Sequence[Item]] = []
    smallest = yield from irreducible(items, again=again, passing=passing)
    known = [] if again else [{*map(id, choice)} for choice in passing]
    smaller = itertools.chain.from_iterable(itertools.combinations(items, size) for size in range(1, len(smallest)))
    for choice in itertools.islice(smaller, tries):
        if known and _part_of(choice, known):
            continue
        if (yield choice):
            return choice
    return smallest


def _part_of(choice: Sequence[object], known: Sequence[set[int]]) -> bool:
    """Whether all of the choice is in one of the sets, which are of identities: items need not be hashable."""
    own = {*map(id, choice)}
    return any(map(own.issubset, known))


def irreducible(
    items: Sequence[Item], size: int = 1, *, again: bool = False, passing: list[Sequence[Item]] | None = None
) -> Search[Sequence[Item], Sequence[Item]]:
    """Find a choice that fails and of which no item can be left out; items are left out from the last on.

    At first as many as ``size`` are left out at a time, then half as many, in the end single ones. An oracle that is
    not monotonic is asked ``again`` until no single item can be left out. Choices that do not fail are added to
    ``passing``.
    """
    chosen = [*items]
    while True:
        at = before = len(chosen)
        while at > 0:
            first = max(0, at - size)
            smaller = chosen[:first] + chosen[at:]
            fails = yield smaller
            if fails is None:
                return chosen
            if passing is not None and not fails:
                passing.append(smaller)
            chosen, at = smaller if fails else chosen, first
        if size == 1 and (not again or len(chosen) == before):
            return chosen
        size = max(1, size // 2)


def least(low: int, high: int) -> Search[int, int]:
    """Find the smallest number from ``low`` to ``high`` that fails; ``high`` is known to fail."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if (yield middle) else (middle + 1, high)
    return high


def least_up_to(most: int) -> Search[int, int]:
    """Find the smallest number from 1 to ``most`` that fails; 0 if none is found."""
    low, high = 0, 1
    while high <= most and not (yield high):
        low, high = high, (most if high < most < 2 * high else 2 * high)
    return (yield from least(low + 1, high)) if high <= most else 0


def answered(search: Search[Choice, Found], fails: Callable[[Choice], bool | None]) -> Found:
    """What the search finds if ``fails`` answers it."""
    try:
        choice = next(search)
        while True:
            choice = search.send(fails(choice))
    except StopIteration as end:
        result: Found = end.value
        return result


async def answered_in_turn(search: Search[Choice, Found], fails: Callable[[Choice], Awaitable[bool | None]]) -> Found:
    """What the search finds if ``fails`` answers it, whose answers are waited for."""
    try:
        choice = next(search)
        while True:
            choice = search.send(await fails(choice))
    except StopIteration as end:
        result: Found = end.value
        return result
