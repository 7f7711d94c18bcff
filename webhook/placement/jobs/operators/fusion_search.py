"""``FusionSearch``: the best fusion of a Job with which all of it can run, fusing and placing as one problem.

Of a few operators every fusion is tried, in the order of the goals; of more one for each number of processing elements.
A fusion is tried by judging the Job that it makes as a whole (``docs/fusion.md``).
"""

import copy
import functools
import itertools
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.fusion.application import Application
from webhook.placement.fusion.fused_elements import fused, named, with_least_requests
from webhook.placement.fusion.graph import Contradiction, Graph, graph_of
from webhook.placement.fusion.partition import Partition, all_partitions
from webhook.placement.fusion.rules.mark import Setting
from webhook.placement.fusion.scheme import Scheme, asked_elements, divides, nearest_first, scheme_of
from webhook.placement.fusion.search import good_partition, refined
from webhook.placement.jobs.applied_job import applied_world, open_pools
from webhook.placement.jobs.element_pods import KnownPods, common_of, element_steps
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.operators.fusion_bound import CostBound, boundable, costs_of, without_isolation
from webhook.placement.jobs.operators.scaling import NOTHING, UNFUSED, EarlierFusion
from webhook.placement.jobs.refused_elements import RefusedElement, judged_alone
from webhook.placement.jobs.whole_job import AppliedJob, judged
from webhook.placement.kube.bits import to_slots
from webhook.placement.kube.quantity import NANO
from webhook.placement.objects.jobs.job_fusion import FusedElement
from webhook.placement.objects.jobs.job_spec import ELEMENT_LIMIT, JobSpec
from webhook.placement.objects.pool import Pool
from webhook.placement.planning.members import member_of
from webhook.placement.planning.search.solver import Brief, Solving, taken
from webhook.placement.pools.allocation import pool_of
from webhook.placement.request.world import World
from webhook.placement.spl.clauses import ClauseName, PoolName

ALL: Final = 8
"""Units of which every fusion is tried: of eight there are 4,140."""

_STEP: Final = 32
"""Fusions that are listed in some tenths of a millisecond."""

_NUMBERS: Final = 64
"""Maximum number of element counts tried if there are more units."""

_REFINED: Final = 0.5
"""The share of the time left for fusing elements again; the rest finds out whether all of them can run."""


class TriedFusion(Struct, frozen=True):
    """A fusion: the partition of the graph, its elements, and the Job that it makes."""

    graph: Graph
    partition: Partition
    elements: tuple[FusedElement, ...]
    spec: JobSpec


class FusionOutcome(Struct, frozen=True):
    """What was found: the fusion with which all can run, and the verdict on it; ``first`` is what is best by the goals.

    ``decided`` tells that nothing else is possible. ``wrong`` is why there is no fusion whatever the cluster is.
    ``alone`` are operators that no node can run, fused with others or not.
    """

    asked: int = 0
    found: TriedFusion | None = None
    verdict: JobVerdict | None = None
    first: TriedFusion | None = None
    decided: bool = True
    wrong: tuple[Contradiction, ...] = ()
    alone: tuple[RefusedElement, ...] = ()


def _of_operators(refused: RefusedElement, operators: Sequence[str]) -> RefusedElement:
    """The refusal of elements as that of their operators, since users have not seen the elements."""
    whose = f" (resources of processing element {refused.names[0]})"
    message, reason = (text.replace(whose, "") for text in (refused.message, refused.reason))
    return replace(refused, names=tuple(operators), message=message, reason=reason)


