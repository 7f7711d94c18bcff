"""The levels of a group: the priorities below which other pods count as preempted by pods of the group."""

from collections.abc import Iterable

from webhook.placement.planning.members import Member
from webhook.placement.request.world import Preemption, World


def levels(members: Iterable[Member], world: World) -> tuple[int | None, ...]:
    """The levels, ascending; ``None`` stands for no preemption.

    Pods of the group with a priority of a level or above it have to fit beside all others of such priorities: then the
    scheduler preempts none of these, in whatever order the pods of the group come. So there is a level for each
    priority in the group.
    """
    preempting = {member.preempts for member in members}
    ascending = sorted(level for level in preempting if level is not None)
    if world.preemption is Preemption.NONE or not ascending:
        return (None,)
    if world.preemption is Preemption.POSSIBLE:
        return (ascending[-1],)
    return (*((None,) if None in preempting else ()), *ascending)


def takes(member: Member, level: int | None, world: World) -> bool:
    """Whether what is free for that level is free for the member."""
    return level is None or world.preemption is Preemption.POSSIBLE or member.preempts == level


def counts(member: Member, level: int | None, world: World) -> bool:
    """Whether pods of the member take of what is free for that level."""
    return level is None or world.preemption is Preemption.POSSIBLE or member.priority >= level
