"""The verdict on a Job that existing nodes cannot run, with the nodes that node groups could make."""

from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.applied_job import applied_world, open_pools
from webhook.placement.jobs.declared_pools import cannot_be_had, settled_hosts
from webhook.placement.jobs.element_pods import element_steps
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.newnodes.job_scale_up import JobScaleUp
from webhook.placement.jobs.newnodes.scaled_group import Beside, ScaledGroup, scaled_group_of
from webhook.placement.jobs.newnodes.search import look_for_nodes
from webhook.placement.jobs.tolerant_elements import taken_from, tolerance_problems
from webhook.placement.jobs.whole_job import AppliedJob, judge_job, judged, judged_or_recovered, worked_out
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.planning.group import Group, GroupAnswer
from webhook.placement.planning.members import Member, member_of
from webhook.placement.planning.search.solver import Solving
from webhook.placement.request.world import World
from webhook.placement.text.problem import Fault


async def judge_scaled_job(
    job: tuple[str, str], spec: JobSpec, inventory: Inventory, policy: Policy, solving: Solving
) -> JobVerdict:
    """The verdict on a Job of elements, with the nodes that node groups can make where the setting is on."""
    if not World(inventory, policy).node_groups:
        return await judge_job(*job, spec, inventory, policy, solving)
    world, pools = await applied_world(*job, spec, inventory, policy, solving)
    applied = AppliedJob(*job, spec, pools)
    asked: list[JobScaleUp] = []

    async def judge(world: World) -> JobVerdict:
        verdict = await judged(applied, world, solving, brief=True)
        if not verdict.refused or verdict.fault is Fault.INVALID or world.recovered() is not None:
            return verdict
        scaled = await scale_up_job(applied, world, solving)
        if scaled is None:
            return verdict
        if not scaled.decided and solving.left() > 0:
            verdict = await worked_out(verdict)
            if verdict.fault is Fault.INVALID:
                return verdict
        if scaled.made or not scaled.decided:
            warnings = (scaled.notice, *scaled.warnings)
            return JobVerdict(verdict.group, GroupAnswer(None, decided=scaled.decided), warnings=warnings)
        asked.append(scaled)
        return verdict

    verdict = await judged_or_recovered(judge, world)
    if not verdict.refused or not asked or verdict.fault is Fault.INVALID:
        return verdict
    return verdict.with_reasons(asked[-1].reasons)


async def scale_up_job(
    job: AppliedJob, world: World, solving: Solving, beside: Beside | None = None
) -> JobScaleUp | None:
    """What node groups can do for a Job that is refused in that world; ``None`` if new nodes make no difference.

    They make none for what is wrong with the Job itself, and for its HostPools: hosts are nodes that exist.
    """
    nothing = Group((), world, (), solving, ((job.namespace, job.name),))
    scaling = await _scaling(job, world, solving, beside or Beside(nothing, nothing))
    if not isinstance(scaling, ScaledGroup):
        return scaling
    looked_for = await look_for_nodes(scaling, world)
    return await scale_up_job(job, looked_for, solving, beside) if isinstance(looked_for, World) else looked_for


async def _scaling(job: AppliedJob, world: World, solving: Solving, beside: Beside) -> ScaledGroup | JobScaleUp | None:
    """The Job with its members; ``None`` if new nodes make no difference, and no answer if time is up."""
    choices = open_pools(job.pools, world)
    if cannot_be_had(job.pools, world):
        return None
    bare = await Group((), world, choices, solving, ((job.namespace, job.name),)).place()
    if bare.placed is None and bare.decided:
        return None
    chosen = frozenset((pool.namespace, pool.name) for pool in choices)
    members: list[Member] = []
    for element in element_steps(job.name, job.spec):
        await solving.rest()
        if element is None:
            continue
        if solving.left() <= 0:
            return JobScaleUp(decided=False)
        names, pod = element
        member = member_of(names, len(names), pod, job.namespace, world, chosen)
        if not isinstance(member, Member) or any(tolerance_problems(member, choices, world)):
            return None
        members.append(member)
    own_taken = taken_from(choices, members, settled_hosts(job.pools, world), world)
    return await scaled_group_of(members, world, solving, beside, choices=choices, own_taken=own_taken)
