"""``cheapest``: the plan of a group, where all of its pods together cost least (``docs/scoring.md``).

The cost of a pod is that of the node by its present use and the pod's preferences; each further pod on a node costs
more, so that load is spread (Poseidon node affinity).
"""

import functools
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.inventory.capacity import Row
from webhook.placement.inventory.pool_index import Name
from webhook.placement.planning.change import SAME
from webhook.placement.planning.group import Group, Placed
from webhook.placement.planning.members import Member, requests_of
from webhook.placement.planning.search import greedy, integer_program
from webhook.placement.planning.search.integer_program import Solved
from webhook.placement.planning.search.solver import taken
from webhook.placement.pools.score import LOAD, costs, worth
from webhook.placement.workload.ranking import preferences


class Plan(Struct, frozen=True, eq=False):
    """Where all pods go, for each member the cost of its pods there without load, and the cost of everything.

    ``proved`` tells that no other plan costs less.
    """

    placed: Placed
    own: tuple[tuple[int, ...], ...]
    total: int
    proved: bool

    @property
    def hosts(self) -> Mapping[Name, Mapping[int, int]]:
        """The hosts of HostPools that had none, by index."""
        return self.placed.hosts


async def cheapest(group: Group, known: Placed, *, exact: bool = True) -> Plan:
    """The plan of a group that can be placed as ``known``: the cheapest one that is found while there is time.

    Without ``exact`` it is a good one, and found fast: no integer program is solved.
    """
    prices = []
    for member in group.members:
        await group.solving.rest()
        prices.append(_price(member, group))
    problem, owners, priced = await group.problem(group.counts, SAME, prices)
    searched = await taken(greedy.search(problem, priced), group.solving)
    solved = Solved(None, proved=False)
    if exact and group.in_time:
        work = functools.partial(integer_program.solve, problem, group.solving.left(), priced)
        solved = await group.solving.run(work)
    placements = [group.placed(problem, best, owners) for best in (searched, solved.found) if best is not None]
    plans = [_plan(group, placed, prices) for placed in (*placements, known)]
    best = min(plans, key=lambda plan: plan.total)
    return replace(best, proved=solved.proved and solved.found is not None)


def _price(member: Member, group: Group) -> Row:
    """The cost of one pod of the member on each node, by what is used there now."""
    world = group.world
    capacity = world.inventory.nodes.capacity
    worths = worth(capacity, preferences(member.ask, member.verdict, world), world)
    return costs(capacity, requests_of(member.conditions), worths, group.slots)


def _plan(group: Group, placed: Placed, prices: Sequence[Row]) -> Plan:
    at = {int(slot): place for place, slot in enumerate(group.slots)}
    own = tuple(
        tuple(int(price[at[slot]]) for slot in slots) for price, slots in zip(prices, placed.slots, strict=True)
    )
    pods = Counter(slot for slots in placed.slots for slot in slots)
    load = sum(LOAD * count * (count - 1) // 2 for count in pods.values())
    return Plan(placed, own, sum(map(sum, own)) + load, proved=False)
