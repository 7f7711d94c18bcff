"""A smallest set of pods and clauses of a group that cannot hold together: without any of them the rest could.

A question that is not answered in time counts as if the answer were yes, so the set may then be larger than needed.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from webhook.placement.decision.conflict import fewest
from webhook.placement.inventory.pool_index import Name
from webhook.placement.planning.group import Change, Group

TRIES: Final = 100
"""At most so many sets of clauses are tried for a smaller one than the first that was found."""


class GroupConflict(Struct, frozen=True, eq=False):
    """``counts`` is how many pods of each member are in the set, ``clauses`` are their clauses that are in it.

    ``pools`` are HostPools that cannot all have their hosts; then no pods and clauses are needed for the conflict.
    """

    counts: tuple[int, ...]
    clauses: tuple[str, ...] = ()
    pools: tuple[Name, ...] = ()


def smallest(group: Group, short: Sequence[int] = ()) -> GroupConflict:
    """The conflict of a group that cannot be placed; ``short`` are members that are known not to fit together."""
    none = (0,) * len(group.members)
    if _fails(group, none):
        return GroupConflict(none, pools=_pools(group))
    counts = _fewest_pods(group, short)
    texts = list(
        dict.fromkeys(text for at, member in enumerate(group.members) if counts[at] for text in member.clauses)
    )

    def hold(kept: Sequence[int]) -> bool:
        chosen = {texts[at] for at in kept}
        return not _fails(group, counts, frozenset(text for text in texts if text not in chosen))

    return GroupConflict(
        counts, tuple(texts[at] for at in fewest(range(len(texts)), hold, TRIES if group.in_time else 0))
    )


def _fails(group: Group, counts: Sequence[int], dropped: frozenset[str] = frozenset()) -> bool:
    answer = group.place(counts, Change(dropped))
    return answer.placed is None and answer.decided


def _fewest_pods(group: Group, short: Sequence[int]) -> tuple[int, ...]:
    """How many pods of each member are enough for the conflict: many members are left out at a time, then single pods."""
    counts = [count if not short or at in short else 0 for at, count in enumerate(group.counts)]
    if not _fails(group, counts):
        counts = list(group.counts)
    size = max(1, sum(map(bool, counts)) // 2)
    while True:
        there = [at for at, count in enumerate(counts) if count]
        for first in range(0, len(there), size):
            out = there[first : first + size]
            left = [0 if at in out else count for at, count in enumerate(counts)]
            if _fails(group, left):
                counts = left
        if size == 1:
            break
        size //= 2
    for at, count in enumerate(counts):
        counts[at] = _fewest_of(group, counts, at) if count > 1 else count
    return tuple(counts)


def _fewest_of(group: Group, counts: Sequence[int], at: int) -> int:
    """The smallest number of pods of that member with which the others cannot be placed."""
    low, high = 1, counts[at]
    while low < high:
        middle = (low + high) // 2
        if _fails(group, [*counts[:at], middle, *counts[at + 1 :]]):
            high = middle
        else:
            low = middle + 1
    return high


def _pools(group: Group) -> tuple[Name, ...]:
    """A smallest set of HostPools that cannot all have their hosts."""
    sizes = {(pool.namespace, pool.name): pool.size or 0 for pool in group.pools}
    chosen = [*sizes]
    for name in reversed([*sizes]):
        without = [other for other in chosen if other != name]
        smaller = {other: -size for other, size in sizes.items() if other not in without}
        answer = group.place((0,) * len(group.members), Change(larger=smaller))
        if answer.placed is None and answer.decided:
            chosen = without
    return tuple(chosen)
