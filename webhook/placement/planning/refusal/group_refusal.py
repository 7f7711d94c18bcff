"""The text of the refusal of a group: what cannot hold together, how many pods fit, why, and the nearest fix.

Each fix is tried before it is named: with it, all pods of the group have a place. The text names no node, pod or
namespace that the request does not name (``docs/refusals.md``).
"""

import itertools
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from webhook.placement.constraints.constraint import Reason
from webhook.placement.decision.refusal.conflict import answered_in_turn, least
from webhook.placement.decision.refusal.refusal import Refusal, cannot_hold
from webhook.placement.planning.group import Group
from webhook.placement.planning.refusal.conflict import GroupConflict, smallest
from webhook.placement.planning.refusal.contradiction import contradictory
from webhook.placement.planning.refusal.nearest_change import cluster_changes, drops
from webhook.placement.planning.refusal.pool_refusal import pool_refusals, refuse_pools
from webhook.placement.planning.refusal.shortages import crowded, shortages, too_few_devices
from webhook.placement.text.clause import Clause
from webhook.placement.text.fix import Advice, Fix, RunFewer
from webhook.placement.text.problem import CLAUSE_LIMIT, Fault, counted, enumerated, shorten
from webhook.placement.text.rule import Rule

_NAMED: Final = 3
"""Elements that the first line names."""

_SKIPPED: Final = 8
"""At most so many members are left out to see whether later ones fit."""

_SMALL: Final = 20
"""Pods of which larger choices are tried, up to ``_CHOICES`` of each size; of more pods, skipping members must do."""

_CHOICES: Final = 32
"""Maximum number of choices of pods of one size tried; each takes about a millisecond."""

_NONE: Final = Advice("no single change helps")
NO_TIME: Final = Advice("not found in time; explain and plan search longer")


async def refuse_group(group: Group, short: Sequence[int], noun: str) -> Refusal:
    """The refusal of a group that cannot be placed; ``noun`` is what its pods are: ``processing element``, ``pod``."""
    group = group.unhurried()
    conflict = await smallest(group, short)
    if conflict.pools:
        return refuse_pools(await pool_refusals(group, conflict.pools))
    alike = _alike(group, conflict)
    names = _names(group, alike)
    total = sum(alike)
    fit = await _fitting(group, alike, beside=False)
    if not group.in_time:
        # The conflict may be larger than need be, and the number smaller.
        return _refuse_in_haste(group, conflict, noun)
    fits = f"{fit} of {counted(total, noun)} {'fits' if 1 in (fit, total) else 'fit'}"
    said = tuple(map(str, conflict.clauses))
    start = cannot_hold(said) if said else f"The {noun}s cannot all run"
    first = f"{start}: {fits}{_who(names)}."
    fixes = [*await _first(cluster_changes(group, conflict, total - fit)), *await _first(drops(group, conflict))]
    beside_others = await _fitting(group, alike, beside=True)
    if 0 < beside_others < total:
        fixes.append(RunFewer(beside_others, total))
    tried = tuple(fixes) or (_NONE if group.solving.left() > 0 else NO_TIME,)
    fault = Fault.INVALID if await contradictory(group) else Fault.FORBIDDEN
    rules = _rules(group, conflict.clauses)
    return replace(Refusal.of(first, said, fault, rules, tried, _reasons(group, conflict)), names=names)


def _refuse_in_haste(group: Group, conflict: GroupConflict, noun: str) -> Refusal:
    """The refusal of a group about which time was too short to find out more than who cannot run together."""
    names = _names(group, conflict.counts)
    total = sum(conflict.counts)
    who = f"The {noun} cannot run" if total == 1 else f"The {counted(total, noun)} cannot all run at the same time"
    first = f"{who}{_who(names)}."
    clauses = {clause for member in conflict.members(group) for clause in member.clauses}
    reasons = [*crowded(group, conflict.counts, clauses)]
    return replace(Refusal.of(first, (), Fault.FORBIDDEN, (Rule.NODES,), (NO_TIME,), reasons), names=names)


def _rules(group: Group, clauses: Collection[Clause]) -> tuple[str, ...]:
    """The rules of these clauses, each once; ``nodes`` where there is no clause."""
    conditions = (condition for member in group.members for condition in member.conditions)
    rules = dict.fromkeys(condition.constraint.rule for condition in conditions if condition.clause in clauses)
    return tuple(rules) if clauses else (Rule.NODES,)


