"""Preemption for groups of pods: when it is considered, and the warning about a group that depends on it.

A group is first judged by what is free, and only if it does not fit by what pods of lower priorities hold: so the plan
of a group preempts nothing where it need not.
"""

from collections.abc import Iterable
from typing import Final

import numpy as np

from webhook.placement.planning.group import Group, Placed
from webhook.placement.planning.members import Member, requests_of
from webhook.placement.request.world import Preemption, World

PREEMPTED: Final = "there is room only if the scheduler preempts pods of lower priority"
"""The warning about a group that has a place only once other pods are gone."""

UNCERTAIN: Final = (
    "there is room only if the scheduler preempts pods of lower priority, and it may preempt too few: "
    "some pods may have to wait"
)
"""The warning where the pods of a group have several priorities, and what is freed depends on their order."""


def notices(group: Group, placed: Placed) -> tuple[str, ...]:
    """The warnings about a group that is placed there."""
    if group.world.preemption is Preemption.NONE:
        return ()
    sure = group.world.preemption is Preemption.SURE or _keeps(group, placed)
    return (PREEMPTED if sure else UNCERTAIN,)


def _keeps(group: Group, placed: Placed) -> bool:
    """Whether the scheduler preempts none of the pods at these places, in whatever order they come.

    It does not where a pod fits beside all pods of its priority and of higher ones.
    """
    places = {int(slot): place for place, slot in enumerate(group.slots)}
    for level in {member.preempts for member in group.members}:
        free = group.room(level)
        bound = np.zeros(len(group.slots), np.bool_)
        for member, slots in zip(group.members, placed.slots, strict=True):
            if level is not None and member.priority < level:
                continue
            needs = requests_of(member.conditions)
            for slot in slots:
                free[:, places[slot]] -= [needs.get(resource, 0) for resource in group.resources]
                bound[places[slot]] |= member.preempts == level
        if (free[:, bound] < 0).any():
            return False
    return True


def with_more_room(members: Iterable[Member], world: World) -> World | None:
    """The world in which more counts as free for a group that does not fit; ``None`` if there is none."""
    levels = {member.preempts for member in members}
    highest = max((level for level in levels if level is not None), default=None)
    if highest is None:
        return None
    if world.preemption is Preemption.NONE:
        inventory = world.inventory
        lower = inventory.priorities.any_below(highest, len(inventory.pod_uids))
        return world.preempting(Preemption.SURE) if lower else None
    several = world.preemption is Preemption.SURE and len(levels) > 1
    return world.preempting(Preemption.POSSIBLE) if several else None
