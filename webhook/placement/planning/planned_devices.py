"""Devices of pods of different templates on one node, which have to be there for all of them (``docs/devices.md``).

The search for a plan counts devices. Counts do not show whether the devices have the attributes and partitions that
the pods on a node want together. So each plan is checked as a whole, and made again with the pods that lack devices on
other nodes. If every such plan certainly lacks devices, the group is refused.
"""

import bisect
import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from webhook.placement.constraints.constraint import StandingConstraint
from webhook.placement.devices.published.claims import ClaimSpec, HeldDevice
from webhook.placement.devices.selectors.selector import Answer, DeviceBudget
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.selection.selector import matching_any
from webhook.placement.planning.change import SAME, Change
from webhook.placement.planning.group import Group, GroupAnswer, Placed
from webhook.placement.planning.members import Demand, Member
from webhook.placement.planning.optional_hardware import PROBE
from webhook.placement.planning.search.solver import Brief, Solving
from webhook.placement.request.claimed_devices import WantedDevices
from webhook.placement.request.world import World
from webhook.placement.text.clause import Clause
from webhook.placement.text.problem import enumerated

_TRIES: Final = 32
"""Maximum number of plans that are examined."""

_SAID: Final = 3
"""Members that a warning names."""

_LARGE: Final = 16
"""Number of members on one node from which on no smaller crowd is searched: that takes an evaluation for each."""


class Crowd(NamedTuple):
    """Positions of members that have pods on the node in that slot, which is not known to have devices for all of them.

    Without one of them it is. Of a large crowd that is not looked for: without those in ``beyond`` it is. ``certain``
    tells that no plan has all of these members on the node: each has one pod there, and the node has too little.
    """

    slot: int
    members: tuple[int, ...]
    beyond: tuple[int, ...] = ()
    certain: bool = False


class GroupWithDevices(Group):
    """A group whose plans have devices on each node for all pods there, as far as such plans are found soon."""

    def with_members(self, members: Sequence[Member], solving: Solving | None = None) -> "GroupWithDevices":
        """A group of other members in the same world, with the same pools."""
        return GroupWithDevices(
            members, self.world, self.pools, solving or self.solving, self.restarting, self.excluded
        )

    async def _placed(self, counts: tuple[int, ...], change: Change) -> GroupAnswer:
        answer = await super()._placed(counts, change)
        if answer.placed is None or change.added or _few(self):
            return answer
        return await self._searched(answer.placed, counts, change)

    async def _searched(self, placed: Placed, counts: tuple[int, ...], change: Change) -> GroupAnswer:
        """The plan, or one by which all pods have devices; none if it is certain that there is none.

        Any such plan has a member of each crowd elsewhere. So each of them is kept from the node in turn; of a large
        crowd all at once that are too many. If none is found soon, the plan is what was given.
        """
        certain = True
        pending: list[Mapping[int, Bits]] = [{}]
        tried: set[frozenset[tuple[int, Bits]]] = set()
        while pending:
            kept = pending.pop()
            if frozenset(kept.items()) in tried:
                continue
            if len(tried) == _TRIES or not self.in_time:
                return GroupAnswer(placed)
            tried.add(frozenset(kept.items()))
            best = placed
            if kept:
                members = _kept_away(self.stated, kept, self.world)
                brief = Brief(self.solving, PROBE)
                other = Group(members, self.world, self.pools, brief, self.restarting, self.excluded)
                answer = await other.place(counts, change)
                certain = certain and answer.decided
                if answer.placed is None:
                    continue
                best = answer.placed
            crowds = await _crowds(self, best, change)
            if not crowds:
                return GroupAnswer(best)
            slot, crowd, beyond, sure = next((one for one in crowds if one.certain), crowds[0])
            certain = certain and sure
            pending += ({**kept, at: kept.get(at, 0) | 1 << slot} for at in crowd)
            if beyond:
                pending.append({**kept, **{at: kept.get(at, 0) | 1 << slot for at in beyond}})
        return GroupAnswer(None) if certain else GroupAnswer(placed)


async def doubtful_devices(group: Group, placed: Placed, noun: str) -> tuple[str, ...]:
    """The warning about members whose pods are on nodes that are not known to have devices for all of them.

    ``noun`` is what the pods are: ``processing element``, ``pod``.
    """
    doubtful = {at for crowd in await _crowds(group, placed) for at in crowd.members}
    if doubtful:
        why = "no plan was found in which each node has devices for all that it runs"
        return (f"{_named(group, doubtful)}: {why}: some {noun}s may have to wait",)
    if doubtful := await _late(group, placed):
        why = "each pod is given the first devices that meet its claims, which others on its node may need"
        return (f"{_named(group, doubtful)}: {why}: some {noun}s may have to wait",)
    return ()


def _named(group: Group, members: Collection[int]) -> str:
    return enumerated([group.members[at].names[0] for at in sorted(members)], _SAID)


async def _late(group: Group, placed: Placed) -> set[int]:
    """Members with pods on nodes that have devices for all pods there, which these do not get one after the other."""
    late, budget = set[int](), DeviceBudget()
    parts, there = _by_node(group, placed)
    for slot, pods in there.items():
        if sum(pods.values()) < 2 or budget.exhausted:  # noqa: PLR2004 -- the first pod takes from no other
            continue
        await group.solving.rest()
        if _NodeToFill(group, parts, slot, budget).enough_in_turn(pods) is False:
            late |= pods.keys()
    return late


