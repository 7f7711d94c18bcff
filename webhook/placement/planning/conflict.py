"""A smallest set of pods and clauses of a group that cannot hold together: without any of them the rest could.

Pods without a clause ``host(P)`` may stay on the hosts of an exclusive pool P here, so that fewer clauses never make it
harder to place them.
A question that is not answered in time counts as if the answer were yes, so the set may then be larger than needed.
"""

import itertools
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from webhook.placement.inventory.pool_index import Name
from webhook.placement.planning.group import Change, Group
from webhook.placement.planning.members import Member
from webhook.placement.text.clause import Clause

TRIES: Final = 100
"""At most so many sets of clauses are tried for a smaller one than the first that was found."""


class GroupConflict(Struct, frozen=True, eq=False):
    """``counts`` is how many pods of each member are in the set, ``clauses`` are their clauses that are in it.

    ``pools`` are HostPools that cannot all have their hosts; then no pods and clauses are needed for the conflict.
    """

    counts: tuple[int, ...]
    clauses: tuple[Clause, ...] = ()
    pools: tuple[Name, ...] = ()

    def members(self, group: Group) -> list[Member]:
        """The members that have pods in the set."""
        return [member for at, member in enumerate(group.members) if self.counts[at]]


async def smallest(group: Group, short: Sequence[int] = ()) -> GroupConflict:
    """The conflict of a group that cannot be placed; ``short`` are members that are known not to fit together."""
    none = (0,) * len(group.members)
    if await _fails(group, none):
        return GroupConflict(none, pools=await _pools(group))
    counts = await _fewest_pods(group, short)
    there = GroupConflict(counts).members(group)
    clauses = list(dict.fromkeys(clause for member in there for clause in member.clauses))
    return GroupConflict(counts, await _fewest_clauses(group, counts, clauses))


async def _fails(group: Group, counts: Sequence[int], dropped: frozenset[Clause] = frozenset()) -> bool:
    answer = await group.place(counts, Change(dropped, welcome=True))
    return answer.placed is None and answer.decided


async def _fewest_pods(group: Group, short: Sequence[int]) -> tuple[int, ...]:
    """How many pods of each member are enough: first many members are left out at once, then single ones, then pods."""
    counts = [count if not short or at in short else 0 for at, count in enumerate(group.counts)]
    size = max(1, sum(map(bool, counts)) // 2)
    while size and group.in_time:
        there = [at for at, count in enumerate(counts) if count]
        for first in range(0, len(there), size):
            if group.solving.left() <= 0:
                break
            out = there[first : first + size]
            left = [0 if at in out else count for at, count in enumerate(counts)]
            if await _fails(group, left):
                counts = left
        size //= 2
    for at, count in enumerate(counts):
        counts[at] = await _fewest_of(group, counts, at) if count > 1 and group.in_time else count
    return tuple(counts)


async def _fewest_of(group: Group, counts: Sequence[int], at: int) -> int:
    """The smallest number of pods of that member with which the others cannot be placed."""
    low, high = 1, counts[at]
    while low < high:
        middle = (low + high) // 2
        if await _fails(group, [*counts[:at], middle, *counts[at + 1 :]]):
            high = middle
        else:
            low = middle + 1
    return high


async def _fewest_clauses(group: Group, counts: Sequence[int], clauses: Sequence[Clause]) -> tuple[Clause, ...]:
    """A smallest set of clauses that these pods cannot keep: an irreducible one, or a smaller one."""
    chosen = list(clauses)
    for clause in reversed(clauses):
        if not group.in_time:
            break
        left = [other for other in chosen if other != clause]
        if await _fails(group, counts, frozenset(clauses).difference(left)):
            chosen = left
    smaller = itertools.chain.from_iterable(itertools.combinations(clauses, size) for size in range(1, len(chosen)))
    for choice in itertools.islice(smaller, TRIES):
        if await _fails(group, counts, frozenset(clauses).difference(choice)):
            return choice
    return tuple(chosen)


async def _pools(group: Group) -> tuple[Name, ...]:
    """A smallest set of HostPools that cannot all have their hosts."""
    sizes = {(pool.namespace, pool.name): pool.size or 0 for pool in group.pools}
    chosen = [*sizes]
    for name in reversed([*sizes]):
        without = [other for other in chosen if other != name]
        smaller = {other: -size for other, size in sizes.items() if other not in without}
        answer = await group.place((0,) * len(group.members), Change(larger=smaller))
        if answer.placed is None and answer.decided:
            chosen = without
    return tuple(chosen)
