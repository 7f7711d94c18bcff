"""Whether a Job that the nodes there are cannot run would run with nodes that node groups make.

The same search is asked again, with new nodes of all groups beside those there are (``docs/autoscaled.md``, "Whole
Jobs"). Only a Job that would be refused is looked at, and only with ``scaleUp: auto``.
"""

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.decision.scale_up import (
    ScaleUp,
    alternatives_of,
    later_world,
    scale_up,
    unknown_amounts,
    waits_for_new,
)
from webhook.placement.decision.verdict import constraints_of, judge
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.pool_index import Name
from webhook.placement.jobs.applied_job import applied_world, open_pools
from webhook.placement.jobs.declared_pools import cannot_be_had, settled_hosts
from webhook.placement.jobs.element_pods import element_steps
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.tolerant_elements import taken_from, tolerance_problems
from webhook.placement.jobs.whole_job import (
    NOUN,
    AppliedJob,
    element_warnings,
    judge_job,
    judged,
    judged_or_recovered,
    worked_out,
)
from webhook.placement.kube.amounts import PODS, SAID, amount, ordered
from webhook.placement.kube.bits import Bits
from webhook.placement.nodegroups.group_reasons import GroupReason, listed_reasons, named
from webhook.placement.nodegroups.new_node import Needs, NewNode, ignored
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.nodegroups.possible_nodes import PossibleNodes, possible_nodes
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.objects.pool import Pool
from webhook.placement.planning.group import Group, GroupAnswer, Placed
from webhook.placement.planning.members import Member, member_of, requests_of
from webhook.placement.planning.preemption import with_more_room
from webhook.placement.planning.search.assignment import Key
from webhook.placement.planning.search.solver import Solving, taken
from webhook.placement.planning.wider_group import GroupLimits, NewNodes, WiderGroup
from webhook.placement.request.world import World
from webhook.placement.text.problem import Fault, counted, enumerated

NODES: Final = 2_000
"""At most so many new nodes of all groups are looked at."""

_WAYS: Final = 64
"""At most so many alternatives of one pod's node terms are looked at."""

_COMPARED: Final = 10_000
"""So many kinds of pods are compared with groups, at some 10 microseconds each."""

_NAMED: Final = 3
"""At most so many groups, and so many elements, are named in a warning."""

UNDECIDED: Final = (
    "whether node groups can make nodes on which all processing elements can run was not decided: "
    "some of them may have to wait"
)
"""The warning for a Job that the nodes there are cannot run, and that is admitted without a decision."""


class GroupNodes(Struct, frozen=True):
    """So many nodes that a group would make for a Job; ``unknown`` is what the pods need and is not known of them."""

    group: NodeGroup
    count: int
    unknown: tuple[str, ...] = ()

    def __str__(self) -> str:
        """As warnings say it: ``2 nodes of NodePool fast (if each has cpu 8)``."""
        least = "at least " if self.unknown else ""
        doubt = f" (if each has {enumerated(self.unknown, SAID)})" if self.unknown else ""
        return f"{least}{counted(self.count, 'node')} of {named(self.group)}{doubt}"


class JobScaleUp(Struct, frozen=True):
    """What node groups can do for a Job: ``made`` are the nodes for the elements ``waiting``, of ``total``.

    It may be about a workload, or a pod, instead: the ``noun`` of what is ``waiting`` is then ``pod``.
    Without ``made`` no group can help for the ``reasons``, or it was not ``decided``.
    """

    made: tuple[GroupNodes, ...] = ()
    waiting: tuple[str, ...] = ()
    total: int = 0
    noun: str = NOUN
    reasons: tuple[str, ...] = ()
    decided: bool = True
    warnings: tuple[str, ...] = ()
    """What the pods of the elements are warned of."""
    pools: tuple[Pool, ...] = ()
    """HostPools whose hosts are chosen together with the nodes of the elements."""
    taken: Mapping[Name, Bits] = {}
    """Nodes that these must not have."""

    @property
    def notice(self) -> str:
        """That the Job, or workload, waits for new nodes, as a warning."""
        if not self.made:
            return UNDECIDED.replace(NOUN, self.noun)
        who = f"{len(self.waiting)} of {counted(self.total, self.noun)}"
        who += f" ({enumerated(self.waiting, _NAMED)})" if self.noun == NOUN else ""
        return f"no room yet for {who}: node groups can make {enumerated(self.made, _NAMED)}"


class Beside(Struct, frozen=True, eq=False):
    """What a Job is judged beside: the members of ``group`` stay on nodes there are, those ``waiting`` need not."""

    group: Group
    waiting: Group


