"""``WiderGroup``: a group judged with nodes that node groups could make, beside the nodes there are.

New nodes run nothing yet, and are not hosts of HostPools. What all nodes of one node group share are its limits: how
many nodes it may still make, and how much their pods may request together.
"""

import copy
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.constraints.constraint import StandingConstraint
from webhook.placement.constraints.topology_limit import OnePerDomain
from webhook.placement.inventory.capacity import Row
from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.bits import Bits
from webhook.placement.planning.change import SAME, Change
from webhook.placement.planning.free_room import MOST, free_room
from webhook.placement.planning.group import Group, Sets
from webhook.placement.planning.members import Demand, Member
from webhook.placement.planning.mutual_avoidance import avoiding
from webhook.placement.planning.search.assignment import AssignmentProblem
from webhook.placement.planning.search.costs import Costs
from webhook.placement.planning.search.node_budget import NodeBudget
from webhook.placement.text.keys import HOSTNAME


class NewNodes(Struct, frozen=True):
    """Equal new nodes: ``count`` of them, what each of them ``offers``, and the position ``of`` their node group."""

    of: int
    offers: Tally
    count: int


class GroupLimits(Struct, frozen=True):
    """The limits of a node group: how many nodes it makes, ``None`` for any number, and the ``remaining`` amounts."""

    most: int | None = None
    remaining: Tally = {}


class WiderGroup(Group):
    """The group ``of`` members, with new nodes in slots after those of all nodes there are.

    ``able`` are, for each member, the positions in ``new`` of nodes that can run it. ``limits`` are those of the node
    groups, by position. What limits members by domains of a topology key other than the host name does not count, since
    it is not known in which domain a new node is.
    """

    _fewest: ClassVar[int] = 1
    """New nodes have no limit by devices, since it is not known what they have. So those of nodes there are count."""

    def __init__(self, of: Group, able: Sequence[Bits], new: Sequence[NewNodes], limits: Sequence[GroupLimits]) -> None:
        there = of.world.everything
        self.first = there.bit_length()
        """The slot of the first new node."""
        self.new = tuple(new)
        self._limits = tuple(limits)
        self._there = of.slots
        self._starts = np.cumsum([0, *(nodes.count for nodes in new)]).tolist()
        stated = avoiding(of.stated, of.world)
        members = [
            _widened(member, there, self._slots_of(own)) for member, own in zip(stated, able, strict=True)
        ]  # fmt: skip
        world = copy.copy(of.world)
        world.everything = there | self._slots_of((1 << len(new)) - 1)
        super().__init__(members, world, of.pools, of.solving, of.restarting, of.excluded)

    def _slots_of(self, able: Bits) -> Bits:
        """The slots of the new nodes at these positions."""
        slots = 0
        for at, nodes in enumerate(self.new):
            if able >> at & 1:
                slots |= ((1 << nodes.count) - 1) << (self.first + self._starts[at])
        return slots

    def new_at(self, slot: int) -> NewNodes | None:
        """The new nodes that the one in the slot belongs to; ``None`` for a node that is there."""
        place = slot - self.first
        return self.new[int(np.searchsorted(self._starts, place, "right")) - 1] if place >= 0 else None

    def room(self, level: int | None) -> npt.NDArray[np.int64]:
        """What is free for a level; a new node has all that it offers for each."""
        free = free_room(self.world, self.resources, self._there, self.restarting, level)
        there = self._with_devices(free, self._there)
        return np.concatenate([there, *map(self._offered, self.new)], axis=1)

    def _offered(self, nodes: NewNodes) -> npt.NDArray[np.int64]:
        unknown = dict.fromkeys(self.counted, MOST)
        offers = {**nodes.offers, **unknown}
        amounts = [[min(offers.get(resource, 0), MOST)] * nodes.count for resource in self.resources]
        return np.array(amounts, np.int64).reshape(len(self.resources), nodes.count)

    async def problem(
        self, counts: Sequence[int], change: Change = SAME, prices: Sequence[Row] = ()
    ) -> tuple[AssignmentProblem, list[Sets], Costs]:
        """The problem with the limits of the node groups."""
        problem, owners, costs = await super().problem(counts, change, prices)
        return replace(problem, new=self._starts[-1], budgets=tuple(self._budgets(problem.size))), owners, costs

    def _budgets(self, size: int) -> list[NodeBudget]:
        budgets = []
        for at, limits in enumerate(self._limits):
            nodes = np.zeros(size, np.bool_)
            for start, new in zip(self._starts, self.new, strict=False):
                first = size - self._starts[-1] + start
                nodes[first : first + new.count] = new.of == at
            # The first rows are of the level for which pods of all members count.
            amounts = tuple(
                (row, limits.remaining[name]) for row, name in enumerate(self.resources) if name in limits.remaining
            )
            most = limits.most if limits.most is not None and limits.most < np.count_nonzero(nodes) else None
            if nodes.any() and (amounts or most is not None):
                budgets.append(NodeBudget(nodes, most, amounts))
        return budgets


def _widened(member: Member, there: Bits, new: Bits) -> Member:
    """The member that may also go to these new nodes; ``there`` are the nodes there are."""
    bounds = Demand(None, there | new, StandingConstraint())
    conditions = [_open(demand, (demand.nodes & there) | new, member.names[0]) for demand in member.conditions]
    return replace(member, conditions=(bounds, *conditions))


def _open(demand: Demand, nodes: Bits, owner: str) -> Demand:
    """The demand that these nodes meet: one pod for each host name is kept, other limits are not."""
    limit = demand.limit
    if not isinstance(limit, OnePerDomain) or limit.key != HOSTNAME:
        return replace(demand, nodes=nodes, limit=None)
    key = f"{owner} {demand.clause}"
    return replace(demand, nodes=nodes, limit=None, marks=(*demand.marks, key), avoids=(*demand.avoids, key))
