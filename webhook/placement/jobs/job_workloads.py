"""Workloads of one job judged together: a workload that is submitted, and what the others of its job still lack.

See ``docs/workloads.md``, "Workloads of one job". Pods of the others that run already hold their room in the
inventory; those that are missing are members of one group with all pods of the submitted workload.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.decision.replica_fit import Replicas
from webhook.placement.decision.scale_up import ScaleUp, scale_up
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.pool_index import Name
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.whole_job import judged_or_recovered
from webhook.placement.kube.owner import owners_of
from webhook.placement.kube.pod import Pod
from webhook.placement.planning.group import Group, GroupAnswer
from webhook.placement.planning.members import Member, member_of
from webhook.placement.planning.planned_devices import GroupWithDevices, doubtful_devices
from webhook.placement.planning.preemption import notices, with_more_room
from webhook.placement.planning.refusal.group_refusal import refuse_group
from webhook.placement.planning.search.solver import Solving
from webhook.placement.request.world import World
from webhook.placement.text.problem import MESSAGE_LIMIT, Fault, shorten

NOUN: Final = "pod"

MOST: Final = 10_000
"""Pods of a group: more than any stream-processing job has, and few enough to be counted within the time."""

_JOB_SHOWN: Final = 63
"""Characters of the name of a job: a label has no more."""

UNDECIDED: Final = (
    "no decision in time on whether all pods of the job's workloads can run at the same time: "
    "some of them may have to wait"
)
"""The warning for a workload that is admitted without a decision about the others."""


class WorkloadPods(Struct, frozen=True, eq=False):
    """The pods of a workload: ``origin`` is its name in messages (``Deployment sink``), ``pod`` one of the pods.

    ``replicas`` says how many there are to be, and whose live pods are among them.
    """

    origin: str
    pod: Pod
    replicas: Replicas


async def judge_workload(
    submitted: WorkloadPods,
    others: Sequence[WorkloadPods],
    job: Name,
    inventory: Inventory,
    policy: Policy,
    solving: Solving,
) -> JobVerdict:
    """The verdict on a workload that could run by itself, beside the ``others`` of its job (namespace and name).

    It is refused only if it could run without the others, the others without it, and not all of them at the same time.
    """
    now = World(inventory, policy, leaving=submitted.replicas.owner)

    async def judge(world: World) -> JobVerdict:
        return await _judged(submitted, others, job, world, solving)

    return await judged_or_recovered(judge, now)


async def _judged(
    submitted: WorkloadPods, others: Sequence[WorkloadPods], job: Name, world: World, solving: Solving
) -> JobVerdict:
    there = Counter(owner for _, pod in world.job_pods(*job).pods.values() for owner in owners_of(pod.owner))
    running = sum(there[other.replicas.owner] for other in others)
    lacking = [(other, other.replicas.needed - there[other.replicas.owner]) for other in others]
    members = await _members([(submitted, submitted.replicas.needed), *lacking], job, world, solving)
    if members is None:
        return JobVerdict(warnings=(UNDECIDED,))
    own, *other_members = members
    missing = [member for member in other_members if member]
    if own is None or not (missing or running):
        return JobVerdict()
    group = GroupWithDevices([*missing, own], world, (), solving, (job,))
    answer = await group.place()
    if answer.placed is not None:
        doubts = await doubtful_devices(group, answer.placed, NOUN)
        return JobVerdict(group, answer, warnings=(*notices(group, answer.placed), *doubts))
    if answer.decided and (more := with_more_room(group.members, world)):
        return await _judged(submitted, others, job, more, solving)
    warnings = await _excused(group, submitted, job) if answer.decided else (UNDECIDED,)
    if warnings is not None:
        return JobVerdict(group, answer, warnings=warnings)
    return await _refused(group, answer, job, running)


async def _members(
    pods: Sequence[tuple[WorkloadPods, int]], job: Name, world: World, solving: Solving
) -> list[Member | None] | None:
    """The members for so many pods of each workload, as :func:`_member` has them; ``None`` if time is up."""
    if sum(count for _, count in pods if count > 0) > MOST:
        return None
    members: list[Member | None] = []
    for workload, count in pods:
        await solving.rest()
        if solving.left() <= 0:
            return None
        members.append(_member(workload, count, job, world) if count > 0 else None)
    return members


async def _excused(group: Group, submitted: WorkloadPods, job: Name) -> tuple[str, ...] | None:
    """The warnings of a workload that is admitted although not all fit; ``None`` if it is to be refused.

    It is not to blame if the others lack room without it. If it lacks room without the others and their live pods, it
    waits for pods to finish, as the check of the workload alone allows.
    """
    without = await group.place([*group.counts[:-1], 0])
    now = group.world
    empty = World(now.inventory, now.policy, leaving=(job,)).preempting(now.preemption)
    own = _member(submitted, group.counts[-1], job, empty)
    alone = await Group([own], empty, (), group.solving, (job,)).place() if own else GroupAnswer(None)
    if without.placed is not None and alone.placed is not None:
        return None
    if without.placed is None and without.decided:
        shown = shorten(job[1], _JOB_SHOWN)
        return (f"the other workloads of job {shown} cannot all run at the same time, even without this one",)
    return () if alone.placed is None and alone.decided else (UNDECIDED,)


async def _refused(group: Group, answer: GroupAnswer, job: Name, running: int) -> JobVerdict:
    """The refusal of a workload beside the others, of which so many pods are ``running``; elastic, a warning."""
    refusal = await refuse_group(group, answer.short, NOUN)
    beside = f", {running} of whose pods {'runs' if running == 1 else 'run'} already" if running else ""
    text = f"The workloads of job {shorten(job[1], _JOB_SHOWN)} together{beside}: {refusal.text}"[:MESSAGE_LIMIT]
    verdict = JobVerdict(group, answer, refusal, text, refusal.fault)
    if refusal.fault is Fault.FORBIDDEN and any(member.ask.elastic for member in group.members):
        return replace(verdict, text="", warnings=(f"no room yet: {verdict.headline}",))
    new = _on_new_nodes(group, job) if refusal.fault is Fault.FORBIDDEN else None
    return replace(verdict, text="", warnings=(f"no room yet: {new.notice}",)) if new else verdict


def _on_new_nodes(group: Group, job: Name) -> ScaleUp | None:
    """The node groups that can make nodes for all pods of the submitted workload, the last of the group."""
    own, count = group.members[-1], group.counts[-1]
    constraints = tuple(own.verdict.constraints)
    if any(constraint.company("/".join(job)).together for constraint in constraints if not constraint.soft):
        return None  # nodes there are may have no room for the others there
    new = scale_up(own.ask, constraints, group.world)
    return None if new is None or new.room(count, 0)[1] else new


def _member(workload: WorkloadPods, count: int, job: Name, world: World) -> Member | None:
    """That number of pods of the workload; ``None`` if not even one could run: such pods take nothing from others."""
    member = member_of((workload.origin,), count, workload.pod, job[0], world, ())
    return member if isinstance(member, Member) and member.verdict.candidates else None
