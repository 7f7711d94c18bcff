"""A proof that no fusion of a large Job fits: even the costs of its single units find no room.

Whatever is fused, each unit is on some node that meets its clauses, and takes at least what its operators cost there.
So the units are placed by themselves, and all that a pod requests beyond these costs is left out. ``hostIsolation`` is
left out too: operators may share a processing element with an isolated one. Where fusing could give a unit more nodes,
nothing is proved.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.constraints.constraint import StandingConstraint
from webhook.placement.fusion.application import Application
from webhook.placement.fusion.graph import Graph
from webhook.placement.jobs.applied_job import open_pools
from webhook.placement.jobs.declared_pools import settled_hosts
from webhook.placement.jobs.element_pods import KnownPods, element_steps
from webhook.placement.jobs.tolerant_elements import taken_from
from webhook.placement.jobs.whole_job import pinned_members
from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.quantity import NANO
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.objects.pool import Pool
from webhook.placement.planning.group import Group
from webhook.placement.planning.members import Demand, Member, member_of, requests_of
from webhook.placement.planning.preemption import with_more_room
from webhook.placement.planning.search.solver import Solving
from webhook.placement.request.world import World
from webhook.placement.spl.clauses import ClauseName

_OPENING: Final = frozenset(
    {
        "nodeName",
        "preemptionPolicy",
        "priority",
        "priorityClassName",
        "runtimeClassName",
        "schedulerName",
        "tolerations",
    }
)
"""Fields of a pod's spec by which it may run where other pods may not."""


def boundable(graph: Graph) -> bool:
    """Whether single units have at least the nodes that they would have in a processing element with others."""
    return not any(_opens(operator.template) for operator in graph.application.operators)


def without_isolation(application: Application) -> Application:
    """The application whose operators share their hosts with any others."""
    operators = (
        replace(one, clauses=tuple(clause for clause in one.clauses if clause.name is not ClauseName.ISOLATION))
        for one in application.operators
    )
    return replace(application, operators=tuple(operators))


def _opens(template: object) -> bool:
    if not isinstance(template, dict):
        return False
    return bool(template.get("metadata")) or not _OPENING.isdisjoint(template.get("spec") or {})


class CostBound(Struct, frozen=True):
    """The units of a ``job`` with what they cost; ``finest`` is the Job with an element for each unit, none isolated.

    ``costs`` are by the names of these elements. ``staying`` are the nodes of elements that run there whatever is
    fused, ``moving`` the requests of those that run and would be replaced if they were fused with others, and ``pools``
    the HostPools that the Job declares. ``known`` are pods of elements that were made before.
    """

    job: tuple[str, str]
    finest: JobSpec
    costs: Mapping[str, Tally]
    pools: Sequence[Pool]
    staying: Mapping[str, str]
    moving: Mapping[str, Tally] = {}
    known: KnownPods | None = None

    async def no_room(self, world: World, solving: Solving) -> bool:
        """Whether it is certain that the units find no room, not even where pods are preempted."""
        more: World | None = world
        while more is not None:
            members = await self._members(more, solving)
            if members is None:
                return False
            choices = open_pools(self.pools, more)
            others = taken_from(choices, members, settled_hosts(self.pools, more), more)
            there = {self.job: frozenset(self.staying)}
            answer = await Group(members, more, choices, solving, there, others).place()
            if answer.placed is not None or not answer.decided:
                return False
            more = with_more_room(members, more)
        return True

    async def _members(self, world: World, solving: Solving) -> list[Member] | None:
        """The units with their costs alone; ``None`` if more restricts their nodes, or time is over."""
        choices = open_pools(self.pools, world)
        chosen = frozenset((pool.namespace, pool.name) for pool in choices)
        members: list[Member] = []
        for step in element_steps(self.job[1], self._bare(), self.known):
            await solving.rest()
            if solving.left() <= 0:
                return None
            names, pod = step or ((), None)
            if pod is None:
                continue
            members += pinned_members(names, pod, self.job[0], world, choices, self.staying)
            fresh = [name for name in names if name not in self.staying]
            if fresh:
                member = member_of(fresh, len(fresh), pod, self.job[0], world, chosen)
                own = _least([self._cost(name) for name in fresh])
                if not isinstance(member, Member) or member.ask.elastic or _less(requests_of(member.conditions), own):
                    return None
                # A pod that runs stays where no other one could be put any more.
                anywhere = not self.moving.keys().isdisjoint(fresh)
                members.append(_costing(member, own, world, anywhere=anywhere))
        return members

    def _cost(self, name: str) -> Tally:
        """The costs of a unit; a pod that runs takes no more than it requests."""
        own = self.costs[name]
        if name not in self.moving:
            return own
        return {key: min(amount, self.moving[name].get(key, 0)) for key, amount in own.items()}

    def _bare(self) -> JobSpec:
        """The Job whose units have no templates, which would demand more of nodes."""
        elements = (
            element if element.name in self.staying else replace(element, template=None)
            for element in self.finest.processing_elements or ()
        )
        return replace(self.finest, processing_elements=tuple(elements))


def costs_of(graph: Graph, names: Collection[str]) -> dict[str, Tally]:
    """What the operators of each unit cost, by the names of the elements that have one unit each."""
    operators = graph.application.operators
    amounts_of: dict[str, Tally] = {}
    for name, unit in zip(names, graph.units, strict=True):
        cpu = sum(operators[at].cost or 0 for at in unit.members) // (NANO // 1000)
        memory = sum(operators[at].memory or 0 for at in unit.members) // NANO
        amounts_of[name] = {key: amount for key, amount in (("cpu", cpu), ("memory", memory)) if amount}
    return amounts_of


def _least(costs: Sequence[Tally]) -> Tally:
    return {key: min(one.get(key, 0) for one in costs) for key in costs[0]}


def _less(requests: Tally, own: Tally) -> bool:
    """Whether the pod requests less than its operators cost: something else decides what it requests."""
    return any(requests.get(key, 0) < amount for key, amount in own.items())


def _costing(member: Member, own: Tally, world: World, *, anywhere: bool) -> Member:
    """The member that requests this alone, and demands nothing else if it may be ``anywhere``."""
    demands = () if anywhere else tuple(replace(demand, requests={}) for demand in member.conditions)
    return replace(member, conditions=(*demands, Demand(None, world.everything, StandingConstraint(), requests=own)))
