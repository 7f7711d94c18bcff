"""The new nodes that could be of use to the members of a scaling: of which kinds, how many, and who can run there."""

import itertools
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

from msgspec.structs import replace

from webhook.placement.decision.scale_up import later_world
from webhook.placement.decision.verdict import constraints_of, judge
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.jobs.newnodes.scaled_group import ScaledGroup
from webhook.placement.kube.bits import Bits
from webhook.placement.nodegroups.new_node import Needs, NewNode
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.nodegroups.possible_nodes import PossibleNodes, possible_nodes
from webhook.placement.planning.members import Member, requests_of
from webhook.placement.planning.search.solver import taken
from webhook.placement.request.world import World

NODES: Final = 2_000
"""Maximum number of new nodes examined, over all groups."""

COMPARED: Final = 10_000
"""Maximum number of comparisons of kinds of pods with groups, some 10 microseconds each."""


async def possible_kinds(
    groups: Sequence[NodeGroup], scaling: ScaledGroup, world: World
) -> tuple[list[PossibleNodes], bool]:
    """The different nodes of each group, and whether some were left out since there are too many of them or of pods."""
    wanted: dict[object, Needs] = {}
    for needs in itertools.chain.from_iterable(scaling.ways):
        wanted.setdefault(tuple(sorted(needs.items(), key=lambda item: item[0])), needs)
    known = world.inventory.nodes.labels

    def live(key: str) -> Collection[str]:
        return known.get(key, ())

    possible_by_group: list[PossibleNodes] = []
    skipped, remaining = False, NODES
    for at, group in enumerate(groups):
        await scaling.group.solving.rest()
        beyond = (at + 1) * len(wanted) > COMPARED or not remaining
        skipped = skipped or (beyond and not group.closed)
        if group.closed or beyond or not wanted:
            possible_by_group.append(PossibleNodes(group, ()))
            continue
        steps = possible_nodes(group, [*wanted.values()], scaling.group.resources, live)
        possible = await taken(steps, scaling.group.solving)
        skipped = skipped or len(possible.nodes) > remaining
        possible_by_group.append(replace(possible, nodes=possible.nodes[:remaining]))
        remaining -= len(possible_by_group[-1].nodes)
    return possible_by_group, skipped


async def able_to_run(kinds: Sequence[tuple[int, NewNode]], scaling: ScaledGroup, world: World) -> list[Bits]:
    """For each member, the positions of the new nodes that can run it."""
    inventory = Inventory()
    for _, new in kinds:
        await scaling.group.solving.rest()
        inventory.set_node(new.node)
    later = later_world(inventory, world)
    groups = world.node_groups
    others = sum(1 << at for at, (group, _) in enumerate(kinds) if groups[group].unstated != "excluded")
    able: list[Bits] = []
    for member, ways, odd in zip(scaling.group.stated, scaling.ways, scaling.ignored, strict=True):
        await scaling.group.solving.rest()
        constraints = constraints_of(member.ask, later).constraints if ways and kinds else ()
        fitting = judge(constraints, later).candidates if constraints else 0
        able.append(fitting & others if odd else fitting)
    return able


def useful_counts(
    kinds: Sequence[tuple[int, NewNode]], groups: Sequence[NodeGroup], members: Sequence[Member]
) -> tuple[list[int], bool]:
    """How many nodes of each kind could be useful, and whether fewer are looked at.

    On nodes that have room for everything, pods that avoid no others share one.
    """
    asked: Counter[str] = Counter()
    for member in members:
        asked.update({name: needed * member.count for name, needed in requests_of(member.conditions).items()})
    total = sum(member.count for member in members)
    alone = sum(
        member.count
        for member in members
        if any(condition.avoids or condition.limit for condition in member.conditions)
    )
    counts = []
    for at, new in kinds:
        roomy = all(new.node.allocatable[name] >= needed for name, needed in asked.items())
        useful = min(total, alone + 1) if roomy else total
        most = groups[at].count
        counts.append(useful if most is None else min(useful, most))
    if sum(counts) <= NODES:
        return counts, False
    share = NODES // len(kinds)
    return [min(count, share) for count in counts], True
