"""Devices of pods of different templates on one node, which have to be there for all of them (``docs/devices.md``).

The search for a plan counts the devices of each template by itself. Here a plan is looked at as a whole, and made anew
with pods on other nodes that lack devices together. Nothing is refused for it.
"""

import bisect
import itertools
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from webhook.placement.constraints.constraint import StandingConstraint
from webhook.placement.devices.claims import ClaimSpec, HeldDevice
from webhook.placement.devices.selector import DeviceBudget
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.selection.selector import matching_any
from webhook.placement.planning.group import Group, Placed
from webhook.placement.planning.members import Demand, Member
from webhook.placement.planning.optional_hardware import PROBE
from webhook.placement.planning.search.solver import Brief
from webhook.placement.request.claimed_devices import WantedDevices
from webhook.placement.request.world import World
from webhook.placement.text.clause import Clause

_TRIES: Final = 32
"""So many plans are looked at."""

_LARGE: Final = 16
"""Of so many members on one node no smaller crowd is looked for, which takes a question for each."""


class Crowd(NamedTuple):
    """Positions of members that have pods on the node in that slot, which is not known to have devices for all of them.

    Without one of them it is. Of a large crowd that is not looked for: without those in ``beyond`` it is.
    """

    slot: int
    members: tuple[int, ...]
    beyond: tuple[int, ...] = ()


async def with_devices(group: Group, placed: Placed) -> tuple[Group, Placed]:
    """The group and a plan of it by which all pods have devices, if one is found soon; else what was given.

    Any such plan has a member of each crowd elsewhere. So each of them is kept from the node in turn; of a large crowd
    all at once that are too many.
    """
    left: list[Mapping[int, Bits]] = [{}]
    tried: set[frozenset[tuple[int, Bits]]] = set()
    while left and len(tried) < _TRIES:
        kept = left.pop()
        if frozenset(kept.items()) in tried:
            continue
        tried.add(frozenset(kept.items()))
        other, found = group, placed
        if kept:
            members = _kept_away(group.stated, kept, group.world)
            answer = await group.with_members(members, Brief(group.solving, PROBE)).place()
            if answer.placed is None:
                continue
            other, found = group.with_members(members), answer.placed
        crowds = await _crowds(other, found)
        if not crowds:
            return other, found
        slot, crowd, beyond = crowds[0]
        left += ({**kept, at: kept.get(at, 0) | 1 << slot} for at in crowd)
        if beyond:
            left.append({**kept, **{at: kept.get(at, 0) | 1 << slot for at in beyond}})
    return group, placed


async def without_devices(group: Group, placed: Placed) -> list[str]:
    """The first names of members whose pods are on nodes that are not known to have devices for all of them."""
    found = {at for crowd in await _crowds(group, placed) for at in crowd.members}
    return [group.members[at].names[0] for at in sorted(found)]


async def _crowds(group: Group, placed: Placed) -> list[Crowd]:
    wanting = [at for at, member in enumerate(group.members) if any(part.specs for part in member.ask.devices)]
    if len(wanting) < 2:  # noqa: PLR2004 -- the devices of one template are counted by the search
        return []
    pods: dict[int, dict[int, int]] = {}
    for at in wanting:
        for slot in placed.slots[at]:
            there = pods.setdefault(slot, {})
            there[at] = there.get(at, 0) + 1
    found, budget = [], DeviceBudget()
    for slot, there in pods.items():
        if len(there) > 1:
            await group.solving.rest()
            if not _enough(group, there, slot, budget):
                few = len(there) < _LARGE
                crowd = _smallest(group, there, slot, budget) if few else tuple(there)
                found.append(Crowd(slot, crowd, () if few else _beyond(group, there, slot, budget)))
    return found


def _smallest(group: Group, there: Mapping[int, int], slot: int, budget: DeviceBudget) -> tuple[int, ...]:
    """The members without which there would be enough devices: each of them that is left out makes it so."""
    left = dict(there)
    for at in there:
        fewer = {other: count for other, count in left.items() if other != at}
        if len(fewer) > 1 and not _enough(group, fewer, slot, budget):
            left = fewer
    return tuple(left)


def _beyond(group: Group, there: Mapping[int, int], slot: int, budget: DeviceBudget) -> tuple[int, ...]:
    """The last members, beside the first ones for which the node has enough devices."""

    def too_many(first: int) -> bool:
        return not _enough(group, dict(itertools.islice(there.items(), first)), slot, budget)

    enough = bisect.bisect_left(range(2, len(there)), 1, key=too_many) + 1
    return tuple(there)[enough:]


def _enough(group: Group, there: Mapping[int, int], slot: int, budget: DeviceBudget) -> bool:
    """Whether the node is known to have devices for so many pods of each member."""
    inventory = group.world.inventory
    claims, held = _claims(group, there, slot)
    return inventory.device_fits.has(claims, held, slot, inventory.nodes, budget)


def _claims(group: Group, there: Mapping[int, int], slot: int) -> tuple[list[ClaimSpec], list[HeldDevice]]:
    """What so many pods of each member want of the devices of the node, and what they have already."""
    claims: list[ClaimSpec] = []
    held: list[HeldDevice] = []
    shared: set[Clause] = set()
    for at, count in there.items():
        for part in group.members[at].ask.devices:
            alike = part.shared or bool(part.held)
            if alike and part.clause in shared:
                continue
            shared.add(part.clause)
            if _kept(part, slot, group.world):
                held += part.held
            else:
                claims += part.specs * (1 if alike else count)
    return claims, held


def _kept(part: WantedDevices, slot: int, world: World) -> bool:
    """Whether nothing has to be allocated for the part on that node."""
    nodes = world.inventory.nodes
    if part.resource:
        return bool(nodes.capacity.fits({part.resource: 1}) >> slot & 1)
    return not part.specs or (part.loose and bool(matching_any(nodes, part.terms or ()) >> slot & 1))


def _kept_away(members: Sequence[Member], kept: Mapping[int, Bits], world: World) -> list[Member]:
    """The members, some of them kept from nodes."""
    return [
        replace(each, conditions=(*each.conditions, Demand(None, world.everything & ~kept[at], StandingConstraint())))
        if at in kept
        else each
        for at, each in enumerate(members)
    ]