def _few(group: Group) -> bool:
    """Whether fewer than two members want devices: those of one template are counted by the search."""
    wanting = (member for member in group.members if any(part.specs for part in member.ask.devices))
    return len([*itertools.islice(wanting, 2)]) < 2  # noqa: PLR2004 -- see above


async def _crowds(group: Group, placed: Placed, change: Change = SAME) -> list[Crowd]:
    if _few(group):
        return []
    parts, there = _by_node(group, placed, change)
    crowds, budget = [], DeviceBudget()
    for slot, pods in there.items():
        if len(pods) > 1:
            await group.solving.rest()
            node = _NodeToFill(group, parts, slot, budget)
            if node.enough(pods) is not True:
                crowds.append(node.crowd(pods))
    return crowds


def _by_node(
    group: Group, placed: Placed, change: Change = SAME
) -> tuple[dict[int, list[WantedDevices]], dict[int, dict[int, int]]]:
    """What members want of devices, and by slot how many pods of each of these are there."""
    there: dict[int, dict[int, int]] = {}
    parts = {at: own for at, member in enumerate(group.members) if (own := _parts(member, change.dropped))}
    for at in parts:
        for slot in placed.slots[at]:
            pods = there.setdefault(slot, {})
            pods[at] = pods.get(at, 0) + 1
    return parts, there


def _parts(member: Member, dropped: Collection[Clause]) -> list[WantedDevices]:
    """What of the member wants devices, without the ``dropped`` clauses."""
    gone = {name for clause in dropped for name in clause.parts}
    parts = member.ask.devices
    kept = [part for part in parts if gone.isdisjoint(part.clause.parts)] if gone and parts else parts
    return [*kept] if any(part.specs for part in kept) else []


class _NodeToFill:
    """A node of a plan, and the members that have pods there."""

    def __init__(
        self, group: Group, parts: Mapping[int, Sequence[WantedDevices]], slot: int, budget: DeviceBudget
    ) -> None:
        self._group = group
        self._parts = parts
        self._slot = slot
        self._budget = budget

    def crowd(self, pods: Mapping[int, int]) -> Crowd:
        """The members of the node that lack devices together."""
        if len(pods) >= _LARGE:
            return Crowd(self._slot, tuple(pods), self._beyond(pods))
        members = self._smallest(pods)
        alone = {at: pods[at] for at in members}
        certain = all(map(self._plain, members)) and {*alone.values()} == {1} and self.enough(alone) is False
        return Crowd(self._slot, members, certain=certain)

    def _plain(self, at: int) -> bool:
        """Whether the member takes at least the same devices whatever other pods there are, and does not run yet."""
        conditions = self._group.members[at].conditions
        new = all(condition.clause for condition in conditions if condition.constraint.devices)
        choices = (
            choice
            for part in self._parts[at]
            for spec in part.specs
            for request in spec.requests
            for choice in request.choices
        )
        return (
            new and not any(choice.all or choice.admin for choice in choices) and not any(map(_shares, self._parts[at]))
        )

    def _smallest(self, pods: Mapping[int, int]) -> tuple[int, ...]:
        """The members without which there would be enough devices: each of them that is left out makes it so."""
        needed = dict(pods)
        for at in pods:
            fewer = {other: count for other, count in needed.items() if other != at}
            if len(fewer) > 1 and self.enough(fewer) is not True:
                needed = fewer
        return tuple(needed)

    def _beyond(self, pods: Mapping[int, int]) -> tuple[int, ...]:
        """The last members, beside the first ones for which the node has enough devices."""

        def too_many(first: int) -> bool:
            return self.enough(dict(itertools.islice(pods.items(), first))) is not True

        enough = bisect.bisect_left(range(2, len(pods)), 1, key=too_many) + 1
        return tuple(pods)[enough:]

    def enough(self, pods: Mapping[int, int]) -> Answer:
        """Whether the node has devices for so many pods of each member; ``None`` if that is not known."""
        inventory = self._group.world.inventory
        claims, allocated = self._claims(pods)
        every = [spec for own in claims for spec in own]
        return inventory.device_fits.has(every, allocated, self._slot, inventory.nodes, self._budget)

    def enough_in_turn(self, pods: Mapping[int, int]) -> Answer:
        """Whether the pods get devices one after the other, in this order and in the reverse order."""
        inventory = self._group.world.inventory
        claims, allocated = self._claims(pods)
        ways = (claims, claims[::-1])
        asked = [
            inventory.device_fits.has_in_turn(one, allocated, self._slot, inventory.nodes, self._budget) for one in ways
        ]
        return False if False in asked else None if None in asked else True

    def _claims(self, pods: Mapping[int, int]) -> tuple[list[list[ClaimSpec]], list[HeldDevice]]:
        """What each of so many pods of each member wants of the devices of the node, and what they have already."""
        claims: list[list[ClaimSpec]] = []
        allocated: list[HeldDevice] = []
        shared: set[Clause] = set()
        for at, count in pods.items():
            first: list[ClaimSpec] = []
            each: list[ClaimSpec] = []
            for part in self._parts[at]:
                alike = part.shared or bool(part.allocated)
                if alike and part.clause in shared:
                    continue
                shared.add(part.clause)
                if _kept(part, self._slot, self._group.world):
                    allocated += part.allocated
                elif alike:
                    first += part.specs
                else:
                    each += part.specs
            claims += [[*first, *each], *([each] * (count - 1))]
        return claims, allocated


def _shares(part: WantedDevices) -> bool:
    """Whether the part is of a claim that other pods may use, or that has devices."""
    return part.shared or part.loose or bool(part.allocated)


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
