"""How many pods of one template a cluster has room for at a time (``docs/workloads.md``).

Room is what nodes have to give, whether or not it is free: pods may wait for others to finish, but not for ever.
"""

import bisect
import functools
import operator
from collections.abc import Collection, Iterator, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.constraints.constraint import Spread
from webhook.placement.constraints.resources import Room
from webhook.placement.constraints.topology_limit import Limit, fitting, holding
from webhook.placement.decision.verdict import Judged, constraints_of, judge
from webhook.placement.inventory.capacity import Row
from webhook.placement.inventory.objects import Tally
from webhook.placement.kube.bits import Bits, to_slots
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World


class Replicas(Struct, frozen=True):
    """How many pods a workload wants at a time.

    ``count`` of them, which ``said`` names as the user would (``replicas 5``). ``spare`` tells that one of them is only
    there while the others are replaced. ``owner`` is the workload whose live pods make room for these, such as
    ``Deployment/pipeline``. ``everywhere`` stands for a DaemonSet: one on every node that its template selects.
    ``in_turn`` tells that one pod may wait until another has finished, so that room for one is enough, and
    ``suspended`` that none is to run yet.
    """

    count: int = 1
    said: str = ""
    spare: bool = False
    owner: str = ""
    everywhere: bool = False
    in_turn: bool = False
    suspended: bool = False

    @property
    def needed(self) -> int:
        """How many of the pods must be able to run at a time."""
        return min(self.count, 1) if self.in_turn else self.count

    @property
    def idle(self) -> bool:
        """Whether no pod is to run yet."""
        return self.suspended or not self.count


class ReplicaFit:
    """The hard constraints of a pod, asked how many such pods they leave room for."""

    def __init__(self, ask: Ask, hard: Sequence[Judged], world: World) -> None:
        self.hard = tuple(map(_at_all, hard))
        self._ask = ask
        self._world = world
        self._scaled = functools.cache(self._together)

    @property
    def candidates(self) -> Bits:
        """The nodes that can run one of the pods."""
        return self._meet(self.hard, None)

    def holding(self, count: int, chosen: Collection[int] | None = None) -> Bits:
        """The nodes that could each run so many of the pods."""
        nodes = self._meet(self._scaled(count), chosen)
        return functools.reduce(operator.and_, (holding(count, limit) for limit in self.limits(chosen)), nodes)

    def spreads(self, chosen: Collection[int] | None = None) -> set[Spread]:
        """How the pods have to lie, if of the constraints that somebody wrote only the ``chosen`` positions count."""
        return {spread for spread in self._spreads(chosen) if isinstance(spread, Spread)}

    def limits(self, chosen: Collection[int] | None = None) -> list[Limit]:
        """What bounds their number by the domains of topology keys."""
        return [spread for spread in self._spreads(chosen) if not isinstance(spread, Spread)]

    def _spreads(self, chosen: Collection[int] | None) -> Iterator[Spread | Limit]:
        return (judged.constraint.spread for judged in self._counting(self.hard, chosen))

    def room(self, most: int, chosen: Collection[int] | None = None) -> int:
        """How many pods there is room for, at most ``most``, if only the ``chosen`` constraints count."""
        spreads = self.spreads(chosen)
        if Spread.TOGETHER not in spreads:
            return self._sum(most, chosen, apart=Spread.APART in spreads)
        # A node holds no more of them than it has room for, so that few numbers need to be tried.
        most = min(most, int(self.copies(chosen).max()), 1 if Spread.APART in spreads else most)
        return bisect.bisect_left(range(1, most + 1), 1, key=lambda count: not self.holding(count, chosen))

    def each_new(self, limit: Limit) -> int:
        """How many of the pods a new domain takes by the limit without holding others back; 0 if there can be none."""
        places = to_slots(self.candidates)
        return limit.each_new(limit.domains.sums(places, self.copies()[places]))

    def copies(self, chosen: Collection[int] | None = None) -> Row:
        """How many of the pods each slot has room for, of what counts for them: what it offers, or what is free there.

        Where several constraints ask for the same resource, each of them says how much it must be at least.
        """
        rooms = [judged.constraint for judged in self._counting(self.hard, chosen)]
        needs: dict[str, int] = {}
        pinned: Bits = 0
        for room in rooms:
            if isinstance(room, Room):
                needs |= {resource: max(amount, needs.get(resource, 0)) for resource, amount in room.requests.items()}
                pinned |= room.pinned
        return self._world.inventory.nodes.capacity.copies(needs, free=pinned)

    def _sum(self, most: int, chosen: Collection[int] | None, *, apart: bool) -> int:
        places = to_slots(self._meet(self.hard, chosen))
        room = np.minimum(self.copies(chosen)[places], 1 if apart else most)
        return min(most, fitting(room, places, self.limits(chosen)))

    def _together(self, count: int) -> tuple[Judged, ...]:
        """The same constraints for one pod that asks for as much as ``count`` of them."""
        needs: Tally = {resource: amount * count for resource, amount in self._ask.requests.items()}
        constraints = constraints_of(replace(self._ask, requests=needs), self._world).constraints
        return tuple(map(_at_all, judge(constraints, self._world).hard))

    def _meet(self, hard: Sequence[Judged], chosen: Collection[int] | None) -> Bits:
        nodes = (judged.nodes for judged in self._counting(hard, chosen))
        return functools.reduce(operator.and_, nodes, self._world.everything)

    @staticmethod
    def _counting(hard: Sequence[Judged], chosen: Collection[int] | None) -> list[Judged]:
        return [
            judged for at, judged in enumerate(hard) if chosen is None or at in chosen or not judged.constraint.clause
        ]


def _at_all(judged: Judged) -> Judged:
    """The constraint with all nodes that it leaves to some of the pods, one of which may only follow the others."""
    spread = judged.constraint.spread
    return judged if isinstance(spread, Spread) else Judged(judged.constraint, spread.reach)
