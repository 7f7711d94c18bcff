"""The search for new nodes: over the nodes there are and those that node groups could make, within their limits."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from webhook.placement.jobs.newnodes.helpless_groups import helpless_reasons
from webhook.placement.jobs.newnodes.job_scale_up import JobScaleUp
from webhook.placement.jobs.newnodes.made_nodes import GroupNodes, made_nodes
from webhook.placement.jobs.newnodes.scaled_group import ScaledGroup
from webhook.placement.jobs.newnodes.useful_nodes import able_to_run, possible_kinds, useful_counts
from webhook.placement.jobs.whole_job import element_warnings
from webhook.placement.planning.group import Placed
from webhook.placement.planning.preemption import with_more_room
from webhook.placement.planning.wider_group import GroupLimits, NewNodes, WiderGroup
from webhook.placement.request.world import World


async def look_for_nodes(scaling: ScaledGroup, world: World) -> JobScaleUp | World:
    """The answer; if the scheduler can free room that may be enough, the world with that room."""
    groups = world.node_groups
    possible, skipped = await possible_kinds(groups, scaling, world)
    kinds = [(group, new) for group, kinds_of_group in enumerate(possible) for new in kinds_of_group.nodes]
    able = await able_to_run(kinds, scaling, world)
    useful = [at for at in range(len(kinds)) if any(own >> at & 1 for own in able)]
    chosen = [kinds[at] for at in useful]
    counts, cut = useful_counts(chosen, groups, scaling.group.members)
    new = [NewNodes(group, one.node.allocatable, count) for (group, one), count in zip(chosen, counts, strict=True)]
    placeable = [sum(1 << to for to, at in enumerate(useful) if own >> at & 1) for own in able]
    wider = WiderGroup(scaling.group, placeable, new, [GroupLimits(group.count, group.remaining) for group in groups])
    answer = await wider.place()
    if answer.placed is not None:
        own = replace(answer.placed, slots=answer.placed.slots[: len(scaling.own)])
        made, waiting = made_nodes(wider, own, groups, [one for _, one in chosen])
        there = [tuple(slot for slot in places if slot < wider.first) for places in own.slots]
        return _waiting(scaling, made, waiting, Placed(tuple(there)))
    if more := with_more_room(scaling.group.stated, world) if answer.decided else None:
        return more
    known = zip(scaling.own, able, scaling.sure, strict=False)
    nowhere = [member for member, new, sure in known if sure and not new and not member.open()]
    bounded = cut or not all(scaling.sure) or not all(kinds_of_group.complete for kinds_of_group in possible)
    if not answer.decided or skipped or (bounded and not nowhere):
        return JobScaleUp(decided=False, noun=scaling.noun)
    # What a group makes for those that the nodes there are can run by themselves is beside the point.
    lacking = [at for at, member in enumerate(scaling.own) if not member.open()] or range(len(scaling.own))
    mine = {kinds[at][0] for at in useful if any(able[of] >> at & 1 for of in lacking)}
    short = scaling.own[lacking[0]]
    return JobScaleUp(noun=scaling.noun, reasons=tuple(helpless_reasons(nowhere, short, groups, mine, wider, scaling)))


def _waiting(scaling: ScaledGroup, made: Iterable[GroupNodes], waiting: Sequence[str], there: Placed) -> JobScaleUp:
    """The answer about a Job that fits with the nodes ``made``, on which those elements run; ``there`` are others."""
    return JobScaleUp(
        tuple(made),
        tuple(waiting),
        sum(member.count for member in scaling.own),
        scaling.noun,
        named=scaling.named,
        decided=bool(waiting),
        warnings=tuple(element_warnings(scaling.own)),
        pools=scaling.pools,
        excluded=scaling.excluded,
        there=there,
    )
