"""The verdict on pods of an application or a workload that existing nodes cannot run, with new nodes."""

from collections.abc import Sequence

from webhook.placement.jobs.newnodes.job_scale_up import JobScaleUp
from webhook.placement.jobs.newnodes.scaled_group import Beside, scaled_group_of
from webhook.placement.jobs.newnodes.search import look_for_nodes
from webhook.placement.planning.members import Member
from webhook.placement.planning.search.solver import Solving
from webhook.placement.request.world import World


async def scale_up_workload(
    members: Sequence[Member], world: World, solving: Solving, beside: Beside, *, named: bool = False
) -> JobScaleUp:
    """What node groups can do for the pods of a workload, or a single pod, that are refused in that world.

    ``named`` tells that the members are components of an application, which the warning names.
    """
    scaling = await scaled_group_of(members, world, solving, beside, noun="pod", named=named)
    looked_for = await look_for_nodes(scaling, world)
    return (
        await scale_up_workload(members, looked_for, solving, beside, named=named)
        if isinstance(looked_for, World)
        else looked_for
    )
