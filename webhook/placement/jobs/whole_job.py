"""A Job of Streams judged as a whole before anything of it exists: its processing elements and its HostPools together.

See ``docs/jobs.md``, "The whole Job". Elements that differ only in their names are one member of the group, so that a
Job of a thousand equal elements costs little more than one of ten.
"""

import itertools
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.checks.pool_devices import device_doubt, look_at_devices
from webhook.placement.decision.refusal.refusal import Refusal
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.applied_job import applied_world, open_pools
from webhook.placement.jobs.declared_pools import cannot_be_had, settled_hosts, unlisted_pools
from webhook.placement.jobs.element_pods import KnownPods, element_steps, positions
from webhook.placement.jobs.job_verdict import UNDECIDED, JobVerdict
from webhook.placement.jobs.refused_elements import RefusedElement, certain, judged_alone, refuse_elements
from webhook.placement.jobs.tolerant_elements import taken_from
from webhook.placement.kube.bits import union
from webhook.placement.kube.pod import Pod
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.objects.pool import Pool
from webhook.placement.planning.group import Group, GroupAnswer
from webhook.placement.planning.members import Member, member_of
from webhook.placement.planning.mutual_avoidance import unplanned
from webhook.placement.planning.optional_hardware import Equipped, equipped
from webhook.placement.planning.pinned import pinned
from webhook.placement.planning.planned_devices import GroupWithDevices, doubtful_devices
from webhook.placement.planning.preemption import notices, with_more_room
from webhook.placement.planning.refusal.conflict import smallest
from webhook.placement.planning.refusal.group_refusal import refuse_group
from webhook.placement.planning.refusal.pool_refusal import pool_refusals, refuse_pools
from webhook.placement.planning.search.solver import Solving, taken
from webhook.placement.request.world import World
from webhook.placement.text.problem import Fault, enumerated

NOUN: Final = "processing element"


_SAID: Final = 3
"""Names in a warning."""

_WARNINGS: Final = 8
"""Warnings of elements: an answer has ten at most, and those about the whole Job come after them."""


_BRIEFLY: Final = "not all processing elements can run at the same time"


class AppliedJob(Struct, frozen=True, eq=False):
    """A Job as it is applied to a world: ``pools`` are its HostPools, as the inventory of that world has them.

    ``staying`` are the nodes of elements that run and stay there. ``known`` are pods of elements that were made before.
    """

    namespace: str
    name: str
    spec: JobSpec
    pools: Sequence[Pool] = ()
    staying: Mapping[str, str] = {}
    known: KnownPods | None = None


async def judge_job(
    namespace: str, name: str, spec: JobSpec, inventory: Inventory, policy: Policy, solving: Solving
) -> JobVerdict:
    """The verdict on a Job whose spec has no problems; ``solving`` says how programs are solved, and in what time.

    If it cannot run now, it is judged as if passing conditions of nodes had ended, as a pod is.
    """
    world, pools = await applied_world(namespace, name, spec, inventory, policy, solving)

    async def judge(world: World) -> JobVerdict:
        return await judged(AppliedJob(namespace, name, spec, pools), world, solving, brief=True)

    return await judged_or_recovered(judge, world)


async def judged_or_recovered(judge: Callable[[World], Awaitable[JobVerdict]], world: World) -> JobVerdict:
    """The verdict in that world; a refused Job is judged again as if passing conditions of nodes had ended.

    Only the refusal that is returned is worked out: it takes most of the time.
    """
    verdict = await judge(world)
    later = world.recovered() if verdict.refused or verdict.brief else None
    if later is None or not verdict.refused:
        verdict = await worked_out(verdict)
    if later is None or not verdict.refused:
        return verdict
    recovered = await worked_out(await judge(later))
    if recovered.refused:
        return recovered
    verdict = await worked_out(verdict)
    return replace(
        recovered, warnings=(*recovered.warnings, f"not all can run at the same time now: {verdict.headline}")
    )


async def members_of_job(
    namespace: str, name: str, spec: JobSpec, inventory: Inventory, policy: Policy, solving: Solving
) -> tuple[Member, ...]:
    """The pods of the Job with what they demand; none if one of them cannot run even by itself."""
    world, _ = await applied_world(namespace, name, spec, inventory, policy, solving)
    members = await _members(AppliedJob(namespace, name, spec), (), world, solving)
    return () if isinstance(members, JobVerdict) else tuple(members)