class _Scaling(Struct, frozen=True, eq=False):
    """A Job for which new nodes are looked for: its ``own`` members, which come first in the ``group``.

    ``pools`` are those of its HostPools whose hosts are yet to be chosen, ``taken`` nodes that these must not have.
    ``ways`` are what each member of the group wants of labels, in any one way; ``sure`` tells for each of those that
    need no node there is whether these are all of its ways. ``ignored`` tells for each member of the group whether
    Karpenter makes no node for it, in whichever way it has what Karpenter ignores pods for.
    """

    own: tuple[Member, ...]
    group: Group
    pools: tuple[Pool, ...]
    taken: Mapping[Name, Bits]
    ways: tuple[tuple[Needs, ...], ...]
    sure: tuple[bool, ...]
    ignored: tuple[bool, ...]
    noun: str = NOUN


async def judge_scaled_job(
    job: tuple[str, str], spec: JobSpec, inventory: Inventory, policy: Policy, solving: Solving
) -> JobVerdict:
    """The verdict on a Job of elements, with the nodes that node groups can make where the setting is on."""
    if not World(inventory, policy).node_groups:
        return await judge_job(*job, spec, inventory, policy, solving)
    world, pools = await applied_world(*job, spec, inventory, policy, solving)
    applied = AppliedJob(*job, spec, pools)
    found: list[JobScaleUp] = []

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
        found.append(scaled)
        return verdict

    verdict = await judged_or_recovered(judge, world)
    if not verdict.refused or not found or verdict.fault is Fault.INVALID:
        return verdict
    return told(verdict, found[-1].reasons)


def told(verdict: JobVerdict, reasons: Sequence[str]) -> JobVerdict:
    """The verdict on a refused Job with the reason of each group before its fix."""
    refusal = verdict.refusal and verdict.refusal.with_reasons(reasons)
    return replace(verdict, refusal=refusal, text=refusal.text) if refusal else verdict


async def scale_up_job(
    job: AppliedJob, world: World, solving: Solving, beside: Beside | None = None
) -> JobScaleUp | None:
    """What node groups can do for a Job that is refused in that world; ``None`` if new nodes make no difference.

    They make none for what is wrong with the Job itself, and for its HostPools: hosts are nodes that exist.
    """
    nothing = Group((), world, (), solving, ((job.namespace, job.name),))
    scaling = await _scaling(job, world, solving, beside or Beside(nothing, nothing))
    if not isinstance(scaling, _Scaling):
        return scaling
    found = await _scaled(scaling, world)
    return await scale_up_job(job, found, solving, beside) if isinstance(found, World) else found


async def scale_up_workload(members: Sequence[Member], world: World, solving: Solving, beside: Beside) -> JobScaleUp:
    """What node groups can do for the pods of a workload, or a single pod, that are refused in that world."""
    found = await _scaled(await _with_others(members, world, solving, beside, noun="pod"), world)
    return await scale_up_workload(members, found, solving, beside) if isinstance(found, World) else found


async def _scaled(scaling: _Scaling, world: World) -> JobScaleUp | World:
    """The answer; if the scheduler can free room that may be enough, the world with that room."""
    groups = world.node_groups
    possible, skipped = await _possible(groups, scaling, world)
    kinds = [(group, new) for group, found in enumerate(possible) for new in found.nodes]
    able = await _able(kinds, scaling, world)
    useful = [at for at in range(len(kinds)) if any(own >> at & 1 for own in able)]
    chosen = [kinds[at] for at in useful]
    counts, cut = _counts(chosen, groups, scaling.group.members)
    new = [NewNodes(group, one.node.allocatable, count) for (group, one), count in zip(chosen, counts, strict=True)]
    placeable = [sum(1 << to for to, at in enumerate(useful) if own >> at & 1) for own in able]
    wider = WiderGroup(scaling.group, placeable, new, [GroupLimits(group.count, group.left) for group in groups])
    answer = await wider.place()
    if answer.placed is not None:
        own = replace(answer.placed, slots=answer.placed.slots[: len(scaling.own)])
        return _waiting(scaling, *_made(wider, own, groups, [one for _, one in chosen]))
    if more := with_more_room(scaling.group.stated, world) if answer.decided else None:
        return more
    known = zip(scaling.own, able, scaling.sure, strict=False)
    nowhere = [member for member, new, sure in known if sure and not new and not member.open()]
    bounded = cut or not all(scaling.sure) or not all(found.complete for found in possible)
    if not answer.decided or skipped or (bounded and not nowhere):
        return JobScaleUp(decided=False, noun=scaling.noun)
    mine = {kinds[at][0] for at in useful if any(own >> at & 1 for own in able[: len(scaling.own)])}
    return JobScaleUp(noun=scaling.noun, reasons=tuple(_reasons(nowhere, groups, mine, wider, scaling)))


