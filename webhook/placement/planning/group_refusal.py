"""The text of the refusal of a group: what cannot hold together, how many pods fit, why, and the nearest fix.

Each fix is tried before it is named: with it, all pods of the group have a place. The text names no node, pod or
namespace that the request does not name (``docs/refusals.md``).
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from webhook.placement.constraints.constraint import ADD_NODE
from webhook.placement.constraints.resources import PODS, SAID, amount, ordered
from webhook.placement.decision.cluster_change import joinable, opening_change
from webhook.placement.decision.refusal import cannot_hold, within_limit
from webhook.placement.decision.remedy import CLAUSE_LIMIT, REASON_LIMIT
from webhook.placement.kube.bits import from_mask, slots, union
from webhook.placement.planning.conflict import GroupConflict, smallest
from webhook.placement.planning.group import MOST, Change, Group
from webhook.placement.planning.members import Member, requests_of
from webhook.placement.text.problem import Fault, counted, enumerated, shorten

_NAMED: Final = 3
"""Elements that the first line names."""

_MORE: Final = 3
"""So many nodes or hosts are tried as a fix, and as many as there are pods that do not fit."""


class GroupRefusal(Struct, frozen=True):
    """The ``text``, and its parts: clauses and names of elements in the conflict, the fix, and whose fault it is."""

    text: str
    clauses: tuple[str, ...]
    names: tuple[str, ...]
    fix: str
    fault: Fault

    @property
    def headline(self) -> str:
        """The first line of ``text``, which can be shown alone."""
        return self.text.partition("\n")[0]


async def refuse_group(group: Group, short: Sequence[int], noun: str) -> GroupRefusal:
    """The refusal of a group that cannot be placed; ``noun`` is what its pods are: ``processing element``, ``pod``."""
    conflict = await smallest(group, short)
    if conflict.pools:
        return await _refuse_pools(group, conflict)
    alike = _alike(group, conflict)
    names = _names(group, alike)
    total = sum(alike)
    fit = await _fitting(group, alike, beside=False)
    fits = f"{fit} of {counted(total, noun)} {'fits' if fit == 1 else 'fit'}"
    first = f"{_start(conflict, noun)}: {fits}{_who(names)}."
    lines = [f"  {shorten(line, REASON_LIMIT)}" for line in _reasons(group, conflict)]
    options = [*await _first(_cluster_changes(group, conflict, total - fit)), *await _first(_drops(group, conflict))]
    left = await _fitting(group, alike, beside=True)
    if 0 < left < total:
        options.append(f"run {left} of these {total}")
    fix = ", or ".join(options) or "none by a single change"
    text = within_limit(first, lines, f"Nearest fix: {fix}.")
    return GroupRefusal(text, conflict.clauses, names, fix, await _fault(group))


def _start(conflict: GroupConflict, noun: str) -> str:
    return cannot_hold(conflict.clauses) if conflict.clauses else f"The {noun}s cannot all run"


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
    """How many of these pods fit, the first ones first; ``beside`` all other pods of the group, or alone."""
    low, high = 0, sum(alike) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if (await group.place(_first_pods(group, alike, middle, beside=beside))).placed is not None:
            low = middle
        else:
            high = middle - 1
    if low == 0 and (await group.place(_first_pods(group, alike, 0, beside=beside))).placed is None:
        return -1 if beside else 0
    return low


def _first_pods(group: Group, alike: Sequence[int], most: int, *, beside: bool) -> tuple[int, ...]:
    found: list[int] = []
    for at, count in enumerate(alike):
        taken = min(count, most) if count else (group.counts[at] if beside else 0)
        most -= taken if count else 0
        found.append(taken)
    return tuple(found)


def _reasons(group: Group, conflict: GroupConflict) -> list[str]:
    """Why nodes are out for the member of the conflict to which fewest nodes are open; what is free counts, too."""
    members = [member for at, member in enumerate(group.members) if conflict.counts[at]]
    scarce = min(members, key=lambda member: member.open().bit_count())
    found = [str(reason) for reason in scarce.verdict.reasons(group.world)]
    left = scarce.verdict.candidates & scarce.open()
    needs = requests_of(scarce.conditions)
    for resource in ordered(needs):
        lacking = left & ~_roomy(group, resource, needs[resource])
        left &= ~lacking
        if lacking:
            what = f"less than {resource} {amount(resource, needs[resource])} free"
            if resource == PODS:
                what = "no place for one more pod"
            found.append(
                f"{counted(lacking.bit_count(), 'node')} {'has' if lacking.bit_count() == 1 else 'have'} {what}"
            )
    return sorted(found, key=lambda line: -int(line.split(" ", 1)[0]))


def _roomy(group: Group, resource: str, needed: int) -> int:
    mask = np.zeros(group.world.everything.bit_length(), np.bool_)
    mask[[*slots(group.world.everything)]] = group.free(resource) >= needed
    return from_mask(mask)


async def _first(options: AsyncIterator[str]) -> list[str]:
    async for found in options:
        return [found]
    return []


async def _works(group: Group, change: Change) -> bool:
    return (await group.place(None, change)).placed is not None


async def _cluster_changes(group: Group, conflict: GroupConflict, missing: int) -> AsyncIterator[str]:
    """Changes of the cluster, or of the Job's pools, with which all pods fit."""
    members = [member for at, member in enumerate(group.members) if conflict.counts[at]]
    for clause in conflict.clauses:
        async for text in _opened(group, clause, members, missing):
            yield text
    for pool in group.pools:
        name = pool.namespace, pool.name
        if any(found.host and found.host[0] == name and found.clause in conflict.clauses
               for member in members for found in member.conditions):  # fmt: skip
            for more in _numbers(missing):
                if await _works(group, Change(larger={name: more})):
                    yield f"give HostPool {pool.spl_name} {counted((pool.size or 0) + more, 'host')}"
                    break
    constraints = [[found.constraint for found in member.conditions if found.host is None] for member in members]
    if all(joinable(found, member.ask) for found, member in zip(constraints, members, strict=True)):
        room = _largest(members)
        for more in _numbers(missing):
            if await _works(group, Change(added=more, room=room)):
                asked = [resource for resource in ordered(room) if resource != PODS]
                what = enumerated(asked, SAID, lambda one: f"{one} {amount(one, room[one])}")
                with_room = f" with {what} free" if asked else ""
                yield f"add {'a node' if more == 1 else f'{more} nodes'}{with_room}"
                break


