"""The refusal of a Job whose HostPools cannot have their hosts: all of them at once, each with its reason and fix.

Pools that only together want too many hosts are told of together (``docs/jobs.md``, "The whole Job").
"""

from collections.abc import Iterator, Sequence
from typing import Final

from webhook.placement.checks.completion import enlarging
from webhook.placement.checks.eligibility import hurdles, ruled_out
from webhook.placement.constraints.constraint import Reason
from webhook.placement.decision.refusal.refusal import Refusal
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.bits import union
from webhook.placement.objects.pool import Pool
from webhook.placement.planning.change import Change
from webhook.placement.planning.group import Group
from webhook.placement.planning.refusal.nearest_change import smaller_pools, works
from webhook.placement.text.fix import Advice, Fix, Partly, ShrinkPool
from webhook.placement.text.problem import Fault, counted, enumerated
from webhook.placement.text.rule import Rule

LISTED: Final = 10
"""Maximum number of refusals with a line. A last line says that there are more, not how many."""

_LINE_LIMIT: Final = 400
"""Characters of a line."""

_NAMED: Final = 3
"""HostPools that a line names."""

_FIXES: Final = 2
"""HostPools of one refusal whose sizes are said."""


async def pool_refusals(group: Group, sets: Sequence[tuple[Name, ...]]) -> tuple[Refusal, ...]:
    """The refusal of each of these sets of HostPools, none of which can all have their hosts.

    For the sets that get no line, no sizes are computed.
    """
    fixes = await _smaller(group, sets[:LISTED], sets[LISTED:])
    more: list[list[Fix]] = [[] for _ in sets[LISTED:]]
    return tuple(_refused(group, names, fix) for names, fix in zip(sets, fixes + more, strict=True))


def refuse_pools(refused: Sequence[Refusal]) -> Refusal:
    """The refusal of a Job for these refusals of its HostPools, of which there is at least one."""
    if len(refused) == 1:
        return refused[0]
    said = tuple(pool for each in refused for pool in each.clauses)
    reasons = f"more than {LISTED}" if len(refused) > LISTED else len(refused)
    first = f"HostPools of the Job cannot have their hosts, for {reasons} reasons:"
    lines = "\n".join((first, *pool_lines(refused)))
    return Refusal(lines, said, Fault.FORBIDDEN, (Rule.POOL,), parts=tuple(refused))


def pool_lines(refused: Sequence[Refusal]) -> list[str]:
    """A line for each of these refusals of HostPools, as far as there is room."""
    more = ["  and for more reasons"] if len(refused) > LISTED else []
    return [*(f"  {each.line(_LINE_LIMIT)}" for each in refused[:LISTED]), *more]


async def _smaller(
    group: Group, sets: Sequence[tuple[Name, ...]], others: Sequence[tuple[Name, ...]]
) -> list[list[Fix]]:
    """For each of the sets, smaller sizes of its HostPools; those of the ``others`` are left out.

    Of several sets the first sizes are tried together, since all of the advice may be followed: if it is not enough for
    the elements, each says so.
    """
    if len(sets) == 1:
        only: list[Fix] = [fix async for _, fix in smaller_pools(group, sets[0])]
        return [only[:_FIXES]]
    bare = group.with_members(())
    sizes = {(pool.namespace, pool.name): pool.size or 0 for pool in group.pools}
    larger = {name: -sizes[name] for names in (*sets, *others) for name in names}
    first: list[ShrinkPool | None] = []
    for names in sets:
        beside = {name: more for name, more in larger.items() if name not in names}
        smaller = [each async for each in smaller_pools(bare, names, beside)]
        if smaller:
            name, fix = smaller[0]
            larger = {**beside, name: fix.size - sizes[name]}
        first.append(smaller[0][1] if smaller else None)
    enough = all(first) and not others and await works(group, Change(larger=larger))
    return [[fix if enough else _partly(fix, fix.pool)] if fix else [] for fix in first]


def _refused(group: Group, names: tuple[Name, ...], smaller: Sequence[Fix]) -> Refusal:
    """The refusal of a set of HostPools, for which these sizes were found."""
    pools = [pool for pool in group.pools if (pool.namespace, pool.name) in names]
    said = tuple(f"HostPool {pool.spl_name} ({counted(pool.size or 0, 'host')}, {pool.mode})" for pool in pools)
    able = union(group.eligible(pool) for pool in pools).bit_count()
    all_of = "cannot have its hosts" if len(said) == 1 else "cannot all have their hosts"
    listed = said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"
    if len(said) > _NAMED:
        listed = enumerated(said, _NAMED)
    first = f"{listed} {all_of}: {counted(able, 'node')} {'is' if able == 1 else 'are'} eligible."
    fixes = [*smaller]
    if len(pools) == 1 and not fixes and able < (pools[0].size or 0):
        fixes.append(_eligible(pools[0], group, able))
    best = tuple(fixes) or (Advice("make more nodes eligible"),)
    return Refusal.of_pools(first, [*_not_eligible(group, pools)], best, said)


def _eligible(pool: Pool, group: Group, able: int) -> Fix:
    """The change that makes nodes eligible for the pool; whether the elements then fit as well is not known."""
    change = enlarging(pool, hurdles(pool, group.world), group.world, able)
    return change if isinstance(change, Partly) else _partly(change, pool.spl_name)


def _partly(fix: Fix, pool: str) -> Partly:
    """The change of which only is known that the pool could have its hosts then."""
    return Partly(fix, f"HostPool {pool} could then have its hosts")


def _not_eligible(group: Group, pools: Sequence[Pool]) -> Iterator[str]:
    """Why nodes cannot be hosts: of one pool plainly, of several pools with the name of each."""
    for pool in pools[:_NAMED]:
        whose = f"HostPool {pool.spl_name}: " if len(pools) > 1 else ""
        for reason in ruled_out(hurdles(pool, group.world), group.world):
            yield f"{whose}{reason}"
        kept = group.kept_from(pool)
        if kept:
            what = "kept for other HostPools or processing elements of the Job"
            yield f"{whose}{Reason(f'is {what}', f'are {what}', kept)}"