class FusionSearch:
    """The search for one Job in a ``cluster`` without it, which has fused its operators as ``earlier`` says."""

    def __init__(
        self, job: tuple[str, str], cluster: World, solving: Solving, earlier: EarlierFusion = UNFUSED
    ) -> None:
        self._known = KnownPods(job[1])
        self._latest: tuple[JobSpec, World, list[Pool]] | None = None
        self._job = job
        self._cluster = cluster
        self._solving = solving
        self._later = False
        self._scaling = earlier.scaling
        self._previous = earlier.elements
        self._stated: tuple[JobSpec, Application] | None = None
        self._before: Mapping[str, str] = {name: one.name for one in earlier.elements for name in one.operators}

    async def find(self, spec: JobSpec, application: Application) -> FusionOutcome:
        """The best fusion of the application, which is that of the Job or a part of it."""
        world, _ = await self._world(spec)
        graph = await self._graph(spec, application, world)
        if not isinstance(graph, Graph):
            return FusionOutcome(wrong=graph)
        return await self._fused(spec, graph, world)

    async def fails(self, spec: JobSpec, application: Application) -> bool:
        """Whether it is certain that no fusion lets all of the application run."""
        world, _ = await self._world(spec)
        graph = await self._graph(spec, application, world)
        if not isinstance(graph, Graph) or await self._impossible(spec, graph):
            return True
        outcome = await self._fused(spec, graph, world)
        return outcome.found is None and outcome.decided

    async def _graph(self, spec: JobSpec, application: Application, world: World) -> Graph | tuple[Contradiction, ...]:
        setting = self._setting(spec, application, world)
        return await self._solving.run(functools.partial(graph_of, application, setting))

    async def _fused(self, spec: JobSpec, graph: Graph, world: World) -> FusionOutcome:
        asked = asked_elements(spec, graph, _node_cpu(world))
        if len(graph.units) <= ALL or scheme_of(spec.fusion) is Scheme.LEGACY:
            return await self._exactly(spec, graph, asked)
        return await self._roughly(spec, graph, asked)

    async def _exactly(self, spec: JobSpec, graph: Graph, asked: int) -> FusionOutcome:
        """The first of all fusions, in the order of the goals, with which all can run."""
        able: dict[tuple[int, ...], bool] = {}
        first: TriedFusion | None = None
        decided = True
        for tried, partition in enumerate(await self._ordered(spec, graph, asked)):
            candidate = self._candidate(spec, graph, partition)
            if self._solving.left() <= 0:
                return FusionOutcome(asked, first=first or candidate, decided=False)
            if tried == 1 and await self._impossible(spec, graph):
                return FusionOutcome(asked, first=first)
            first = first or candidate
            if not await self._able(spec, candidate, able):
                continue
            verdict = await self._verdict(candidate.spec)
            if not verdict.refused and not verdict.undecided:
                return FusionOutcome(asked, candidate, verdict, first)
            decided = decided and not verdict.undecided
        return FusionOutcome(asked, first=first, decided=decided)

    async def _ordered(self, spec: JobSpec, graph: Graph, asked: int) -> list[Partition]:
        """All fusions that the scheme allows, the best ones first; some of them if time is over."""
        partitions: list[Partition] = []
        legacy = scheme_of(spec.fusion) is Scheme.LEGACY
        for at, partition in enumerate((_finest(graph),) if legacy else all_partitions(graph, self._before)):
            partitions.append(partition)
            if at % _STEP == 0:
                await self._solving.rest()
                if self._over():
                    break
        fitting = [one for one in partitions if len(one.blocks) <= ELEMENT_LIMIT and divides(spec, len(one.blocks))]
        return sorted(fitting, key=lambda one: (abs(len(one.blocks) - asked), len(one.blocks), one.goals))

    async def _roughly(self, spec: JobSpec, graph: Graph, asked: int) -> FusionOutcome:
        """A good fusion for each number of processing elements, until all can run."""
        first: TriedFusion | None = None
        alone = await self.alone(spec, graph)
        if alone:
            return FusionOutcome(asked, first=await anext(self._good(spec, graph, asked), None), alone=alone)
        async for candidate in self._good(spec, graph, asked):
            first = first or candidate
            verdict = await self._verdict(candidate.spec)
            if not verdict.refused and not verdict.undecided:
                return await self._refined(spec, FusionOutcome(asked, candidate, verdict, first), candidate)
            if candidate is first and await self._impossible(spec, graph):
                return FusionOutcome(asked, first=first)
            if self._solving.left() <= 0:
                break
        return FusionOutcome(asked, first=first, decided=first is None and not self._over() and _divided(spec, graph))

    async def _refined(self, spec: JobSpec, outcome: FusionOutcome, candidate: TriedFusion) -> FusionOutcome:
        """The outcome with a better fusion than the one that was found, if all can run with that one as well."""
        refining = Brief(self._solving, self._solving.left() * _REFINED)
        steps = refined(candidate.graph, candidate.partition, self._before, lambda: refining.left() <= 0)
        partition = await taken(steps, self._solving)
        if partition is candidate.partition:
            return outcome
        better = self._candidate(spec, candidate.graph, partition)
        verdict = await self._verdict(better.spec)
        if verdict.refused or verdict.undecided:
            return outcome
        first = better if outcome.first is candidate else outcome.first
        return replace(outcome, found=better, verdict=verdict, first=first)

    async def _impossible(self, spec: JobSpec, graph: Graph) -> bool:
        """Whether it is certain that no fusion fits, since even the costs of single units find no room."""
        if spec.resources is not None or not boundable(graph):
            return False
        finest = self._candidate(spec, graph, _finest(graph))
        costs = costs_of(graph, [element.name for element in finest.elements])
        world, pools = await self._world(finest.spec)
        staying = self._staying(finest.spec)
        # What may be fused anew is replaced then, and its new pod may run elsewhere.
        moving = {} if self._scaling.kept else {name: self._scaling.requests.get(name, {}) for name in staying}
        relaxed = fused(spec, without_isolation(graph.application), finest.elements)
        bound = CostBound(self._job, relaxed, costs, pools, {} if moving else staying, moving, self._known)
        return await bound.no_room(world, self._solving)

    async def _good(self, spec: JobSpec, graph: Graph, asked: int) -> AsyncIterator[TriedFusion]:
        known: set[tuple[tuple[int, ...], ...]] = set()
        for tried, count in enumerate(itertools.islice(nearest_first(spec, graph, asked), _NUMBERS)):
            if tried and self._solving.left() <= 0:
                return
            partition = await taken(good_partition(graph, count, self._before, self._over), self._solving)
            made = len(partition.blocks)
            if partition.blocks not in known and made <= ELEMENT_LIMIT and divides(spec, made):
                known.add(partition.blocks)
                yield self._candidate(spec, graph, partition)

    def _over(self) -> bool:
        return self._solving.left() <= 0

    async def alone(self, spec: JobSpec, graph: Graph) -> tuple[RefusedElement, ...]:
        """The units that no node can run, even if nothing is fused with them, by the names of their operators.

        There may be more if there is no time left afterwards.
        """
        if any(operator.template is not None for operator in graph.application.operators):
            return ()  # fused with one that has a template, others are pods of that template
        if not divides(spec, len(graph.units)):
            return ()  # among fewer elements what the Job requests may divide
        candidate = self._candidate(spec, graph, _finest(graph))
        world, pools = await self._world(candidate.spec)
        choices = open_pools(pools, world)
        chosen = frozenset((pool.namespace, pool.name) for pool in choices)
        operators = {element.name: element.operators for element in candidate.elements}
        place = {element.name: at for at, element in enumerate(candidate.elements)}
        refused: list[RefusedElement] = []
        for step in element_steps(self._job[1], candidate.spec, self._known):
            await self._solving.rest()
            if self._solving.left() <= 0:
                break
            stated, pod = step or ((), None)
            # What exists may run where nothing else could be put any more.
            names = [name for name in stated if not self._scaling.known(operators[name])]
            if pod is None or not names:
                continue
            member = member_of(names, len(names), pod, self._job[0], world, chosen)
            verdict = judged_alone(names, member, self._job[0], choices, world)
            if isinstance(verdict, RefusedElement) and not await self._cheaper(candidate, place[names[0]]):
                refused.append(_of_operators(verdict, [one for name in names for one in operators[name]]))
        return tuple(refused)

    async def _able(self, spec: JobSpec, candidate: TriedFusion, known: dict[tuple[int, ...], bool]) -> bool:
        """Whether each element can run by itself, as far as that does not depend on how many there are."""
        if spec.resources is not None:
            return True  # each number of elements has other shares
        staying = self._staying(candidate.spec)
        for place, block in enumerate(candidate.partition.blocks):
            if candidate.elements[place].name in staying:
                continue
            if block not in known:
                known[block] = not isinstance(await self._judged_alone(candidate, place), RefusedElement)
            if not known[block]:
                return False
        return True

    async def _cheaper(self, candidate: TriedFusion, place: int) -> bool:
        """Whether the element could run if it requested as little as it may when others are fused with it."""
        elements = [*(candidate.spec.processing_elements or ())]
        least = with_least_requests(elements[place], candidate.graph.application, candidate.spec)
        if least is None:
            return False
        elements[place] = least
        changed = replace(candidate, spec=replace(candidate.spec, processing_elements=tuple(elements)))
        return not isinstance(await self._judged_alone(changed, place), RefusedElement)

    async def _judged_alone(self, candidate: TriedFusion, place: int) -> object:
        await self._solving.rest()
        namespace, _ = self._job
        world, pools = await self._world(candidate.spec)
        choices = open_pools(pools, world)
        element = (candidate.spec.processing_elements or ())[place]
        names = (element.name or "",)
        pod = self._known.pod(names[0], element, candidate.spec, common_of(candidate.spec))
        member = member_of(names, 1, pod, namespace, world, frozenset((pool.namespace, pool.name) for pool in choices))
        return judged_alone(names, member, namespace, choices, world)

    async def _world(self, spec: JobSpec) -> tuple[World, list[Pool]]:
        """The world in which that Job is applied, and its HostPools; that of the latest Job is kept."""
        if self._latest is None or self._latest[0] is not spec:
            world, pools = await applied_world(
                *self._job, spec, self._cluster.inventory, self._cluster.policy, self._solving
            )
            self._latest = spec, (world.recovered() or world) if self._later else world, pools
        return self._latest[1:]

    async def recovering(self, spec: JobSpec) -> "FusionSearch | None":
        """The search in which passing conditions of nodes have ended; ``None`` if no node has one."""
        world, _ = await self._world(spec)
        if self._later or world.recovered() is None:
            return None
        return self._with(self._solving, later=True)

    def within(self, solving: Solving) -> "FusionSearch":
        """The search for the same Job in the time of ``solving``."""
        return self._with(solving, later=self._later)

    def _with(self, solving: Solving, *, later: bool) -> "FusionSearch":
        search = copy.copy(self)
        search._solving, search._later, search._latest = solving, later, None  # noqa: SLF001 -- of this class
        return search

    def edited(self, spec: JobSpec, application: Application) -> "FusionSearch":
        """The search for what this Job becomes once it is edited.

        What runs of it and would stay is not replaced yet, so it stays where it is, and counts with what it requests.
        """
        search = self._with(self._solving, later=self._later)
        search._stated = spec, application  # noqa: SLF001 -- of this class
        return search

    def _staying(self, spec: JobSpec) -> dict[str, str]:
        """The nodes of those elements of the fused Job that run and stay."""
        if self._scaling is NOTHING or self._stated is None:
            return self._scaling.staying(spec)
        elements = [
            FusedElement(one.name or "", tuple(operator.name or "" for operator in one.operators or ()))
            for one in spec.processing_elements or ()
        ]
        stated, application = self._stated
        return self._scaling.staying(fused(stated, application, elements))

    async def _verdict(self, spec: JobSpec) -> JobVerdict:
        """The verdict on the Job that a fusion makes."""
        world, pools = await self._world(spec)
        return await judged(self._applied(spec, pools), world, self._solving, brief=True)

    async def explained(self, spec: JobSpec) -> JobVerdict:
        """The verdict on the Job that a fusion makes; a refusal says what would help."""
        world, pools = await self._world(spec)
        return await judged(self._applied(spec, pools), world, self._solving)

    def _applied(self, spec: JobSpec, pools: Sequence[Pool]) -> AppliedJob:
        return AppliedJob(*self._job, spec, pools, self._staying(spec), self._known)

    def _candidate(self, spec: JobSpec, graph: Graph, partition: Partition) -> TriedFusion:
        operators = graph.application.operators
        groups = [
            [operators[member].name for member in sorted(one for at in block for one in graph.units[at].members)]
            for block in partition.blocks
        ]
        elements = named(self._job[1], groups, self._previous)
        return TriedFusion(graph, partition, elements, fused(spec, graph.application, elements))

    def _setting(self, spec: JobSpec, application: Application, world: World) -> Setting:
        """What the rules need to know of the cluster: which words mean one node, and which pools are exclusive."""
        declared = {pool.name: pool.mode == "Exclusive" for pool in spec.host_pools or ()}
        nodes: dict[str, str] = {}
        exclusive: set[str] = set()
        arguments = {clause.argument for one in application.operators for clause in one.of(ClauseName.HOST)}
        for text in (argument for argument in arguments if isinstance(argument, str)):
            slots = world.nodes_of_host(text)
            nodes[text] = f"slots {slots}" if slots else text
        for name in {argument.name for argument in arguments if isinstance(argument, PoolName)}:
            others = [] if name in declared else pool_of(name, *self._job, self._cluster.inventory)
            if declared.get(name) or any(pool.exclusive for pool in others):
                exclusive.add(name)
        type_ = spec.fusion.type if spec.fusion else None
        return Setting(type_ or "", exclusive=frozenset(exclusive), nodes=nodes, kept=self._scaling.kept)