async def judged(job: AppliedJob, world: World, solving: Solving, *, brief: bool = False) -> JobVerdict:
    """The verdict in that world, in which the Job is applied; a ``brief`` refusal does not say what would help."""
    choices = open_pools(job.pools, world)
    without_hosts = cannot_be_had(job.pools, world)
    unlisted = unlisted_pools(job.pools, world) if without_hosts else []
    members = await _members(job, choices, world, solving, refused=without_hosts, unlisted=unlisted)
    if isinstance(members, JobVerdict):
        return members
    if without_hosts:
        without_hosts += await refused_pools(job.namespace, job.name, choices, world, solving)
        return JobVerdict(text=refuse_pools(without_hosts).text)
    await solving.rest()
    for pool in choices:
        if pool.devices and solving.left() > 0:
            look_at_devices(pool, world)
            await solving.rest()
    others = taken_from(choices, members, settled_hosts(job.pools, world), world)
    leaving = {(job.namespace, job.name): frozenset(job.staying)}
    group = GroupWithDevices(members, world, choices, solving, leaving, others)
    answer = await group.place()
    if answer.placed is not None:
        undecided = await taken(unplanned(members, world), solving)
        return await _admitted(await equipped(group, answer.placed, positions(job.name, job.spec)), undecided, members)
    if answer.decided and (more := with_more_room(members, world)):
        return await judged(job, more, solving, brief=brief)
    return await _without_plan(group, answer, brief=brief)


async def _without_plan(group: Group, answer: GroupAnswer, *, brief: bool) -> JobVerdict:
    """The verdict on elements that have no nodes, for certain or as far as the time went."""
    if not answer.decided:
        return JobVerdict(group, answer, warnings=(UNDECIDED, *element_warnings(group.members)))
    return _briefly(group, answer) if brief else await _refused(group, answer, NOUN)


async def _admitted(best: Equipped, undecided: Sequence[str], members: Sequence[Member]) -> JobVerdict:
    """The verdict on a Job that can run by the plan ``best``; conditions of ``undecided`` elements were not planned."""
    warnings = (
        *notices(best.group, best.placed),
        *_hedges(undecided),
        *await doubtful_devices(best.group, best.placed, NOUN),
        *_doubtful_pools(best),
        *_denied(best),
        *element_warnings(members),
    )
    return JobVerdict(best.group, GroupAnswer(best.placed), warnings=warnings, given=best.given)


def _briefly(group: Group, answer: GroupAnswer) -> JobVerdict:
    """The verdict on a Job that does not fit, without what would help."""
    if any(member.ask.elastic for member in group.members):
        return JobVerdict(group, answer, warnings=(f"no room yet: {_BRIEFLY}",), brief=True)
    return JobVerdict(group, answer, text=_BRIEFLY, brief=True)


async def worked_out(verdict: JobVerdict, noun: str = NOUN) -> JobVerdict:
    """The verdict with what cannot hold together and what would help; a warning where nodes are expected to come.

    ``noun`` is what messages call one of the pods.
    """
    group, answer = verdict.group, verdict.answer
    return await _refused(group, answer, noun) if verdict.brief and group and answer else verdict


async def _refused(group: Group, answer: GroupAnswer, noun: str) -> JobVerdict:
    """The verdict on a Job that does not fit; a warning where nodes are expected to come."""
    refusal = await refuse_group(group, answer.short, noun)
    if refusal.fault is Fault.FORBIDDEN and any(member.ask.elastic for member in group.members):
        return JobVerdict(group, answer, refusal, warnings=(f"no room yet: {refusal.headline}",))
    return JobVerdict(group, answer, refusal, refusal.text, refusal.fault)


def _doubtful_pools(best: Equipped) -> Iterator[str]:
    """A warning for each HostPool that the plan gives hosts of which it is not known whether they have its devices."""
    for pool in best.group.pools:
        hosts = best.placed.hosts.get((pool.namespace, pool.name), {})
        if doubt := device_doubt(pool, union(1 << slot for slot in hosts.values()), best.group.world):
            yield doubt


def _denied(best: Equipped) -> Iterator[str]:
    """A warning for each optional amount that some elements run without."""
    without: dict[str, list[str]] = {}
    for wish in best.denied:
        without.setdefault(wish.amount.cause, []).append(wish.name)
    for cause, names in without.items():
        yield f"{cause} is not requested by {enumerated(names, _SAID)}: no plan for the whole Job has it free for them"


def element_warnings(members: Sequence[Member]) -> list[str]:
    """What the pods of the elements are warned of, at most ``_WARNINGS``; equal warnings once."""
    first: dict[str, str] = {}
    for member in members:
        for warning in member.warnings:
            first.setdefault(warning, member.names[0])
    said = itertools.islice(first.items(), _WARNINGS)
    return [f"processing element {name}: {warning}" for warning, name in said]


def _hedges(names: Sequence[str]) -> Iterator[str]:
    """The warning about elements with conditions on other pods that are left to the scheduler."""
    if names:
        yield (
            f"{enumerated(names, _SAID)}: what podAffinity, podAntiAffinity, topologySpreadConstraints or "
            "hostColocation say of other pods is left to the scheduler: some processing elements may have to wait"
        )


