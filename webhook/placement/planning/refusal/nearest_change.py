"""Single changes with which all pods of a group would have a place: of the cluster, of HostPools, of the request.

Each change is tried before it is named. What is imagined of a change is what surely holds: a node that is added is like
one there is, and a node that is labelled serves no pod that asks for another value of the label.
"""

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from webhook.placement.decision.refusal.cluster_change import (
    all_needs,
    joinable,
    labels_of_new,
    needs_of_new,
    opening_change,
)
from webhook.placement.decision.refusal.conflict import answered_in_turn, least_up_to
from webhook.placement.decision.refusal.lowered_requests import Lowerable
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.amounts import PODS, SAID, Tally, amount, ordered
from webhook.placement.kube.bits import slots, union
from webhook.placement.kube.pod import Requirement
from webhook.placement.kube.selection.selector import holds, requirements_of
from webhook.placement.objects.pool import Pool
from webhook.placement.objects.pool_labels import labels_of, labels_set
from webhook.placement.planning.change import Change
from webhook.placement.planning.group import Group
from webhook.placement.planning.members import Member
from webhook.placement.planning.refusal.conflict import GroupConflict
from webhook.placement.text.clause import Clause
from webhook.placement.text.fix import AddNode, Drop, EnlargePool, Fix, LabelNode, ShrinkPool
from webhook.placement.text.keys import HOSTNAME
from webhook.placement.text.problem import enumerated

_FEW: Final = 3
"""Maximum number of kinds of new nodes, and of nodes to label, that are tried."""

_MANY: Final = 64
"""Kinds of nodes that are told apart."""

_PODS: Final = 110
"""Pods that a new node can run, unless its kubelet is told otherwise."""


async def cluster_changes(group: Group, conflict: GroupConflict, missing: int) -> AsyncIterator[Fix]:
    """Changes of the cluster, or of the Job's pools, with which all pods fit; ``missing`` pods are known not to fit."""
    members = conflict.members(group)
    for clause in conflict.clauses if group.in_time else ():
        if fix := await _labelled(group, clause, members, missing):
            yield fix
    async for fix in _larger(group, conflict, missing):
        yield fix
    for concerned in (members, group.members):
        # If nodes for the pods of the conflict are not enough, nodes for all pods may be.
        async for fix in _added(group, concerned, missing):
            yield fix


async def drops(group: Group, conflict: GroupConflict) -> AsyncIterator[Fix]:
    """The clauses of the conflict without any one of which all pods fit; last those of which nothing may be left."""
    verbs, to_nothing = verbs_of(group), []
    count = sum(group.counts)
    gain = f"{'it' if count == 1 else f'all {count}'} would fit"
    for clause in conflict.clauses if group.in_time else ():
        lowerable = lowerable_of(group, clause)
        if lowerable is None:
            if await works(group, Change(frozenset((clause,)))):
                yield Drop.of((clause,), verbs, gain)
        elif amounts := await lowered_for_group(group, lowerable):
            drop = lowerable.fix((clause,), verbs, gain, amounts)
            if any(amounts.values()):
                yield drop
            else:
                to_nothing.append(drop)
    for drop in to_nothing:
        yield drop


def lowerable_of(group: Group, clause: Clause) -> Lowerable | None:
    """What can be lowered of the clause; ``None`` if it can only be dropped."""
    demands = ((one, demand) for one in group.members for demand in one.conditions if demand.clause == clause)
    member, demand = next(demands)
    lowerable = Lowerable.of(demand.constraint, member.ask)
    # A clause of equal elements names all of them; that of the constraint names the first.
    return lowerable and replace(lowerable, clause=clause)


async def lowered_for_group(group: Group, lowerable: Lowerable) -> Tally | None:
    """The largest amounts with which all pods fit; ``None`` if even the least are too much."""
    # Beside pods that request other amounts, the largest amount need not be a share of what is free on a node.
    offered = {
        one: lowerable.steps(one, group.free(one).tolist(), sum(group.counts), every=True)
        for one in lowerable.requested
    }

    async def fails(amounts: Tally) -> bool:
        return not await works(group, Change(lowered={lowerable.clause: amounts}))

    return await answered_in_turn(lowerable.largest(offered), fails)