def _divided(spec: JobSpec, graph: Graph) -> bool:
    """Whether it is certain that no number of elements is right: the rules demand more than each of them."""
    least = graph.least_elements()
    return all(count < least for count in nearest_first(spec, graph, least))


def _finest(graph: Graph) -> Partition:
    """Nothing is fused but what is fused in any case."""
    blocks = tuple((at,) for at in range(len(graph.units)))
    cut = sum(weight for at, near in enumerate(graph.near) for to, weight in near.items() if at < to)
    return Partition(blocks, (0, cut, 0, 0, tuple(range(len(blocks)))))


def _node_cpu(world: World) -> int:
    """The CPU of a usual node, in nano-units: half of the nodes have as much or more."""
    slots = to_slots(world.everything)
    if not len(slots):
        return NANO
    allocatable, _ = world.inventory.nodes.capacity.rows("cpu")
    return int(np.sort(allocatable[slots])[len(slots) // 2]) * (NANO // 1000)


def separations(graph: Graph, partition: Partition) -> Iterator[tuple[int, int, str]]:
    """Units with traffic between them in different elements, with the mark that keeps them apart, if one does."""
    place = {at: number for number, block in enumerate(partition.blocks) for at in block}
    for at, near in enumerate(graph.near):
        for to in near:
            if at < to and place[at] != place[to]:
                yield at, to, graph.clash(at, to)