def _who(names: Sequence[str]) -> str:
    """The names of the elements, in brackets."""
    shown = enumerated(names, _NAMED, lambda name: shorten(name, CLAUSE_LIMIT))
    return f" ({shown})" if names else ""


def _alike(group: Group, conflict: GroupConflict) -> tuple[int, ...]:
    """How many pods of each member are like those of the conflict: they have the same of its clauses."""
    chosen = {*conflict.clauses}
    shapes = {
        frozenset(chosen.intersection(member.clauses)) for at, member in enumerate(group.members) if conflict.counts[at]
    }
    return tuple(
        member.count if conflict.counts[at] or ((own := chosen.intersection(member.clauses)) and own in shapes) else 0
        for at, member in enumerate(group.members)
    )


def _names(group: Group, counts: Sequence[int]) -> tuple[str, ...]:
    return tuple(name for at, member in enumerate(group.members) if counts[at] for name in member.names)


async def _fitting(group: Group, alike: Sequence[int], *, beside: bool) -> int:
    """How many of these pods fit, ``beside`` all other pods of the group, or alone; -1 if not even the others fit.

    None could be added. Of a few pods it is the largest number, as far as ``_CHOICES`` tell.
    """
    others = [0 if count or not beside else group.counts[at] for at, count in enumerate(alike)]
    if (await group.place(others)).placed is None:
        return -1
    counts = others
    open_ = [at for at, count in enumerate(alike) if count]
    total = 0
    for _ in range(_SKIPPED):

        async def too_many(count: int, counts: Sequence[int] = counts, open_: Sequence[int] = open_) -> bool:
            return (await group.place(_with_first(counts, alike, open_, count + 1))).placed is None

        most = await answered_in_turn(least(0, sum(alike[at] for at in open_)), too_many)
        counts = _with_first(counts, alike, open_, most)
        total += most
        # The first member of which not all pods fit is the one that is skipped.
        open_ = open_[next((place + 1 for place, at in enumerate(open_) if counts[at] < alike[at]), len(open_)) :]
    while total < sum(alike) <= _SMALL and await _any_fits(group, alike, others, total + 1):
        total += 1
    return total


async def _any_fits(group: Group, alike: Sequence[int], others: Sequence[int], size: int) -> bool:
    """Whether some choice of so many of these pods fits beside the others."""
    for left_out in itertools.islice(_left_out(alike, sum(alike) - size), _CHOICES):
        counts = [other + count - left_out[at] for at, (other, count) in enumerate(zip(others, alike, strict=True))]
        if (await group.place(counts)).placed is not None:
            return True
    return False


def _left_out(alike: Sequence[int], count: int) -> Iterator[Counter[int]]:
    """Every choice of ``count`` of these pods, as numbers by member."""
    members = [at for at, pods in enumerate(alike) if pods]
    for chosen in itertools.combinations_with_replacement(members, count):
        choice = Counter(chosen)
        if all(choice[at] <= alike[at] for at in choice):
            yield choice


def _with_first(counts: Sequence[int], alike: Sequence[int], open_: Sequence[int], most: int) -> list[int]:
    """These numbers of pods, and the first ``most`` of the members that are ``open_``."""
    lowered = list(counts)
    for at in open_:
        lowered[at] = min(alike[at], most)
        most -= lowered[at]
    return lowered


def _reasons(group: Group, conflict: GroupConflict) -> list[Reason]:
    """Why nodes are out for the member of the conflict to which fewest nodes are open; what is free counts, too."""
    scarce = min(conflict.members(group), key=lambda member: member.open().bit_count())
    able = scarce.verdict.candidates & scarce.open()
    own = group, conflict.counts, conflict.clauses
    reasons = [
        *scarce.verdict.reasons(group.world), *shortages(group, scarce, able), *crowded(*own), *too_few_devices(*own)
    ]  # fmt: skip
    return sorted(reasons, key=lambda reason: -reason.nodes.bit_count())


async def _first(options: AsyncIterator[Fix]) -> list[Fix]:
    async for option in options:
        return [option]
    return []
