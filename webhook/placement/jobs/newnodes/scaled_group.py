"""Members that need new nodes, with the labels that each of them requires of a new node."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from webhook.placement.decision.scale_up import alternatives_of, waits_for_new
from webhook.placement.inventory.pool_index import Name
from webhook.placement.jobs.whole_job import NOUN
from webhook.placement.kube.bits import Bits
from webhook.placement.nodegroups.new_node import Needs, ignored
from webhook.placement.objects.pool import Pool
from webhook.placement.planning.group import Group
from webhook.placement.planning.members import Member
from webhook.placement.planning.search.solver import Solving
from webhook.placement.request.world import World

_WAYS: Final = 64
"""Maximum number of examined alternatives of a pod's node terms."""


class Beside(Struct, frozen=True, eq=False):
    """What a Job is judged beside: the members of ``group`` stay on nodes there are, those ``waiting`` need not."""

    group: Group
    waiting: Group


class ScaledGroup(Struct, frozen=True, eq=False):
    """A Job that needs new nodes: its ``own`` members, which come first in the ``group``.

    ``pools`` are those of its HostPools whose hosts are yet to be chosen, ``taken`` nodes that these must not have.
    ``ways`` are what each member of the group wants of labels, in any one way; ``sure`` tells for each of those that
    need no node there is whether these are all of its ways. ``ignored`` tells for each member of the group whether
    Karpenter makes no node for it, in whichever way it has what Karpenter ignores pods for.
    """

    own: tuple[Member, ...]
    group: Group
    pools: tuple[Pool, ...]
    excluded: Mapping[Name, Bits]
    ways: tuple[tuple[Needs, ...], ...]
    sure: tuple[bool, ...]
    ignored: tuple[bool, ...]
    noun: str = NOUN
    named: bool = True


async def scaled_group_of(  # noqa: PLR0913 -- what is asked for, and beside what
    members: Sequence[Member],
    world: World,
    solving: Solving,
    beside: Beside,
    *,
    choices: Sequence[Pool] = (),
    own_taken: Mapping[Name, Bits] = {},
    noun: str = NOUN,
    named: bool = True,
) -> ScaledGroup:
    """These members beside others, with what each of them wants of the labels of new nodes."""
    others = {**beside.group.excluded, **beside.waiting.excluded, **own_taken}
    staying, moving = beside.group.stated, (*members, *beside.waiting.stated)
    every: list[tuple[Needs, ...]] = []
    for member in moving:
        await solving.rest()
        every.append(tuple(itertools.islice(_ways(member, world), _WAYS + 1)))
    ways = (*(own[:_WAYS] for own in every), *(() for _ in staying))
    pooled = (*choices, *beside.waiting.pools, *beside.group.pools)
    group = Group((*moving, *staying), world, pooled, solving, beside.group.restarting, others)
    sure = tuple(len(own) <= _WAYS for own in every)
    odd = tuple(ignored(own) is not None for own in ways)
    return ScaledGroup(tuple(members), group, tuple(choices), own_taken, ways, sure, odd, noun, named)


def _ways(member: Member, world: World) -> Iterator[Needs]:
    """What labels a new node needs for the member, in each way; none if the member can run on no new node."""
    constraints = tuple(member.verdict.constraints)
    if waits_for_new(member.ask, constraints):
        yield from alternatives_of(member.ask, constraints, world)
