"""Ranking of the nodes that can run a pod, cheapest first, and how replicas would share them (``docs/scoring.md``).

The ranking is what this product prefers. The scheduler has further preferences, and decides in the end.
"""

import bisect
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from webhook.placement.constraints.constraint import Spread
from webhook.placement.constraints.topology_limit import on_each
from webhook.placement.decision.replica_fit import ReplicaFit
from webhook.placement.decision.verdict import Verdict, effects_of
from webhook.placement.inventory.capacity import Row
from webhook.placement.kube.bits import to_slots
from webhook.placement.kube.pod import PreferredNodeTerm
from webhook.placement.pools.score import costs, worth
from webhook.placement.provision.effects import PreferNodes
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World

Cost = Callable[[Row], Row]
"""Function of the number of pods on each node, at least 1: the cost of the last pod there, which grows with it."""


class Ranked(Struct, frozen=True, omit_defaults=True):
    """A node that can run the pod, and the cost of one more pod there; ``replicas`` is its share of several pods."""

    node: str
    cost: int
    replicas: int | None = None


def rank(ask: Ask, verdict: Verdict, world: World, count: int = 1) -> list[Ranked]:
    """The candidates by cost, then by name; for a ``count`` above 1 with their shares of so many replicas.

    ``world`` must be the world in which the verdict was made.
    """
    if not verdict.candidates:
        return []
    nodes = world.inventory.nodes
    slots = to_slots(verdict.candidates)
    slots = slots[np.argsort(nodes.ranks()[slots])]
    worths = worth(nodes.capacity, preferences(ask, verdict, world), world)

    def cost(copies: Row) -> Row:
        return costs(nodes.capacity, ask.requests, worths, slots, copies)

    first = cost(np.ones_like(slots))
    shares: Sequence[int | None] = [None] * len(slots)
    if count > 1:
        shares = spread(count, _room(ReplicaFit(ask, verdict.hard, world), count, slots, cost), cost).tolist()
    names = [nodes.names[slot] for slot in slots.tolist()]
    # Stable: among equal costs the order of the names stays.
    return [Ranked(names[at], int(first[at]), shares[at]) for at in np.argsort(first, kind="stable").tolist()]


def preferences(ask: Ask, verdict: Verdict, world: World) -> tuple[PreferredNodeTerm, ...]:
    """The pod's own preferred node terms, and those that its constraints add; a term that the pod has counts once."""
    nodes = ask.spec.affinity.node_affinity if ask.spec.affinity else None
    own = (nodes.preferred if nodes else None) or ()
    effects = effects_of(verdict.constraints, world)
    ours = (PreferredNodeTerm(effect.weight, effect.term) for effect in effects if isinstance(effect, PreferNodes))
    return (*own, *dict.fromkeys(term for term in ours if term not in own))


def _room(fit: ReplicaFit, count: int, slots: npt.NDArray[np.intp], cost: Cost) -> Row:
    """How many of the pods each node can get by their constraints."""
    spreads = fit.spreads()
    if Spread.TOGETHER in spreads:
        return _together(fit, count, slots, cost)
    copies = fit.copies()[slots]
    return on_each(np.minimum(copies, 1) if Spread.APART in spreads else copies, slots, fit.limits())


def _together(fit: ReplicaFit, count: int, slots: npt.NDArray[np.intp], cost: Cost) -> Row:
    """How many pods each slot gets if all go to one node: as many as fit, where the last pod is cheapest."""
    fitting = fit.room(count)
    holding = np.flatnonzero(np.isin(slots, to_slots(fit.holding(fitting))))
    last = cost(np.full_like(slots, fitting))[holding]
    room = np.zeros_like(slots)
    room[holding[np.argmin(last)]] = fitting
    return room


def spread(count: int, room: Row, cost: Cost) -> Row:
    """How many of ``count`` pods each node gets if one pod after another goes to the cheapest node.

    Among equal costs the first node is taken. No node gets more than its ``room``, so the sum may be less than
    ``count``. Costs grow on every node, so the pods get the ``count`` cheapest places: all places that cost less than
    some level, and the first ones that cost just that.
    """
    room = np.minimum(room, count)
    if room.sum() <= count:
        return room
    dearest = int(cost(room).max())
    lowest = int(cost(np.ones_like(room)).min())
    within = range(lowest, dearest + 1)
    level = lowest + bisect.bisect_left(within, count, key=lambda most: int(_filled(most, room, cost).sum()))
    given = _filled(level - 1, room, cost)
    open_ = np.flatnonzero((given < room) & (cost(given + 1) == level))
    given[open_[: count - given.sum()]] += 1
    return given


def _filled(most: int, room: Row, cost: Cost) -> Row:
    """How many pods each node takes at a cost of at most ``most`` for each, by binary search."""
    low, high = np.zeros_like(room), room
    while (low < high).any():
        middle = (low + high + 1) // 2
        cheap = cost(middle) <= most
        low, high = np.where(cheap, middle, low), np.where(cheap, high, middle - 1)
    return low
