"""A smallest set of pods and clauses of a group that cannot hold together: without any of them the rest could.

Pods without a clause ``host(P)`` may stay on the hosts of an exclusive pool P here, so that fewer clauses never make it
harder to place them.
A question that is not answered in time counts as if the answer were yes, so the set may then be larger than needed.
"""

import itertools
from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.decision.refusal.conflict import answered_in_turn, irreducible, least, smallest_failing
from webhook.placement.inventory.pool_index import Name
from webhook.placement.planning.change import Change
from webhook.placement.planning.group import Group
from webhook.placement.planning.members import Member
from webhook.placement.planning.search.bounds import impossible
from webhook.placement.planning.search.solver import taken
from webhook.placement.text.clause import Clause

TRIES: Final = 100
"""Maximum number of sets of clauses tried for a smaller one than the first that was found."""

_CLAUSES: Final = 16
"""Maximum number of clauses whose sets are searched; beyond it, only sets among the clauses of the fewest pods."""

_MORE_TRIES: Final = 400
"""Maximum number of tried sets among the clauses of all pods: as many as four of ten clauses make."""

_POOL_SETS: Final = 3
"""Maximum number of sets of HostPools that only together want too many hosts: further sets want the same nodes."""


WELCOME: Final = Change(welcome=True)
"""Pods may stay on exclusive hosts without their clauses."""


class GroupConflict(Struct, frozen=True, eq=False):
    """``counts`` is how many pods of each member are in the set, ``clauses`` are their clauses that are in it.

    ``pools`` are smallest sets of HostPools that cannot all have their hosts, none of them in two sets; with such sets
    no pods and clauses are needed for the conflict.
    """

    counts: tuple[int, ...]
    clauses: tuple[Clause, ...] = ()
    pools: tuple[tuple[Name, ...], ...] = ()

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

    async def fails(kept: Sequence[Clause]) -> bool | None:
        return await _fails(group, counts, Change(frozenset(clauses).difference(kept), welcome=True))

    chosen = tuple(await answered_in_turn(smallest_failing(clauses, TRIES), fails))
    fewer = await _fewer_clauses(group, len(chosen))
    return fewer or GroupConflict(counts, chosen)


async def _fewer_clauses(group: Group, size: int) -> GroupConflict | None:
    """A conflict of fewer clauses than ``size``: more pods can have it than the fewest that do not fit."""
    every = dict.fromkeys(clause for member in group.members for clause in member.clauses)
    if len(every) > _CLAUSES:
        return None
    smaller = itertools.chain.from_iterable(itertools.combinations(every, fewer) for fewer in range(size))
    for choice in itertools.islice(smaller, _MORE_TRIES):
        change = Change(frozenset(every).difference(choice), welcome=True)
        if await _fails(group, group.counts, change):
            return GroupConflict(await _fewest_pods(group, (), change), choice)
    return None


async def _fails(group: Group, counts: Sequence[int], change: Change = WELCOME) -> bool | None:
    """Whether it is certain that so many pods cannot be placed; ``None`` if time is over."""
    if not group.in_time:
        return None
    answer = await group.place(counts, change)
    return answer.placed is None and answer.decided


async def _fewest_pods(group: Group, short: Sequence[int], change: Change = WELCOME) -> tuple[int, ...]:
    """How many pods of each member are enough: members are left out, first many at once, then pods."""
    some = [at for at, count in enumerate(group.counts) if count and (not short or at in short)]
    if short and not group.small:
        some = await _disproved(group, some, change) or some

    async def without(kept: Sequence[int]) -> bool | None:
        return await _fails(group, [count if at in kept else 0 for at, count in enumerate(group.counts)], change)

    # The first members are left out first.
    chosen = await answered_in_turn(irreducible(some[::-1], max(1, len(some) // 2)), without)
    counts = [count if at in chosen else 0 for at, count in enumerate(group.counts)]
    for at in sorted(chosen):

        async def fewer(count: int, at: int = at) -> bool | None:
            return await _fails(group, [*counts[:at], count, *counts[at + 1 :]], change)

        counts[at] = await answered_in_turn(least(1, counts[at]), fewer)
    return tuple(counts)


async def _disproved(group: Group, some: Sequence[int], change: Change) -> list[int]:
    """The fewest of some members that counts prove not to fit; none if they prove nothing.

    That takes no search, so a large group is searched only for still fewer.
    """
    problem, owners, _ = await group.problem(
        [count if at in some else 0 for at, count in enumerate(group.counts)], change
    )

    async def fails(kept: Sequence[int]) -> bool:
        less = replace(problem, blocks=tuple(problem.blocks[at] for at in kept))
        return bool(await taken(impossible(less), group.solving))

    every = range(len(problem.blocks))[::-1]
    proved = every if await fails(every) else ()
    chosen = await answered_in_turn(irreducible(proved, max(1, len(proved) // 2)), fails)
    return sorted({member for at in chosen for pods in owners[at] for member, _ in pods})


async def _pools(group: Group) -> tuple[tuple[Name, ...], ...]:
    """Smallest sets of HostPools that cannot all have their hosts, none of them in two sets.

    First come those that cannot even have their own, all of them, and then at most ``_POOL_SETS`` larger sets. If time
    is over before anything is known, all pools are one set.
    """
    sizes = {(pool.namespace, pool.name): pool.size or 0 for pool in group.pools}

    async def fails(kept: Sequence[Name]) -> bool | None:
        left_out = {name: -size for name, size in sizes.items() if name not in kept}
        return await _fails(group, (0,) * len(group.members), Change(larger=left_out))

    sets: list[tuple[Name, ...]] = [(name,) for name in sizes if await fails((name,))]
    most = len(sets) + _POOL_SETS
    others = [name for name in sizes if (name,) not in sets]
    while len(sets) < most and await fails(others):
        sets.append(tuple(await answered_in_turn(irreducible(others, max(1, len(others) // 2)), fails)))
        others = [name for name in others if name not in sets[-1]]
    return tuple(sets) or (tuple(sizes),)