async def _scaling(job: AppliedJob, world: World, solving: Solving, beside: Beside) -> _Scaling | JobScaleUp | None:
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
    return await _with_others(members, world, solving, beside, choices=choices, own_taken=own_taken)


async def _with_others(  # noqa: PLR0913 -- what is asked for, and beside what
    members: Sequence[Member],
    world: World,
    solving: Solving,
    beside: Beside,
    *,
    choices: Sequence[Pool] = (),
    own_taken: Mapping[Name, Bits] = {},
    noun: str = NOUN,
) -> _Scaling:
    """These members beside others, with what each of them wants of the labels of new nodes."""
    others = {**beside.group.taken, **beside.waiting.taken, **own_taken}
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
    return _Scaling(tuple(members), group, tuple(choices), own_taken, ways, sure, odd, noun)


def _ways(member: Member, world: World) -> Iterator[Needs]:
    """What labels a new node needs for the member, in each way; none if the member can run on no new node."""
    constraints = tuple(member.verdict.constraints)
    if waits_for_new(member.ask, constraints):
        yield from alternatives_of(member.ask, constraints, world)


async def _possible(groups: Sequence[NodeGroup], scaling: _Scaling, world: World) -> tuple[list[PossibleNodes], bool]:
    """The different nodes of each group, and whether some were left out since there are too many of them or of pods."""
    wanted: dict[object, Needs] = {}
    for needs in itertools.chain.from_iterable(scaling.ways):
        wanted.setdefault(tuple(sorted(needs.items(), key=lambda item: item[0])), needs)
    known = world.inventory.nodes.labels

    def live(key: str) -> Collection[str]:
        return known.get(key, ())

    found: list[PossibleNodes] = []
    skipped, left = False, NODES
    for at, group in enumerate(groups):
        await scaling.group.solving.rest()
        beyond = (at + 1) * len(wanted) > _COMPARED or not left
        skipped = skipped or (beyond and not group.closed)
        if group.closed or beyond or not wanted:
            found.append(PossibleNodes(group, ()))
            continue
        steps = possible_nodes(group, [*wanted.values()], scaling.group.resources, live)
        possible = await taken(steps, scaling.group.solving)
        skipped = skipped or len(possible.nodes) > left
        found.append(replace(possible, nodes=possible.nodes[:left]))
        left -= len(found[-1].nodes)
    return found, skipped


async def _able(kinds: Sequence[tuple[int, NewNode]], scaling: _Scaling, world: World) -> list[Bits]:
    """For each member, the positions of the new nodes that can run it."""
    inventory = Inventory()
    for _, new in kinds:
        await scaling.group.solving.rest()
        inventory.set_node(new.node)
    later = later_world(inventory, world)
    groups = world.node_groups
    others = sum(1 << at for at, (group, _) in enumerate(kinds) if groups[group].unstated != "excluded")
    able: list[Bits] = []
    for member, ways, odd in zip(scaling.group.stated, scaling.ways, scaling.ignored, strict=True):
        await scaling.group.solving.rest()
        constraints = constraints_of(member.ask, later).constraints if ways and kinds else ()
        found = judge(constraints, later).candidates if constraints else 0
        able.append(found & others if odd else found)
    return able


def _counts(
    kinds: Sequence[tuple[int, NewNode]], groups: Sequence[NodeGroup], members: Sequence[Member]
) -> tuple[list[int], bool]:
    """How many nodes of each kind could be useful, and whether fewer are looked at.

    On nodes that have room for everything, pods that avoid no others share one.
    """
    asked: Counter[str] = Counter()
    for member in members:
        asked.update({name: needed * member.count for name, needed in requests_of(member.conditions).items()})
    total = sum(member.count for member in members)
    alone = sum(member.count for member in members if any(found.avoids or found.limit for found in member.conditions))
    counts = []
    for at, new in kinds:
        roomy = all(new.node.allocatable[name] >= needed for name, needed in asked.items())
        useful = min(total, alone + 1) if roomy else total
        most = groups[at].count
        counts.append(useful if most is None else min(useful, most))
    if sum(counts) <= NODES:
        return counts, False
    share = NODES // len(kinds)
    return [min(count, share) for count in counts], True