def verbs_of(group: Group) -> dict[Clause, str]:
    """What can be done with each clause of the group: ``drop`` or ``lower``."""
    conditions = (demand for member in group.members for demand in member.conditions)
    return {demand.clause: demand.constraint.verb for demand in conditions if demand.clause}


async def smaller_pools(
    group: Group, names: Collection[Name], beside: Mapping[Name, int] = {}
) -> AsyncIterator[tuple[Name, ShrinkPool]]:
    """The largest size of each of these HostPools with which everything has a place, with the name of the pool.

    ``beside`` is by how much other pools grow.
    """
    for pool in group.pools:
        name, size = (pool.namespace, pool.name), pool.size or 0

        def smaller(fewer: int, name: Name = name) -> Change:
            return Change(larger={**beside, name: -fewer})

        fewer = await _least(group, size - 1, smaller) if name in names else 0
        if fewer:
            yield name, ShrinkPool(pool.spl_name, size - fewer)


async def works(group: Group, change: Change) -> bool:
    """Whether all pods of the group have a place with the change."""
    return (await group.place(None, change)).placed is not None


async def _least(group: Group, most: int, change: Callable[[int], Change]) -> int:
    """A number up to ``most`` with which the change works although it does not with one less; 0 if none is found."""

    async def enough(number: int) -> bool:
        return await works(group, change(number))

    return await answered_in_turn(least_up_to(most), enough)


async def _labelled(group: Group, clause: Clause, members: Sequence[Member], missing: int) -> Fix | None:
    """The labels that open one more node to a clause, or several nodes, if that is enough; ``None`` if it is not."""
    for member in members:
        constraints = [demand.constraint for demand in member.conditions]
        for at, demand in enumerate(member.conditions):
            closed = member.open({clause}) & ~demand.nodes
            if demand.clause != clause or demand.host is not None or not closed:
                continue
            fix = opening_change(constraints, at, closed, member.ask, group.world)
            keys = labels_set(demand.constraint.needs).keys()
            others = _serving_others(group, clause, keys)
            if not isinstance(fix, LabelNode) or others is None:
                continue
            roomy = sorted(slots(closed), key=lambda slot: -_room_of(group, slot))

            def opening(more: int, first: int = 0, others: frozenset[int] = others, roomy: list[int] = roomy) -> Change:
                opened = union(1 << slot for slot in roomy[first : first + more])
                return Change(opening=clause, opened=opened, closed=others)

            tried = min(_FEW, len(roomy))
            helping = sum([await works(group, opening(1, first)) for first in range(tried)])
            if helping:
                return replace(fix, help=helping, at_least=fix.at_least or tried < len(roomy))
            more = 0 if fix.host_of else await _least(group, min(missing, len(roomy)), opening)
            if more:
                return replace(fix, more=more, help=more, at_least=more < len(roomy))
    return None


def _serving_others(group: Group, clause: Clause, keys: Collection[str]) -> frozenset[int] | None:
    """The members that ask for labels of these keys by more than the clause; ``None`` if too much depends on them."""
    positions = set()
    for at, member in enumerate(group.members):
        constraints = [one.constraint for one in member.conditions if one.clause != clause]
        if any(one.topology for one in constraints):
            return None
        if any(need.key in keys for need in all_needs(constraints, member.ask)):
            positions.add(at)
    return frozenset(positions)


async def _larger(group: Group, conflict: GroupConflict, missing: int) -> AsyncIterator[Fix]:
    """More hosts for a HostPool that a clause of the conflict names."""
    for pool in group.pools:
        name = pool.namespace, pool.name
        needed = {demand.clause for member in conflict.members(group) for demand in member.conditions
                  if demand.host and demand.host[0] == name}  # fmt: skip
        if needed.isdisjoint(conflict.clauses):
            continue

        def larger(more: int, name: Name = name) -> Change:
            return Change(larger={name: more})

        more = await _least(group, max(missing, _FEW), larger)
        if more:
            yield EnlargePool(pool.spl_name, (pool.size or 0) + more)


