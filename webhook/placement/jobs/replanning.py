"""``replan_job``: the plan for the processing elements of a Job that are launched again, beside those that run.

What runs stays where it is. Only elements that have to share a node with others move together, if their node cannot
take those that wait and they may be restarted (``docs/jobs.md``, "Restarts of several elements").
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.elements.plan import PlannedNodes
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.applied_job import applied_world, open_pools
from webhook.placement.jobs.declared_pools import settled_hosts
from webhook.placement.jobs.element_pods import element_steps, positions
from webhook.placement.jobs.planned_nodes import planned_nodes
from webhook.placement.jobs.tolerant_elements import taken_from
from webhook.placement.kube.bits import Bits, union
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.objects.pool import Pool
from webhook.placement.planning.acceptance import accepted
from webhook.placement.planning.group import Group, Placed
from webhook.placement.planning.members import Member, member_of
from webhook.placement.planning.optional_hardware import equipped
from webhook.placement.planning.pinned import bounded, pinned
from webhook.placement.planning.plan import cheapest
from webhook.placement.planning.preemption import with_more_room
from webhook.placement.planning.search.solver import Brief, Solving
from webhook.placement.request.world import World
from webhook.placement.text.problem import enumerated

PROBE: Final = 0.2
"""Seconds for the question whether some more elements find a node."""

_SAID: Final = 3


class Standing(Struct, frozen=True):
    """How the elements of a Job stand: ``running`` ones with their nodes, and ``waiting`` ones, which need a node.

    ``sent`` has the nodes that pods which wait were sent to. ``movable`` are running elements that may be restarted.
    ``equipped`` are elements that had optional hardware, ``avoided`` pairs of an element and a node that is not planned
    for it. All other elements have ended.
    """

    running: Mapping[str, str]
    waiting: frozenset[str]
    sent: Mapping[str, str] = {}
    movable: frozenset[str] = frozenset()
    equipped: frozenset[str] = frozenset()
    avoided: frozenset[tuple[str, str]] = frozenset()


class Replanned(Struct, frozen=True):
    """The plan for what waits, with what runs; ``moved`` elements run, and are to be restarted.

    ``short`` are elements that find no node, each with why; ``together`` has, for each element that shares its node
    with others, all of these. ``members`` are what was placed. ``elastic`` tells that nodes may be added for elements
    that wait, ``undecided`` that there was too little time to know whether more of them find a node.
    """

    plan: PlannedNodes
    members: tuple[Member, ...] = ()
    moved: frozenset[str] = frozenset()
    short: Mapping[str, str] = {}
    together: Mapping[str, frozenset[str]] = {}
    elastic: bool = False
    undecided: bool = False


class _Unit(Struct, frozen=True):
    """Elements that have to share a node, or a single one: those that wait, and those that run."""

    waiting: tuple[str, ...]
    running: tuple[str, ...]
    kind: int

    @property
    def names(self) -> frozenset[str]:
        return frozenset((*self.waiting, *self.running))


async def replan_job(
    job: tuple[str, str], spec: JobSpec, inventory: Inventory, policy: Policy, solving: Solving, standing: Standing
) -> Replanned:
    """The plan; an element that fits on no node now may get one whose passing conditions have yet to end."""
    world, pools = await applied_world(*job, spec, inventory, policy, solving)
    search = _LaunchSearch(job, spec, pools, world, solving, standing)
    replanned, more = await search.run(), search.with_more_room()
    while replanned.short and more:
        search = _LaunchSearch(job, spec, pools, more, solving, standing)
        preempting, more = await search.run(), search.with_more_room()
        replanned = preempting if len(preempting.short) < len(replanned.short) else replanned
    later = world.recovered() if replanned.short else None
    if later is None:
        return replanned
    recovered = await _LaunchSearch(job, spec, pools, later, solving, standing).run()
    return recovered if len(recovered.short) < len(replanned.short) else replanned


class _LaunchSearch:
    """The search in one world."""

    def __init__(
        self,
        job: tuple[str, str],
        spec: JobSpec,
        pools: Sequence[Pool],
        world: World,
        solving: Solving,
        standing: Standing,
    ) -> None:
        self._job = job
        self._spec = spec
        self._world = world
        self._solving = solving
        self._standing = standing
        self._pools = open_pools(pools, world)
        self._settled = settled_hosts(pools, world)
        self._order = positions(job[1], spec)
        self._members: dict[str, Member] = {}
        """The member that each element belongs to, but for elements that cannot run even by themselves."""
        self._undecided = False
        self._split: frozenset[str] = frozenset()
        """Running elements that should share a node, and do not."""

    async def run(self) -> Replanned:
        """The plan."""
        standing = self._standing
        await self._read()
        units = [*self._units()]
        self._split = frozenset(
            name for unit in units for name in unit.running if len({standing.running[one] for one in unit.running}) > 1
        )
        waiting = frozenset(name for unit in units for name in unit.waiting)
        best = await self._placed(waiting, frozenset(), standing.sent)
        moved: frozenset[str] = frozenset()
        short = dict.fromkeys(standing.waiting - waiting, "no node can run it")
        if best is None or any(unit.waiting and self._split.intersection(unit.running) for unit in units):
            best, moved, without = await self._partly(units)
            short |= without
        together = {name: unit.names for unit in units for name in unit.names if len(unit.names) > 1}
        elastic = bool(self._world.node_groups) or any(self._members[name].ask.elastic for name in waiting)
        if best is None:
            nothing = PlannedNodes()
            return Replanned(nothing, short=short, together=together, elastic=elastic, undecided=self._undecided)
        wishing = {name: at for name, at in self._order.items() if name in waiting - short.keys() or name in moved}
        first = {name: at - len(self._order) * (name in standing.equipped) for name, at in wishing.items()}
        richer = await equipped(*best, first)
        plan = await cheapest(richer.group, richer.placed, exact=False)
        nodes = planned_nodes(richer.group, plan.placed, richer.given)
        return Replanned(nodes, richer.group.members, moved, short, together, elastic, self._undecided)

    def with_more_room(self) -> World | None:
        """The world in which preemption makes room for the elements; ``None`` if nothing can be preempted."""
        return with_more_room(self._members.values(), self._world)

    async def _read(self) -> None:
        """Read the demands of each element that runs or waits."""
        known = self._standing.waiting | self._standing.running.keys()
        choices = frozenset((pool.namespace, pool.name) for pool in self._pools)
        for element in element_steps(self._job[1], self._spec):
            await self._solving.rest()
            names, pod = element or ((), None)
            mine = [name for name in names if name in known]
            if pod is None or not mine:
                continue
            member = member_of(mine, len(mine), pod, self._job[0], self._world, choices)
            if isinstance(member, Member):
                able = bool(member.open())
                self._members |= {name: member for name in mine if able or name in self._standing.running}

    def _units(self) -> Iterator[_Unit]:
        """Elements that have to share a node together, then all others, each by itself; in the order of the Job."""
        of_key: dict[str, list[str]] = {}
        alone: list[str] = []
        for name in sorted(self._members, key=lambda name: self._order[name]):
            keys = sorted({key for demand in self._members[name].conditions for key in demand.together})
            if not keys:
                alone.append(name)
                continue
            united = [name, *(other for key in keys for other in of_key.get(key, ()))]
            joined = {key for key, names in of_key.items() if not {*names}.isdisjoint(united)} | {*keys}
            of_key |= {key: list(dict.fromkeys(united)) for key in joined}
        kinds: dict[int, int] = {}
        sets = [*dict.fromkeys(frozenset(names) for names in of_key.values()), *(frozenset((name,)) for name in alone)]
        for at, names in enumerate(sets):
            ordered = sorted(names, key=lambda name: self._order[name])
            kind = at if len(ordered) > 1 else kinds.setdefault(id(self._members[ordered[0]]), at)
            running = self._standing.running
            yield _Unit(
                tuple(name for name in ordered if name in self._standing.waiting and name not in running),
                tuple(name for name in ordered if name in running),
                kind,
            )

    async def _partly(
        self, units: Sequence[_Unit]
    ) -> tuple[tuple[Group, Placed] | None, frozenset[str], dict[str, str]]:
        """The units that find a node, the running elements that move, and the reason why the other units find none."""
        standing = self._standing
        best = await self._placed(frozenset(), frozenset(), {})

        async def fits(chosen: Sequence[_Unit]) -> bool:
            nonlocal best
            waiting = frozenset(name for unit in chosen for name in unit.waiting)
            placement = await self._placed(waiting, frozenset(), {})
            best = placement or best
            return placement is not None

        whole = [unit for unit in units if unit.waiting and self._split.isdisjoint(unit.running)]
        # What has fewest nodes to choose from comes first: it could not go elsewhere later.
        whole.sort(key=self._choice)
        accepted_units = await accepted(whole, fits, lambda unit: unit.kind) if best is not None else []
        placed = frozenset(name for unit in accepted_units for name in unit.waiting)
        moved: frozenset[str] = frozenset()
        short: dict[str, str] = {}
        for unit in units:
            if unit in accepted_units or not unit.waiting:
                continue
            movable = standing.movable.issuperset(unit.running)
            more = frozenset(unit.waiting), frozenset(unit.running)
            placement = await self._placed(placed | more[0], moved | more[1], {}) if unit.running and movable else None
            if placement is not None:
                best, placed, moved = placement, placed | more[0], moved | more[1]
            else:
                short |= dict.fromkeys(unit.waiting, self._why(unit))
        return best, moved, short

    def _choice(self, unit: _Unit) -> int:
        """How many nodes could run all of the unit, by all but room and others."""
        nodes = self._world.everything
        for name in unit.waiting:
            nodes &= self._members[name].open()
        return nodes.bit_count()

    async def _placed(
        self, waiting: AbstractSet[str], moved: AbstractSet[str], there: Mapping[str, str]
    ) -> tuple[Group, Placed] | None:
        """The nodes of these elements, beside those that run and are not ``moved``; ``there`` has fixed nodes."""
        members = [*self._composed(waiting | moved, there), *self._staying(moved)]
        stay = frozenset(self._standing.running) - moved
        settled = taken_from(self._pools, members, self._settled, self._world)
        group = Group(members, self._world, self._pools, self._solving, {self._job: stay}, settled)
        answer = await group.with_members(members, Brief(self._solving, PROBE)).place()
        self._undecided |= not answer.decided
        return None if answer.placed is None else (group, answer.placed)

    def _composed(self, names: AbstractSet[str], there: Mapping[str, str]) -> Iterator[Member]:
        for member, node, mine in self._grouped(names, there):
            some = replace(member, names=tuple(mine), count=len(mine))
            if node:
                yield bounded(some, self._world.named(node))
            elif self._standing.avoided:
                yield from self._avoiding(some)
            else:
                yield some

    def _avoiding(self, member: Member) -> Iterator[Member]:
        """The member, in parts by the nodes that are not planned for its elements."""
        parts: dict[Bits, list[str]] = {}
        for name in member.names:
            closed = union(self._world.named(node) for one, node in self._standing.avoided if one == name)
            parts.setdefault(closed, []).append(name)
        for closed, names in parts.items():
            some = replace(member, names=tuple(names), count=len(names))
            yield bounded(some, self._world.everything & ~closed)

    def _staying(self, moved: AbstractSet[str]) -> Iterator[Member]:
        running = {name: node for name, node in self._standing.running.items() if name not in moved}
        for member, node, mine in self._grouped(running.keys(), running):
            some = replace(member, names=tuple(mine), count=len(mine))
            yield pinned(some, node, self._pools, self._world, apart=not self._split.isdisjoint(mine))

    def _grouped(self, names: Iterable[str], nodes: Mapping[str, str]) -> Iterator[tuple[Member, str, list[str]]]:
        """The elements by their member and the node that is given for them."""
        groups: dict[tuple[int, str], list[str]] = {}
        for name in sorted(names, key=lambda name: self._order.get(name, 0)):
            if name in self._members:
                groups.setdefault((id(self._members[name]), nodes.get(name, "")), []).append(name)
        for (_, node), mine in groups.items():
            yield self._members[mine[0]], node, mine

    def _why(self, unit: _Unit) -> str:
        """Why the elements of the unit find no node."""
        if not unit.running:
            return "no node has room for it beside the running pods"
        nodes = enumerated(sorted({self._standing.running[name] for name in unit.running}), _SAID)
        verb = "runs" if len(unit.running) == 1 else "run"
        said = f"{enumerated(unit.running, _SAID)} of its colocation {verb} on {nodes}, where it cannot run"
        fixed = [name for name in unit.running if name not in self._standing.movable]
        if not fixed:
            return f"{said}, and no node has room for all of them"
        return f"{said}, and {enumerated(fixed, _SAID)} must not be restarted"