def _numbers(missing: int) -> list[int]:
    """How many nodes or hosts are tried, ascending."""
    return sorted({*range(1, _MORE + 1), missing})


async def _opened(group: Group, clause: str, members: Sequence[Member], missing: int) -> AsyncIterator[str]:
    """The change of labels that opens one more node to a clause, or several nodes, if that is enough."""
    for member in members:
        constraints = [found.constraint for found in member.conditions]
        for at, found in enumerate(member.conditions):
            closed = member.open({clause}) & ~found.nodes
            if found.clause != clause or not closed:
                continue
            text = opening_change(constraints, at, closed, member.ask, group.world)
            if not text or text.startswith(ADD_NODE):
                continue
            roomy = sorted(slots(closed), key=lambda slot: -_room_of(group, slot))
            for more in (number for number in _numbers(missing) if number <= len(roomy)):
                if await _works(group, Change(opened={clause: union(1 << slot for slot in roomy[:more])})):
                    yield text if more == 1 else f"{text} ({more} more nodes are needed in all)"
                    return


def _room_of(group: Group, slot: int) -> int:
    """What is free on the node of cpu and memory, in a number that orders nodes."""
    at = (group.world.everything & ((1 << slot) - 1)).bit_count()
    return min((int(group.free(resource)[at]) for resource in ("cpu", "memory") if group.requests(resource)), default=0)


def _largest(members: Sequence[Member]) -> Mapping[str, int]:
    """Room that is enough for any of the members on one node."""
    found: dict[str, int] = {}
    for member in members:
        times = member.count if any(one.together for one in member.conditions) else 1
        for resource, value in requests_of(member.conditions).items():
            found[resource] = max(found.get(resource, 0), value * times)
    return found


async def _drops(group: Group, conflict: GroupConflict) -> AsyncIterator[str]:
    """The clause of the conflict without which all pods fit."""
    verbs = {found.clause: found.constraint.verb for member in group.members for found in member.conditions}
    for clause in conflict.clauses:
        if await _works(group, Change(frozenset((clause,)))):
            yield f"{verbs[clause]} {shorten(clause, CLAUSE_LIMIT)} (all {sum(group.counts)} would fit)"


async def _fault(group: Group) -> Fault:
    """INVALID if no cluster could run the group: not even with as many nodes of any size as there are pods."""
    resources = {resource for member in group.members for found in member.conditions for resource in found.requests}
    huge = Change(added=sum(group.counts), room=dict.fromkeys(resources, MOST))
    answer = await group.place(None, huge)
    return Fault.INVALID if answer.placed is None and answer.decided else Fault.FORBIDDEN


async def _refuse_pools(group: Group, conflict: GroupConflict) -> GroupRefusal:
    """The refusal of a Job whose HostPools cannot all have their hosts."""
    pools = [pool for pool in group.pools if (pool.namespace, pool.name) in conflict.pools]
    said = [f"HostPool {pool.spl_name} ({counted(pool.size or 0, 'host')}, {pool.mode})" for pool in pools]
    able = union(group.eligible(pool) for pool in pools).bit_count()
    all_of = "cannot have its hosts" if len(said) == 1 else "cannot all have their hosts"
    listed = said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"
    first = f"{listed} {all_of}: {counted(able, 'node')} {'is' if able == 1 else 'are'} eligible."
    options = []
    none = (0,) * len(group.members)
    for pool in pools:
        for fewer in range(1, pool.size or 0):
            if (await group.place(none, Change(larger={(pool.namespace, pool.name): -fewer}))).placed is not None:
                options.append(f"lower the size of HostPool {pool.spl_name} to {(pool.size or 0) - fewer}")
                break
    fix = ", or ".join(options[:2]) or "make more nodes eligible"
    return GroupRefusal(within_limit(first, [], f"Nearest fix: {fix}."), tuple(said), (), fix, Fault.FORBIDDEN)