def _waiting(scaling: _Scaling, made: Iterable[GroupNodes], waiting: Sequence[str]) -> JobScaleUp:
    """The answer about a Job that fits with the nodes ``made``, on which those elements run."""
    return JobScaleUp(
        tuple(made),
        tuple(waiting),
        sum(member.count for member in scaling.own),
        scaling.noun,
        decided=bool(waiting),
        warnings=tuple(element_warnings(scaling.own)),
        pools=scaling.pools,
        taken=scaling.taken,
    )


def _made(
    wider: WiderGroup, placed: Placed, groups: Sequence[NodeGroup], nodes: Sequence[NewNode]
) -> tuple[Iterator[GroupNodes], list[str]]:
    """The new nodes that the plan uses by group, and the names of the elements there."""
    waiting: list[str] = []
    used: dict[int, dict[int, list[Member]]] = {}
    unknown: dict[int, dict[str, None]] = {}
    for member, places in zip(wider.members, placed.slots, strict=False):
        names = member.names if len(member.names) == len(places) else member.names * len(places)
        for name, slot in zip(names, places, strict=True):
            if (new := wider.new_at(slot)) is None:
                continue
            waiting.append(name)
            used.setdefault(new.of, {}).setdefault(slot, []).append(member)
            for key in nodes[wider.new.index(new)].unknown:
                unknown.setdefault(new.of, {})[f"the label {key}"] = None
    found = (
        GroupNodes(groups[of], len(here), (*_doubts(groups[of], here), *unknown.get(of, ())))
        for of, here in sorted(used.items())
    )
    return found, waiting


def _doubts(group: NodeGroup, here: Mapping[int, Sequence[Member]]) -> Iterator[str]:
    """What a node needs for the largest pods on it, or for the largest set that shares it, and is not known."""
    most: dict[str, int] = {}
    for members in here.values():
        for asked in _together(members):
            for resource, needed in asked.items():
                most[resource] = max(needed, most.get(resource, 0))
    yield from unknown_amounts(group, most, (member.ask for members in here.values() for member in members))


def _together(members: Sequence[Member]) -> Iterator[Mapping[str, int]]:
    """What each pod of these members requests, or each set of pods that have to share a node."""
    sets: list[tuple[set[Key], Counter[str]]] = []
    for member in members:
        keys = {key for found in member.conditions for key in found.together}
        asked = Counter(requests_of(member.conditions))
        if not keys:
            yield asked
            continue
        others = []
        for known, requested in sets:
            if keys.isdisjoint(known):
                others.append((known, requested))
            else:
                keys |= known
                asked.update(requested)
        sets = [*others, (keys, asked)]
    yield from (asked for _, asked in sets)


def _reasons(
    nowhere: Sequence[Member], groups: Sequence[NodeGroup], able: Iterable[int], wider: WiderGroup, scaling: _Scaling
) -> Iterator[str]:
    """Why each group cannot help: for elements that could run ``nowhere``, or what it makes in all."""
    world, noun = scaling.group.world, scaling.noun
    if nowhere:
        yield from next((one.reasons for one in _alone(nowhere, world)), ())
        return
    useful = frozenset(able)
    first = _alone(wider.members[:1], world) if len(useful) < len(groups) else ()
    own = {reason.group.place: reason.why for one in first for reason in one.out}
    none = f"makes no nodes for any of these {noun}s"
    found = [
        group.closed or (_most(group, wider, noun) if at in useful else own.get(group.place, none))
        for at, group in enumerate(groups)
    ]
    yield from listed_reasons(list(map(GroupReason, groups, found)), "do not make enough either")


def _alone(members: Iterable[Member], world: World) -> Iterator[ScaleUp]:
    """What groups can make for these members by themselves; nothing for members that name nodes that exist."""
    found = (scale_up(member.ask, tuple(member.verdict.constraints), world) for member in members)
    return (one for one in found if one and (one.out or one.uncompared))


def _most(group: NodeGroup, wider: WiderGroup, noun: str) -> str:
    """What the group makes at most, which is not enough."""
    asked = frozenset(wider.resources) - {PODS}
    offers = [f"{name} {amount(name, group.offers[name])}" for name in ordered(group.offers) if name in asked]
    left = [f"{name} {amount(name, group.left[name])}" for name in ordered(group.left) if name in asked]
    nodes = "nodes" if group.count is None else f"only {counted(group.count, 'more node')}"
    each = f" with {enumerated(offers, SAID)}" if offers else ""
    made = [f"makes {nodes}{each}"] if offers or group.count is not None else []
    rest = [f"has {enumerated(left, SAID)} left of its limits"] if left else []
    if not made and not rest:
        return f"makes no nodes for some of these {noun}s"
    return f"{', and '.join((*made, *rest))}, which is not enough"