async def _members(
    job: AppliedJob,
    choices: Sequence[Pool],
    world: World,
    solving: Solving,
    *,
    refused: tuple[Refusal, ...] = (),
    unlisted: Sequence[Pool] = (),
) -> list[Member] | JobVerdict:
    """The members of the Job; the verdict if some of its elements cannot run by themselves, or time is up.

    ``refused`` are the refusals of HostPools that cannot get their hosts, which the verdict lists with the elements.
    ``unlisted`` pools have no hosts because of their lists: elements may run on any node that a list could name.
    """
    total = len(job.spec.processing_elements or ())
    elements = JudgedElements(job.namespace, world, choices, job.staying, unlisted)

    async def refuse(*, all_known: bool) -> JobVerdict:
        pools = refused + await refused_pools(job.namespace, job.name, choices, world, solving)
        return _refused_alone(refuse_elements(elements.refused, total, all_known=all_known, pools=pools))

    for element in element_steps(job.name, job.spec, job.known):
        await solving.rest()
        names = elements.without_staying(*element) if element else ()
        if not (element and names):
            continue
        if solving.left() > 0:
            elements.judge(names, element[1])
        elif _refusing(elements.refused, refused):
            return await refuse(all_known=False)
        elif refused:
            return elements.members
        else:
            return JobVerdict(answer=GroupAnswer(None, decided=False), warnings=(UNDECIDED,))
    return await refuse(all_known=True) if _refusing(elements.refused, refused) else elements.members


class JudgedElements:
    """The elements of a Job judged one by one: the ``members`` that can run, and the elements that are ``refused``.

    ``choices`` are the pools whose hosts are yet to be chosen; for the others see :func:`_members`.
    """

    def __init__(
        self,
        namespace: str,
        world: World,
        choices: Sequence[Pool],
        staying: Mapping[str, str],
        unlisted: Sequence[Pool],
    ) -> None:
        self.members: list[Member] = []
        self.refused: list[RefusedElement] = []
        self._namespace = namespace
        self._world = world
        self._choices = choices
        self._chosen = frozenset((pool.namespace, pool.name) for pool in choices)
        self._staying = staying
        self._without_hosts = [*choices, *unlisted]

    def without_staying(self, names: Sequence[str], pod: Pod) -> tuple[str, ...]:
        """Add those of these equal elements that stay on their nodes, and return the names of the others."""
        self.members += pinned_members(names, pod, self._namespace, self._world, self._choices, self._staying)
        return tuple(one for one in names if one not in self._staying)

    def judge(self, names: Sequence[str], pod: Pod) -> None:
        """Judge equal elements that do not run yet."""
        member = member_of(names, len(names), pod, self._namespace, self._world, self._chosen)
        judged = judged_alone(names, member, self._namespace, self._without_hosts, self._world)
        if isinstance(judged, RefusedElement):
            self.refused.append(judged)
        alone = judged.member if isinstance(judged, RefusedElement) else judged
        if alone is not None:
            self.members.append(alone)


def _refusing(refused: Sequence[RefusedElement], without_hosts: Sequence[Refusal]) -> bool:
    """Whether the Job is refused for these elements: all count if HostPools cannot get their hosts either."""
    return certain(refused) or bool(refused and without_hosts)


def pinned_members(
    names: Sequence[str], pod: Pod, namespace: str, world: World, choices: Sequence[Pool], staying: Mapping[str, str]
) -> Iterator[Member]:
    """The members of those of these equal elements that run and stay on their nodes."""
    chosen = frozenset((pool.namespace, pool.name) for pool in choices)
    nodes = sorted({staying[one] for one in names if one in staying})
    for node in nodes:
        mine = tuple(one for one in names if staying.get(one) == node)
        member = member_of(mine, len(mine), pod, namespace, world, chosen)
        if isinstance(member, Member):
            yield pinned(member, node, choices, world)


async def refused_pools(
    namespace: str, name: str, choices: Sequence[Pool], world: World, solving: Solving
) -> tuple[Refusal, ...]:
    """The refusals of the Job's HostPools that cannot have their hosts even without any pod of the Job."""
    if not choices:
        return ()
    bare = Group((), world, choices, solving, ((namespace, name),)).unhurried()
    answer = await bare.place()
    certain = answer.placed is None and answer.decided
    return await pool_refusals(bare, (await smallest(bare)).pools) if certain else ()


def _refused_alone(refusal: Refusal) -> JobVerdict:
    """The verdict on a Job with elements that cannot run even without all others."""
    return JobVerdict(refusal=refusal, text=refusal.text, fault=refusal.fault, of_element=refusal.rules)
