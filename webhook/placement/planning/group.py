"""``Group``: all pods that are to run at the same time, judged as a whole against what is free in the cluster.

A group is asked with some of its pods or without some of its clauses, so that a refusal can say what cannot hold
together. Room is what is free now, since nothing says that running pods will end; pods that are being deleted, and
those of a job that is to be restarted, count as gone.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.constraints.topology_limit import holding
from webhook.placement.inventory.capacity import Row
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.bits import Bits, to_slots, union
from webhook.placement.objects.pool import Pool
from webhook.placement.planning.change import SAME, Change
from webhook.placement.planning.counted_devices import counting_devices, devices_of
from webhook.placement.planning.free_room import MOST, Restarting, free_room
from webhook.placement.planning.members import Demand, Member, isolated_kins, requests_of
from webhook.placement.planning.mutual_avoidance import avoiding
from webhook.placement.planning.priority_levels import counts as counting
from webhook.placement.planning.priority_levels import levels, takes
from webhook.placement.planning.search.assignment import (
    Assignment,
    AssignmentProblem,
    Block,
    HostNeed,
    PoolChoice,
    in_order,
)
from webhook.placement.planning.search.costs import Costs
from webhook.placement.planning.search.solver import Assigned, Solving, Unhurried, assign
from webhook.placement.planning.shared_node import Kept, named, split, united
from webhook.placement.pools.allocation import eligible
from webhook.placement.request.world import World

Sets = list[tuple[tuple[int, int], ...]]
"""For each set of pods of a block: positions of members, and how many pods of each."""


_SMALL: Final = 16
"""Up to so many pods and nodes a question takes about a millisecond, so questions are counted and not their time."""


class Placed(Struct, frozen=True, eq=False):
    """Where a group goes: for each member the slots of its pods, ascending, and the hosts of each pool by index."""

    slots: tuple[tuple[int, ...], ...]
    hosts: Mapping[Name, Mapping[int, int]] = {}


class GroupAnswer(Struct, frozen=True, eq=False):
    """``placed`` is where all pods can go; without it, ``decided`` tells that there is no way.

    ``short`` are positions of members that counts prove not to fit.
    """

    placed: Placed | None
    decided: bool = True
    short: tuple[int, ...] = ()


class Group:
    """Members, and the HostPools whose hosts are chosen with them; ``taken`` are nodes that a pool must not have.

    Of the jobs that are ``restarting`` those pods count as gone that are leaving the world; as a mapping it has, for
    each job, processing elements whose pods stay.
    """

    _fewest: ClassVar[int] = 2
    """Devices that fewer members want are not counted: the limit of the one member counts them."""

    def __init__(
        self,
        members: Sequence[Member],
        world: World,
        pools: Sequence[Pool],
        solving: Solving,
        restarting: Restarting = (),
        excluded: Mapping[Name, Bits] = {},
    ) -> None:
        self.stated = tuple(members)
        """The members without what their own terms demand of each other."""
        self.members, self.counted = counting_devices(avoiding(members, world), world, self._fewest)
        """The members, and by name the devices that they request as they do resources."""
        self.world = world
        self.pools = tuple(pools)
        self.solving = solving
        self.excluded = excluded
        """Nodes that a pool must not have."""
        self.restarting = restarting
        """Jobs whose pods make room."""
        self.isolated = isolated_kins(self.members)
        """The kins of which pods are isolated, by the key of all pods of their job."""
        self._slots = to_slots(world.everything)
        requested = {resource for member in members for one in member.conditions for resource in one.requests}
        self.resources = sorted({*requested, *self.counted})
        self._levels = levels(self.members, world)
        self._free = np.concatenate([self.room(level) for level in self._levels])
        self._known: dict[object, GroupAnswer] = {}
        self._masks: dict[tuple[Bits, int, bool], npt.NDArray[np.bool_]] = {}

    def with_members(self, members: Sequence[Member], solving: Solving | None = None) -> "Group":
        """A group of other members in the same world, with the same pools."""
        return Group(members, self.world, self.pools, solving or self.solving, self.restarting, self.excluded)

    def unhurried(self) -> "Group":
        """The group, of which questions are counted in place of their time if it is small."""
        return self.with_members(self.stated, Unhurried(self.solving)) if self.small else self

    @property
    def counts(self) -> tuple[int, ...]:
        """How many pods each member has."""
        return tuple(member.count for member in self.members)

    @property
    def slots(self) -> npt.NDArray[np.intp]:
        """The slots of the nodes, ascending."""
        return self._slots

    @property
    def in_time(self) -> bool:
        """Whether there is time left for another question."""
        return self.solving.left() > 0

    def free(self, resource: str, member: Member | None = None) -> npt.NDArray[np.int64]:
        """What is free of a resource that a member requests, on each node in the order of slots.

        That is what is free for the member, or for those of the highest priority.
        """
        covered = [at for at, level in enumerate(self._levels) if member is None or takes(member, level, self.world)]
        row: npt.NDArray[np.int64] = self._free[covered[-1] * len(self.resources) + self.resources.index(resource)]
        return row

    def room(self, level: int | None) -> npt.NDArray[np.int64]:
        """What is free for a level: a row for each of the resources, and in it the nodes in the order of slots."""
        free = free_room(self.world, self.resources, self._slots, self.restarting, level)
        return self._with_devices(free, self._slots)

    def _with_devices(self, room: npt.NDArray[np.int64], slots: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
        """The room, with all devices that the nodes in these slots have: others give theirs back."""
        for name, devices in self.counted.items():
            room[self.resources.index(name)] = devices.row[slots]
        return room

    def eligible(self, pool: Pool) -> Bits:
        """The nodes that could be hosts of the pool."""
        able = eligible(pool, self.world.inventory, self.world.policy)
        return able & ~self.excluded.get((pool.namespace, pool.name), 0)

    def kept_from(self, pool: Pool) -> Bits:
        """The nodes that could be hosts of the pool, but must not."""
        able = eligible(pool, self.world.inventory, self.world.policy)
        return able & self.excluded.get((pool.namespace, pool.name), 0)

    async def place(self, counts: Sequence[int] | None = None, change: Change = SAME) -> GroupAnswer:
        """Whether so many pods of each member (all of them by default) can run at the same time, and where."""
        asked = self.counts if counts is None else tuple(counts)
        key = (asked, change.dropped, change.welcome) if change.only_drops else None
        if key is None or key not in self._known:
            answer = await self._placed(asked, change)
            if key is None or not answer.decided:
                return answer
            self._known[key] = answer
        return self._known[key]

    async def _placed(self, counts: tuple[int, ...], change: Change) -> GroupAnswer:
        if not self.in_time:
            return GroupAnswer(None, decided=False)
        problem, owners, _ = await self.problem(counts, change)
        answer: Assigned = await assign(problem, self.solving)
        await self.solving.rest()
        if answer.found is None:
            short = {member for at in answer.short or () for pods in owners[at] for member, _ in pods}
            return GroupAnswer(None, answer.decided, tuple(sorted(short)))
        return GroupAnswer(self.placed(problem, answer.found, owners))

    @property
    def small(self) -> bool:
        """Whether a question takes about a millisecond."""
        return max(len(self._slots), sum(self.counts)) <= _SMALL

    async def problem(
        self, counts: Sequence[int], change: Change = SAME, prices: Sequence[Row] = ()
    ) -> tuple[AssignmentProblem, list[Sets], Costs]:
        """The problem for so many pods of each member, the pods of its blocks, and its costs.

        ``prices`` are the costs of one pod of each member on each node; without them nothing costs anything.
        """
        blocks, owners = await self.blocks(counts, change, prices)
        pools = tuple(self._choice(pool, change) for pool in self.pools)
        problem = AssignmentProblem(self._slots_with(change), self._free_with(change), blocks, pools)
        sizes = tuple(sum(pods for _, pods in sets[0]) for sets in owners)
        rows = tuple(_sum(prices, sets[0], problem.size) for sets in owners) if prices else ()
        return problem, owners, Costs(rows, pods=sizes)

    # From members to blocks

    async def blocks(
        self, counts: Sequence[int], change: Change = SAME, prices: Sequence[Row] = ()
    ) -> tuple[tuple[Block, ...], list[Sets]]:
        """The blocks, and the pods of each; equal blocks are one."""
        await self.solving.rest()
        kept = [change.kept(self.members[at].conditions) if counts[at] else () for at in range(len(self.members))]
        await self.solving.rest()
        merged: dict[object, tuple[Block, Sets]] = {}
        for number, together in enumerate(united([at for at, count in enumerate(counts) if count], kept)):
            await self.solving.rest()
            key, block, owners = self._block(together, counts, kept, change, number)
            key = key, tuple(prices[at].tobytes() for at in together) if prices else ()
            if key in merged:
                old, known = merged[key]
                merged[key] = replace(old, count=old.count + block.count), [*known, *owners]
            else:
                merged[key] = block, owners
        return tuple(block for block, _ in merged.values()), [owners for _, owners in merged.values()]

    def _block(
        self,
        members: list[int],
        counts: Sequence[int],
        kept: Kept,
        change: Change,
        number: int,
    ) -> tuple[object, Block, Sets]:
        """The block of members that share a node, or of a member whose pods may be anywhere; what it is equal by."""
        one = not any(demand.together for demand in kept[members[0]])
        each = {at: 1 if one else counts[at] for at in members}
        conditions = [demand for at in members for demand in kept[at]]
        nodes = self._nodes_for(each, kept, change, one=one)
        new = self._nodes_for(each, kept, change, one=one, new=True) if change.added else 0
        joining = change.joining.issuperset(members) and bool(new >> change.like & 1)
        requests = [(at, {**requests_of(kept[at]), **devices_of(kept[at])}) for at in members]
        block = Block(
            count=counts[members[0]] if one else 1,
            nodes=self._mask(nodes, change.added, new=joining),
            requests=self._requests(each, requests),
            marks=frozenset().union(*(self.members[at].marked(kept[at], self.isolated) for at in members)),
            avoids=frozenset().union(*(self.members[at].avoided(kept[at]) for at in members)),
            hosts=in_order(
                {HostNeed(self._pool(demand.host[0]), demand.host[1]) for demand in conditions if demand.host}
            ),
            limits=tuple(demand.limit for demand in conditions if demand.limit) if one else (),
            welcome=frozenset(map(self._pool, self.welcome(members, kept, change))),
        )
        names = frozenset(demand.constraint.node for demand in conditions)
        shape = (
            nodes, joining, names, block.requests, block.marks, block.avoids, block.hosts, block.welcome
        )  # fmt: skip
        sets: Sets = [((members[0], 1),)] * block.count if one else [tuple(each.items())]
        return (number if block.limits else shape), block, sets

    def _requests(self, each: Mapping[int, int], own: Sequence[tuple[int, Mapping[str, int]]]) -> tuple[int, ...]:
        """What a set of so many pods of ``each`` member requests, in the order of the rows of what is free."""
        return tuple(
            min(sum(needs.get(resource, 0) * each[at] for at, needs in own if self._takes_of(at, level)), MOST)
            for level in self._levels
            for resource in self.resources
        )

    def _takes_of(self, at: int, level: int | None) -> bool:
        return counting(self.members[at], level, self.world)

    def _mask(self, nodes: Bits, added: int = 0, *, new: bool = False) -> npt.NDArray[np.bool_]:
        """A read-only mask: whether each node is in the set; ``new`` is the value for all nodes ``added``.

        Most members may use the same nodes, and share the mask.
        """
        key = nodes, added, new and bool(added)
        if key not in self._masks:
            self._masks[key] = np.append(_mask(nodes, self._slots), np.full(added, new))
            self._masks[key].setflags(write=False)
        return self._masks[key]

    def _nodes_for(self, each: Mapping[int, int], kept: Kept, change: Change, *, one: bool, new: bool = False) -> Bits:
        """The nodes that can run so many pods of ``each`` of these members at a time, by all but room and others.

        ``new`` asks for those that could if nothing ran on them.
        """
        together = [(self.members[at], count, kept[at]) for at, count in each.items()]
        if split(together, self.isolated) or not self.welcome([*each], kept, change).issuperset(named(kept, each)):
            return 0
        nodes = self.world.everything
        for at, count in each.items():
            nodes &= self._left_by(at, kept[at], change) & ~(change.opened if at in change.closed else 0)
            for demand in kept[at]:
                mine = demand.new_nodes(self.world.everything) if new else demand.nodes
                opens = demand.clause is not None and demand.clause == change.opening
                nodes &= mine | (change.opened if opens else 0)
                if demand.host is not None and not self._has(demand.host, change):
                    return 0
                if demand.limit is not None and not one:
                    nodes &= holding(count, demand.limit)
        return nodes

    def welcome(self, members: Iterable[int], kept: Kept, change: Change = SAME) -> frozenset[Name]:
        """The exclusive pools that all of these members may use: each of them names the pool, or prefers it."""
        pods = [member.conditions for member in self.members] if change.welcome else kept
        return frozenset.intersection(*(named(pods, (at,)) | self._preferred(at, change) for at in members))

    def _preferred(self, at: int, change: Change) -> frozenset[Name]:
        """The exclusive pools that the member prefers; of an index that does not exist nothing is tolerated."""
        return frozenset(host[0] for host in self.members[at].welcome if self._has(host, change))

    def _left_by(self, at: int, kept: Sequence[Demand], change: Change) -> Bits:
        """The nodes that a member without its dropped clauses is not shut out of by exclusive pools."""
        if change.welcome:
            return self.world.everything
        shut = union(demand.shut for demand in self.members[at].conditions) & ~union(demand.shut for demand in kept)
        return self.world.everything & ~shut

    def _pool(self, name: Name) -> int:
        return next(at for at, pool in enumerate(self.pools) if (pool.namespace, pool.name) == name)

    def _has(self, host: tuple[Name, int | None], change: Change) -> bool:
        """Whether the pool is so large that it has a host of that index."""
        return (host[1] or 0) < change.size_of(self.pools[self._pool(host[0])])

    def _choice(self, pool: Pool, change: Change) -> PoolChoice:
        size = change.size_of(pool)
        able = self.eligible(pool) & ~change.opened
        positions = {int(slot): at for at, slot in enumerate(self._slots)}
        standing = {
            index: positions[nodes.bit_length() - 1]
            for index, nodes in self.world.inventory.pools.hosts(pool).items()
            if nodes and index < size
        }
        hosting = (pool.namespace, pool.name) in change.hosting
        mask = self._mask(able, change.added, new=hosting and bool(able >> change.like & 1))
        return PoolChoice(size, mask, pool.exclusive, tuple(sorted(standing.items())))

    # Nodes

    def _slots_with(self, change: Change) -> npt.NDArray[np.intp]:
        return np.append(self._slots, np.full(change.added, change.like, np.intp))

    def _free_with(self, change: Change) -> npt.NDArray[np.int64]:
        added = np.array(
            [[min(change.room.get(resource, 0), MOST)] * change.added for resource in self.resources], np.int64
        )
        rows = np.tile(added.reshape(len(self.resources), change.added), (len(self._levels), 1))
        return np.concatenate([self._free, rows], axis=1)

    # From blocks to members

    def placed(self, problem: AssignmentProblem, assignment: Assignment, owners: Sequence[Sets]) -> Placed:
        """Where the pods are by an assignment of the blocks, whose pods are ``owners``."""
        slots: list[list[int]] = [[] for _ in self.members]
        for places, sets in zip(assignment.places, owners, strict=True):
            for place, pods in zip(places, sets, strict=True):
                for at, count in pods:
                    slots[at] += [int(problem.slots[place])] * count
        hosts = {
            (pool.namespace, pool.name): {index: int(problem.slots[place]) for index, place in sorted(mine.items())}
            for pool, mine in zip(self.pools, assignment.hosts, strict=True)
        }
        return Placed(tuple(tuple(sorted(places)) for places in slots), hosts)


def _sum(prices: Sequence[Row], pods: Sequence[tuple[int, int]], size: int) -> Row:
    """The cost of the pods of one set on each node."""
    costs = np.zeros(size, np.int64)
    for at, count in pods:
        costs += prices[at] * count
    return costs


def _mask(nodes: Bits, slots: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """For each of the slots, whether it is in the set."""
    mask = np.zeros(int(slots.max(initial=-1)) + 1, np.bool_)
    inside = to_slots(nodes)
    mask[inside[inside < len(mask)]] = True
    return mask[slots]