async def _added(group: Group, members: Sequence[Member], missing: int) -> AsyncIterator[Fix]:
    """More nodes, each with room for any of the sets of pods of the conflict that share a node."""
    if not group.in_time:
        return
    joining = frozenset(at for at, member in enumerate(group.members) if _joinable(member))
    if not any(group.members[at] in members for at in joining):
        return
    room = await _room(group, members)
    nearest, most = 0, max(missing, _FEW)
    best: Mapping[str, str | None] = {}
    for like in _kinds(group, members, joining):
        there = [at for at in joining if group.members[at] in members and group.members[at].open_new() >> like & 1]
        labels = labels_of_new(need for at in there for need in _needs(group.members[at]))
        if labels is None:
            continue
        change = Change(
            like=like,
            joining=frozenset(at for at in joining if _met(_needs(group.members[at]), labels)),
            hosting=frozenset((pool.namespace, pool.name) for pool in group.pools if _hosted(pool, labels, group)),
            room=room,
        )

        def added(more: int, change: Change = change) -> Change:
            return replace(change, added=more)

        fewest = await _least(group, most, added)
        nearest, most, best = (fewest, fewest - 1, labels) if fewest else (nearest, most, best)
    if nearest:
        asked = [_amount(group, one, room[one]) for one in ordered(room) if one != PODS]
        if group.counted.keys().isdisjoint(room) and any(part.specs for one in members for part in one.ask.devices):
            asked.append("the devices of its claims")
        what = enumerated(asked, SAID)
        yield AddNode(count=nearest, labels=best, having=f"{what} free" if asked else "")


def _amount(group: Group, resource: str, number: int) -> str:
    """An amount of a resource, or a number of devices, in words."""
    devices = group.counted.get(resource)
    return devices.some(number) if devices else f"{resource} {amount(resource, number)}"


def _needs(member: Member) -> list[Requirement]:
    """All requirements of the member on labels of its node."""
    return [*needs_of_new([demand.constraint for demand in member.conditions], member.ask)]


def _met(needs: Iterable[Requirement], labels: Mapping[str, str | None]) -> bool:
    """Whether a new node with only these labels, and a host name of its own, meets the requirements."""
    return all(need.key == HOSTNAME or holds(need, _value(labels, need.key)) for need in needs)


def _hosted(pool: Pool, labels: Mapping[str, str | None], group: Group) -> bool:
    """Whether a new node with only these labels is eligible for the pool."""
    return not pool.devices and _met((*labels_of(pool), *requirements_of(group.world.policy.poolable)), labels)


def _value(labels: Mapping[str, str | None], key: str) -> str | None:
    """The value of the label, ``true`` for one that may have any, ``None`` for one that the node does not have."""
    return labels[key] or "true" if key in labels else None


def _joinable(member: Member) -> bool:
    """Whether a node that is added can run pods of the member, and that is all that the node changes for it."""
    constraints = [demand.constraint for demand in member.conditions if demand.host is None]
    free = joinable(constraints, member.ask) and not any(demand.limit for demand in member.conditions)
    return free and not member.stays


def _kinds(group: Group, members: Sequence[Member], joining: Collection[int]) -> list[int]:
    """Nodes that a new one could be like: one of each kind that is open to one of these members.

    Nodes of one kind are open to the same members, and eligible for the same HostPools. Those that are open to most
    members come first.
    """
    able = {at: group.members[at].open_new() for at in joining}
    kinds = [union(able[at] for at in joining if group.members[at] in members)]
    for nodes in dict.fromkeys([*able.values(), *map(group.eligible, group.pools)]):
        kinds = [part for kind in kinds for part in (kind & nodes, kind & ~nodes) if part][:_MANY]
    first = [next(slots(kind)) for kind in kinds]
    return sorted(first, key=lambda slot: -sum(nodes >> slot & 1 for nodes in able.values()))[:_FEW]


async def _room(group: Group, members: Sequence[Member]) -> Mapping[str, int]:
    """Room that is enough for any set of pods of these members that share a node."""
    amounts: dict[str, int] = {}
    blocks, _ = await group.blocks([member.count if member in members else 0 for member in group.members])
    for block in blocks:
        for resource, value in zip(group.resources, block.requests, strict=True):
            amounts[resource] = max(amounts.get(resource, 0), value)
    # A new node runs more pods than one, whatever it has for them.
    return {resource: value for resource, value in amounts.items() if value} | {PODS: min(sum(group.counts), _PODS)}


def _room_of(group: Group, slot: int) -> int:
    """What is free on the node of cpu and memory, in a number that orders nodes."""
    at = (group.world.everything & ((1 << slot) - 1)).bit_count()
    return min((int(group.free(one)[at]) for one in ("cpu", "memory") if one in group.resources), default=0)
