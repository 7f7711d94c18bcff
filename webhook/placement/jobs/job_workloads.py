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
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.job_pods import JobPods
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.whole_job import JobVerdict, judged_or_recovered
from webhook.placement.kube.owner import owners_of
from webhook.placement.kube.pod import Pod
from webhook.placement.planning.group import Group
from webhook.placement.planning.group_refusal import refuse_group
from webhook.placement.planning.members import Member, member_of
from webhook.placement.planning.solver import Solving
from webhook.placement.request.world import World
from webhook.placement.text.problem import MESSAGE_LIMIT, Fault, shorten

NOUN: Final = "pod"

MOST: Final = 10_000
"""Pods of a group: more than any stream-processing job has, and few enough to be counted within the time."""

_JOB_SHOWN: Final = 63
"""Characters of the name of a job: a label has no more."""

UNDECIDED: Final = (
    "whether all pods of the job's workloads can run at a time was not decided in time: some of them may have to wait"
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
    job: tuple[str, str],
    inventory: Inventory,
    policy: Policy,
    solving: Solving,
) -> JobVerdict:
    """The verdict on a workload that could run by itself, beside the ``others`` of its job (namespace and name).

    It is refused only if it could run without the others, the others without it, and not all of them at a time.
    """
    now = World(inventory, policy, leaving=submitted.replicas.owner)

    async def judge(world: World) -> JobVerdict:
        return await _judged(submitted, others, job, world, solving)

    return await judged_or_recovered(judge, now)


async def _judged(
    submitted: WorkloadPods, others: Sequence[WorkloadPods], job: tuple[str, str], world: World, solving: Solving
) -> JobVerdict:
    own = _member(submitted, submitted.replicas.needed, job[0], world)
    lacking = _lacking(others, world.job_pods(*job))
    if own is None or not lacking:
        return JobVerdict()
    if own.count + sum(count for _, count in lacking) > MOST:
        return JobVerdict(warnings=(UNDECIDED,))
    members: list[Member] = []
    for other, count in lacking:
        await solving.rest()
        if solving.left() <= 0:
            return JobVerdict(warnings=(UNDECIDED,))
        # A workload that cannot run anyway takes nothing from the submitted one.
        if member := _member(other, count, job[0], world):
            members.append(member)
    if not members:
        return JobVerdict()
    return await _together(Group([*members, own], world, (), solving, (job,)), job[1])


async def _together(group: Group, job: str) -> JobVerdict:
    """The verdict on a group whose last member is the submitted workload."""
    answer = await group.place()
    if answer.placed is not None:
        return JobVerdict(group, answer)
    warnings = await _excused(group, job) if answer.decided else (UNDECIDED,)
    if warnings is not None:
        return JobVerdict(group, answer, warnings=warnings)
    refusal = await refuse_group(group, answer.short, NOUN)
    text = f"The workloads of job {shorten(job, _JOB_SHOWN)} together: {refusal.text}"[:MESSAGE_LIMIT]
    verdict = JobVerdict(group, answer, refusal, text, refusal.fault)
    if refusal.fault is Fault.FORBIDDEN and any(member.ask.elastic for member in group.members):
        return replace(verdict, text="", warnings=(f"no room yet: {verdict.headline}",))
    return verdict


async def _excused(group: Group, job: str) -> tuple[str, ...] | None:
    """The warnings of a workload that is admitted although not all fit; ``None`` if it is to be refused.

    It is not to blame if the others lack room without it. If it lacks room without the others, it waits for pods to
    finish, as the check of the workload alone allows.
    """
    without = await group.place([*group.counts[:-1], 0])
    alone = await group.place([*[0] * (len(group.members) - 1), group.counts[-1]])
    if without.placed is not None and alone.placed is not None:
        return None
    if without.placed is None and without.decided:
        shown = shorten(job, _JOB_SHOWN)
        return (f"the other workloads of job {shown} cannot all run at a time, even without this one",)
    return () if alone.placed is None and alone.decided else (UNDECIDED,)


def _lacking(others: Sequence[WorkloadPods], live: JobPods) -> list[tuple[WorkloadPods, int]]:
    """The others that have fewer live pods than they are to have, and how many are missing."""
    there = Counter(owner for _, pod in live.pods.values() for owner in owners_of(pod.owner))
    found = [(other, other.replicas.needed - there[other.replicas.owner]) for other in others]
    return [(other, count) for other, count in found if count > 0]


def _member(found: WorkloadPods, count: int, namespace: str, world: World) -> Member | None:
    """So many pods of the workload; ``None`` if not even one of them could run."""
    member = member_of((found.origin,), count, found.pod, namespace, world, ())
    return member if isinstance(member, Member) and member.open() else None
