"""An application of another operator judged as a whole, before the operator makes anything of it.

All of its components are one group: the pods that run at the same time, with HostPools, tokens and isolation across
components, against what is free now, as the processing elements of a Job are judged. With ``scaleUp: auto`` one that
the nodes there are cannot run is judged once more with nodes that node groups can make. See ``docs/applications.md``.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.decision.refusal.refusal import Refusal
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.newnodes.job_scale_up import JobScaleUp
from webhook.placement.jobs.newnodes.scaled_group import Beside
from webhook.placement.jobs.newnodes.scaled_pods import scale_up_workload
from webhook.placement.jobs.refused_elements import (
    LISTED,
    RefusedElement,
    certain,
    judged_alone,
    refuse_elements,
    refuse_stages,
    refused_by_number,
)
from webhook.placement.jobs.whole_job import judged_or_recovered, worked_out
from webhook.placement.kinds.application import ComponentPods, OperatorApplication
from webhook.placement.kube.pod import OperatorPod, Pod
from webhook.placement.planning.group import Group, GroupAnswer
from webhook.placement.planning.members import Member, kindred, member_of
from webhook.placement.planning.mutual_avoidance import unplanned
from webhook.placement.planning.planned_devices import GroupWithDevices, doubtful_devices
from webhook.placement.planning.preemption import notices, with_more_room
from webhook.placement.planning.search.solver import Solving, taken
from webhook.placement.request.ask import read
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.decoder_words import decoder_problem
from webhook.placement.text.problem import Fault, Problem, enumerated

NOUN: Final = "pod"

MOST: Final = 10_000
"""Pods of a group: few enough to be counted within the time."""

_SAID: Final = 3
"""Names in a warning."""

_WARNINGS: Final = 6
"""Warnings of components: an answer has ten at most, and those about the whole application come after them."""

UNDECIDED: Final = (
    "no decision in time on whether all components can run at the same time: some of their pods may have to wait"
)
"""The warning for an application that is admitted without a decision."""

_BRIEFLY: Final = "not all components can run at the same time"


class PodsToJudge(Struct, frozen=True, eq=False):
    """A component with its ``pod`` as placement reads it."""

    component: ComponentPods
    pod: Pod

    def so_many(self, count: int) -> "PodsToJudge":
        """So many of these pods, whatever the component may grow to."""
        return replace(self, component=replace(self.component, count=count, most=count))

    def without_document(self) -> "PodsToJudge":
        """The pods without the JSON that they were read from, which may be large and is not judged."""
        return replace(self, component=replace(self.component, pod={}))


ReadPods: TypeAlias = list[PodsToJudge] | tuple[Problem, ...]
"""The components of an application with their pods, or everything that cannot be read of these."""


def read_pods(application: OperatorApplication) -> ReadPods:
    """The components with their pods, or everything that cannot be read of the object."""
    pods: list[PodsToJudge] = []
    problems = [*application.problems]
    for component in application.components:
        try:
            pod = msgspec.convert(component.pod, Pod)
            made = OperatorPod(pod.metadata, pod.spec, pod.status, component.added) if component.added else pod
            pods.append(PodsToJudge(component, made))
        except msgspec.ValidationError as error:
            wrong = decoder_problem(error, component.pod)
            problems.append(replace(wrong, field=f"{component.field}.{wrong.field}"))
    return tuple(problems) if problems else pods


async def judge_application(  # noqa: PLR0913 -- the application, the cluster, and what a change does to it
    pods: Sequence[PodsToJudge],
    namespace: str,
    inventory: Inventory,
    policy: Policy,
    solving: Solving,
    *,
    changed: bool = False,
    beside: bool = False,
) -> JobVerdict:
    """The verdict on an application with these pods; ``solving`` says how programs are solved, and in what time.

    Of one that is ``changed`` the pods of the jobs that it names count as gone, because its own are among these. If it
    has pods without a job, too, which cannot be told from others, a lack of room is a warning. So is a lack of room
    ``beside`` the pods that run, for an application whose changes start new pods before the others end.
    """
    jobs = frozenset((namespace, job) for one in pods if (job := _job(one.pod))) if changed else frozenset()
    world = World(inventory, policy, leaving=jobs)

    async def judge(world: World) -> JobVerdict:
        # Nodes that come back are waited for before new ones are made.
        scaling = bool(world.node_groups) and world.recovered() is None
        return await _judged(pods, namespace, jobs, world, solving, scaling=scaling)

    verdict = await judged_or_recovered(judge, world)
    if beside and changed and jobs and not verdict.refused:
        both = await judge_at_once(pods, namespace, inventory, policy, solving)
        return replace(verdict, warnings=(*verdict.warnings, _beside(both))) if both.refused else verdict
    if changed and verdict.refusal and verdict.fault is Fault.FORBIDDEN and not all(_job(one.pod) for one in pods):
        return replace(verdict, text="", warnings=(_beside(verdict),))
    return verdict


def _beside(verdict: JobVerdict) -> str:
    """The warning about a changed application that lacks room while its pods from before run."""
    return f"not all can run at the same time beside the pods that run now: {verdict.headline}"


async def judge_at_once(
    pods: Sequence[PodsToJudge], namespace: str, inventory: Inventory, policy: Policy, solving: Solving
) -> JobVerdict:
    """The verdict on new pods that are to run now: they wait for no node that is not ready, but for new ones."""
    world = World(inventory, policy)
    return await _judged(pods, namespace, frozenset(), world, solving, scaling=bool(world.node_groups))


def _job(pod: Pod) -> str:
    return ((pod.metadata and pod.metadata.labels) or {}).get(keys.JOB, "")


async def _judged(
    pods: Sequence[PodsToJudge],
    namespace: str,
    jobs: frozenset[tuple[str, str]],
    world: World,
    solving: Solving,
    *,
    scaling: bool,
) -> JobVerdict:
    """The verdict in that world; with ``scaling``, new nodes are considered if the existing ones are not enough."""
    members, refused, all_read = await _members(pods, namespace, world, solving)
    everything = [*refused.values()]
    if certain(everything) and not (scaling and all(_lacks_nodes(one) for one in everything)):
        return _refused_alone(_refusal(everything, pods, all_known=all_read))
    if not all_read:
        nothing = JobVerdict(answer=GroupAnswer(None, decided=False), warnings=(UNDECIDED,))
        return _undecided(nothing, members, len(pods), namespace, world)
    members = _related(members)
    together = [at for at, one in enumerate(pods) if not one.component.apart]
    sets = [together, *([at] for at, one in enumerate(pods) if one.component.apart)]
    warnings = [*await _hedged(members, world, solving), *_warnings(members)]
    first: JobVerdict | None = None
    refusals: list[tuple[JobVerdict, list[RefusedElement]]] = []
    for chosen in filter(None, sets):
        own = [refused[at] for at in chosen if at in refused]  # components may have equal names
        alone = _refusal(own, pods) if certain(own) else None
        counted = [members[at] for at in chosen if members[at].count]
        verdict = await _of_set(counted, alone, world, jobs, solving, scaling=scaling)
        first = first or verdict
        warnings = [*verdict.warnings, *warnings] if verdict.grows else [*warnings, *verdict.warnings]
        if verdict.refused:
            refusals.append((verdict, [RefusedElement.of_group(verdict.refusal)] if verdict.refusal else own))
            if solving.left() <= 0:
                break
    if refusals:
        return replace(_of_stages(refusals), warnings=tuple(warnings))
    warnings += await _elastic(pods, members, namespace, (world, jobs), solving)
    return replace(first or JobVerdict(), warnings=tuple(dict.fromkeys(warnings)))


def _lacks_nodes(refused: RefusedElement) -> bool:
    """Whether a component that cannot run even by itself could run if the cluster had other nodes."""
    return refused.refusal is not None and refused.fault is Fault.FORBIDDEN


def _refusal(refused: Sequence[RefusedElement], pods: Sequence[PodsToJudge], *, all_known: bool = True) -> Refusal:
    """The refusal of an application for components that cannot run even by themselves."""
    return refuse_elements(refused, len(pods), all_known=all_known, kind="component")


def _refused_alone(refusal: Refusal) -> JobVerdict:
    """The verdict on an application with components that cannot run even by themselves."""
    return JobVerdict(text=refusal.text, fault=refusal.fault, of_element=refusal.rules)


def _of_stages(refusals: Sequence[tuple[JobVerdict, Sequence[RefusedElement]]]) -> JobVerdict:
    """The verdict on an application with stages that are refused, each with what of it cannot run."""
    if len(refusals) == 1:
        return refusals[0][0]
    return _refused_alone(refuse_stages([one for _, stage in refusals for one in stage], len(refusals)))


async def _of_set(
    members: Sequence[Member],
    alone: Refusal | None,
    world: World,
    jobs: frozenset[tuple[str, str]],
    solving: Solving,
    *,
    scaling: bool,
) -> JobVerdict:
    """The verdict on members that run at the same time.

    ``alone`` is the refusal of those that the nodes there are cannot run even by themselves.
    """
    many = sum(member.count for member in members) > MOST
    verdict = JobVerdict() if alone and not many else await _of_group(members, world, jobs, solving)
    if verdict.undecided:
        return _undecided(verdict, members, len(members), members[0].ask.namespace, world)
    if not (alone or verdict.brief):
        return verdict
    if not scaling or any(member.ask.elastic for member in members):
        return await worked_out(verdict, NOUN)
    nothing = Group((), world, (), solving, jobs)
    scaled = JobScaleUp(decided=False, noun=NOUN)
    if solving.left() > 0:  # there may be hundreds of sets
        scaled = await scale_up_workload(members, world, solving, Beside(nothing, nothing), named=True)
    if not scaled.made and (scaled.decided or solving.left() > 0):
        refused = _refused_alone(alone.with_reasons(scaled.reasons)) if alone else await worked_out(verdict, NOUN)
        if refused.fault is Fault.INVALID:
            return refused
        if scaled.decided:
            return refused.with_reasons(scaled.reasons)
    own, placed = nothing.with_members(members), scaled.there if scaled.made else None
    return JobVerdict(own, GroupAnswer(None, decided=scaled.decided), warnings=(scaled.notice,), placeable=placed)


def _undecided(verdict: JobVerdict, members: Sequence[Member], total: int, namespace: str, world: World) -> JobVerdict:
    """The verdict on ``total`` members of which it is not known whether all can run: refused if some cannot alone.

    ``members`` are those that were read in time.
    """
    refused = refused_by_number((one for one in members if one.count), namespace, world)
    if not refused:
        return verdict
    all_known = len(members) == total and len(refused) < LISTED
    return _refused_alone(refuse_elements(refused, total, all_known=all_known, kind="component"))


async def _of_group(
    members: Sequence[Member], world: World, jobs: frozenset[tuple[str, str]], solving: Solving
) -> JobVerdict:
    """The verdict on members that run at the same time on the nodes there are; a refusal is brief."""
    if sum(member.count for member in members) > MOST:
        return JobVerdict(answer=GroupAnswer(None, decided=False), warnings=(UNDECIDED,))
    group = GroupWithDevices(members, world, (), solving, jobs)
    answer = await group.place()
    if answer.placed is not None:
        doubts = await doubtful_devices(group, answer.placed, NOUN)
        return JobVerdict(group, answer, warnings=(*notices(group, answer.placed), *doubts))
    if not answer.decided:
        return JobVerdict(group, answer, warnings=(UNDECIDED,))
    if more := with_more_room(group.members, world):
        return await _of_group(members, more, jobs, solving)
    return JobVerdict(group, answer, text=_BRIEFLY, brief=True)


async def _members(
    pods: Sequence[PodsToJudge], namespace: str, world: World, solving: Solving
) -> tuple[list[Member], dict[int, RefusedElement], bool]:
    """The members of the application, those that cannot run by themselves, by their place, and whether these are all.

    If time is up before all components are read, these are the first. There is a member for each component, unless
    something is wrong with some of these whatever the cluster is.
    """
    members: list[Member] = []
    refused: dict[int, RefusedElement] = {}
    for at, one in enumerate(pods):
        await solving.rest()
        if solving.left() <= 0:
            return members, refused, False
        names = (one.component.name,)
        member = member_of(names, one.component.count, one.pod, namespace, world, ())
        if isinstance(member, Member):
            members.append(member)
            if not one.component.count:  # of pods that there may never be, only mistakes count
                continue
        judged = judged_alone(names, member, namespace, (), world)
        if isinstance(judged, RefusedElement):
            refused[at] = judged
    return members, refused, True


def _related(members: Sequence[Member]) -> list[Member]:
    """The members, told that components with the same label of a processing element are one."""
    alike = Counter((member.ask.job, member.ask.pe) for member in members)
    return [kindred(member) if alike[member.ask.job, member.ask.pe] > 1 else member for member in members]


async def _elastic(
    pods: Sequence[PodsToJudge],
    members: Sequence[Member],
    namespace: str,
    at: tuple[World, frozenset[tuple[str, str]]],
    solving: Solving,
) -> list[str]:
    """The warning about an application that fits with the fewest pods it has, and not with the most."""
    world, jobs = at
    grown = [
        (one.component, member_of(member.names, one.component.most, one.pod, namespace, world, ()))
        for one, member in zip(pods, members, strict=True)
    ]
    known = [(component, member) for component, member in grown if isinstance(member, Member)]
    components, related = [component for component, _ in known], _related([member for _, member in known])
    known = [*zip(components, related, strict=True)]
    sets = [[(one, member) for one, member in known if not one.apart], *([each] for each in known if each[0].apart)]
    short = [one for chosen in sets for one in await _growing(chosen, world, jobs, solving)]
    if not short:
        return []
    said = enumerated([f"{component.name}: {component.most}" for component in short], _SAID)
    return [
        f"only the minimum number of pods was judged: at the maximum ({said}), not all can run at the same time now"
    ]


async def _growing(
    chosen: Sequence[tuple[ComponentPods, Member]], world: World, jobs: frozenset[tuple[str, str]], solving: Solving
) -> list[ComponentPods]:
    """The components of a set that may have more pods, if not all of the set can run with the most that it may have."""
    growing = [component for component, _ in chosen if component.most > component.count]
    if not growing or solving.left() <= 0 or sum(component.most for component, _ in chosen) > MOST:
        return []
    await solving.rest()
    answer = await Group([member for _, member in chosen], world, (), solving, jobs).place()
    return growing if answer.placed is None and answer.decided else []


async def _hedged(members: Sequence[Member], world: World, solving: Solving) -> list[str]:
    """The warning about components with conditions on other pods that are left to the scheduler."""
    names = await taken(unplanned(members, world), solving)
    if not names:
        return []
    what = "what podAffinity, podAntiAffinity, topologySpreadConstraints or hostColocation say of other pods"
    return [f"{enumerated(names, _SAID)}: {what} is left to the scheduler: some pods may have to wait"]


def _warnings(members: Sequence[Member]) -> list[str]:
    """What the pods of the components are warned of; equal warnings once."""
    first: dict[str, str] = {}
    for member in members:
        for warning in member.warnings:
            first.setdefault(warning, member.names[0])
    return [f"component {name}: {warning}" for warning, name in list(first.items())[:_WARNINGS]]


def pools_used(pods: Sequence[PodsToJudge], namespace: str, world: World) -> Iterator[tuple[str, str]]:
    """The HostPools that the pods name, each with its clause."""
    for one in pods:
        ask, _ = read(one.pod, namespace, world)
        yield from ((pool.name, clause.text) for clause, pool in (*ask.pools, *ask.closed))
