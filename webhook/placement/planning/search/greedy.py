"""A fast search for an assignment: block after block to the nodes that others need least, in several orders.

What the search finds is an assignment; that it finds none proves nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from webhook.placement.inventory.capacity import Row
from webhook.placement.planning.search.assignment import Assignment, AssignmentProblem, Block, HostNeed, Key, Mask
from webhook.placement.planning.search.costs import Costs
from webhook.placement.planning.search.node_budget import BudgetLeft
from webhook.placement.planning.search.steps import Steps
from webhook.placement.workload.ranking import spread

Score = Callable[[int], Row]
"""Function of the position of a block: for each node a number, the smallest of which is the best for the block."""

_FULL: Final = 1_000_000
"""Share of a node's room that is all of it, in the arithmetic of scores."""

_LAST: Final = 2**61
"""Added to the score of nodes that do not exist yet, which are used where no other node is left."""


def search(problem: AssignmentProblem, costs: Costs | None = None) -> Steps[Assignment | None]:
    """The first assignment that is found; with ``costs``, a cheap one is tried first."""
    tightest = _tightest(problem)
    scores: list[tuple[Score, Costs | None]] = [(_least_wanted(problem, tightest), None), (tightest, None)]
    if problem.new:
        scores = [(_there_first(score, problem.new), spreading) for score, spreading in scores]
    if costs is not None:
        scores.insert(0, (costs.of.__getitem__, costs))
    for choose in _host_choices(problem):
        chosen = yield from choose()
        if chosen is None:
            continue
        for score, spreading in scores:
            for order in _orders(problem):
                places = yield from _Placing(problem, chosen, spreading).all(order, score)
                if places is not None:
                    return Assignment(places, chosen)
    return None


def _orders(problem: AssignmentProblem) -> Iterator[list[int]]:
    """Orders in which to place the blocks: by scarcity of nodes first, then by size first."""
    blocks = problem.blocks
    free = np.maximum(problem.free.max(axis=1, initial=1), 1)
    requests = np.array([block.requests for block in blocks], np.float64).reshape(len(blocks), len(free))
    size = (requests / free).max(axis=1, initial=0).tolist()
    open_nodes = _open_nodes(problem)
    scarce = [block.count / max(1, open_nodes[id(block.nodes)]) for block in blocks]
    lonely = [not block.avoids for block in blocks]
    yield sorted(range(len(blocks)), key=lambda at: (lonely[at], -scarce[at], -size[at]))
    yield sorted(range(len(blocks)), key=lambda at: (-size[at], -scarce[at]))
    yield sorted(range(len(blocks)), key=lambda at: (-scarce[at], lonely[at], -size[at]))


def _least_wanted(problem: AssignmentProblem, tightest: Score) -> Score:
    """Nodes that fewest sets of pods could go to, then the ``tightest``."""
    pressure = np.zeros(problem.size)
    open_nodes = _open_nodes(problem)
    sets: dict[int, int] = dict.fromkeys(open_nodes, 0)
    masks = {id(block.nodes): block.nodes for block in problem.blocks}
    for block in problem.blocks:
        sets[id(block.nodes)] += block.count
    for number, count in sets.items():
        pressure += masks[number] * (count / max(1, open_nodes[number]))
    score = (pressure * _FULL).astype(np.int64) * 4 * _FULL + tightest(0)
    return lambda _at: score


def _there_first(score: Score, new: int) -> Score:
    """The score by which the last ``new`` nodes come after all others."""

    def later(at: int) -> Row:
        scores = score(at).copy()
        scores[-new:] += _LAST
        return scores

    return later


def _open_nodes(problem: AssignmentProblem) -> dict[int, int]:
    """How many nodes each mask of a block has, by the identity of the mask, which many blocks share."""
    sizes: dict[int, int] = {}
    for block in problem.blocks:
        if id(block.nodes) not in sizes:
            sizes[id(block.nodes)] = int(np.count_nonzero(block.nodes))
    return sizes


def _tightest(problem: AssignmentProblem) -> Score:
    """Nodes that have least room."""
    most = np.maximum(problem.free.max(axis=1, initial=1), 1)[:, None]
    room = (np.maximum(problem.free, 0) / most * _FULL).sum(axis=0).astype(np.int64)
    return lambda _at: room


class _Placing:
    """One attempt: what is free, and which keys are marked and avoided on each node."""

    def __init__(
        self, problem: AssignmentProblem, hosts: tuple[dict[int, int], ...], costs: Costs | None = None
    ) -> None:
        self._problem = problem
        self._costs = costs
        self._pods = np.zeros(problem.size, np.int64)
        self._hosts = hosts
        self._free = problem.free.copy()
        self._marked: dict[Key, Row] = {}
        self._avoided: dict[Key, Row] = {}
        self._closed = _exclusive(problem, hosts)
        self._budgets = [BudgetLeft(budget) for budget in problem.budgets]

    def all(self, order: Sequence[int], score: Score) -> Steps[tuple[tuple[int, ...], ...] | None]:
        """The places of all blocks; ``None`` if one of them finds too few."""
        places: dict[int, tuple[int, ...]] = {}
        for at in order:
            yield
            block = self._problem.blocks[at]
            room = self._room(block)
            if block.limits:
                filled = yield from self._limited(block, room, score(at))
            elif self._costs is not None:
                filled = self._spread(at, room, self._costs)
            else:
                filled = _filled(block.count, room, score(at))
            if filled is None:
                return None
            places[at] = filled
            self._take(block, filled)
            if self._costs is not None:
                self._pods += np.bincount(filled, minlength=self._problem.size) * self._costs.pods_of(at)
        return tuple(places[at] for at in range(len(order)))

    def _room(self, block: Block) -> Row:
        room = self._problem.copies(block, self._free)
        for need in block.hosts:
            room = np.where(_mask(self._hosts[need.pool], need, len(room)), room, 0)
        for at, closed in self._closed.items():
            if at not in block.pools:
                room = np.where(closed, 0, room)
        for table, keys in ((self._marked, block.avoids), (self._avoided, block.marks)):
            for key in keys & table.keys():
                room = np.where(table[key] > 0, 0, room)
        for budget in self._budgets:
            room = budget.within(room, block.requests)
        return room

    def _take(self, block: Block, places: tuple[int, ...]) -> None:
        counts = np.bincount(places, minlength=self._problem.size).astype(np.int64)
        self._free -= np.array(block.requests, np.int64)[:, None] * counts
        for budget in self._budgets:
            budget.take(places, block.requests)
        for table, keys in ((self._marked, block.marks), (self._avoided, block.avoids)):
            for key in keys:
                table[key] = table.get(key, 0) + counts

    def _spread(self, at: int, room: Row, costs: Costs) -> tuple[int, ...] | None:
        """The cheapest places of the block beside those that have a place; ``None`` if there is too little room."""
        count, pods = self._problem.blocks[at].count, costs.pods_of(at)
        places = np.flatnonzero(room)
        if room.sum() < count:
            return None
        own, there = costs.of[at][places], self._pods[places]
        # The sum of the loads of the pods of one more set, of which each costs more than the one before it.
        given = spread(
            count,
            room[places],
            lambda copies: own + costs.load * pods * (there + (copies - 1) * pods + (pods - 1) // 2),
        )
        return tuple(np.repeat(places, given).tolist())

    def _limited(self, block: Block, room: Row, score: Row) -> Steps[tuple[int, ...] | None]:
        """The places of a block with limits, one after another: to the domain that has fewest, if all limits hold."""
        slots = self._problem.slots
        domains = [limit.domains.of[slots] for limit in block.limits]
        counts = [np.zeros(limit.domains.count, np.int64) for limit in block.limits]
        chosen: list[int] = []
        for _ in range(block.count):
            yield
            level = np.zeros(len(slots), np.int64)
            open_ = room > 0
            for limit, of, count in zip(block.limits, domains, counts, strict=True):
                inside = of >= 0
                # What the limit will allow once every domain has been filled as far as it goes.
                most = limit.most(np.bincount(of[inside], room[inside], limit.domains.count).astype(np.int64) + count)
                # The last element is for nodes in no domain, whose number is NOWHERE, -1: there may be no other one.
                open_ &= np.append(count < most, True)[of]
                level += np.append(count, 0)[of]
            if not open_.any():
                return None
            best = np.flatnonzero(open_)
            place = int(best[np.lexsort((score[best], level[best]))[0]])
            chosen.append(place)
            room[place] -= 1
            for of, count in zip(domains, counts, strict=True):
                if of[place] >= 0:
                    count[of[place]] += 1
        fine = all((count <= limit.most(count)).all() for limit, count in zip(block.limits, counts, strict=True))
        return tuple(sorted(chosen)) if fine else None


def _filled(count: int, room: Row, score: Row) -> tuple[int, ...] | None:
    """The places of so many equal sets: the best nodes are filled first; ``None`` if there is too little room."""
    if room.sum() < count:
        return None
    open_ = np.flatnonzero(room)
    if count == 1:
        return (int(open_[np.argmin(score[open_])]),)
    order = open_[np.argsort(score[open_], kind="stable")] if len(open_) > 1 else open_
    sets = np.minimum(np.maximum(count - (np.cumsum(room[order]) - room[order]), 0), room[order])
    return tuple(np.sort(np.repeat(order, sets)).tolist())


def _exclusive(problem: AssignmentProblem, hosts: tuple[dict[int, int], ...]) -> dict[int, Mask]:
    """The hosts of each exclusive pool, by the pool's position."""
    masks: dict[int, Mask] = {}
    for at, pool in enumerate(problem.pools):
        if pool.exclusive:
            masks[at] = np.zeros(problem.size, np.bool_)
            masks[at][list(hosts[at].values())] = True
    return masks


def _mask(hosts: dict[int, int], need: HostNeed, size: int) -> Mask:
    mask = np.zeros(size, np.bool_)
    mask[[*hosts.values()] if need.index is None else [hosts[need.index]]] = True
    return mask


def _host_choices(problem: AssignmentProblem) -> list[Callable[[], Steps[tuple[dict[int, int], ...] | None]]]:
    """Ways to choose the hosts of all pools: nodes wanted by its own blocks, roomy nodes; one way without pools."""
    if not problem.pools:
        return [lambda: _hosts(problem, roomy=False)]
    return [lambda: _hosts(problem, roomy=False), lambda: _hosts(problem, roomy=True)]


def _hosts(problem: AssignmentProblem, *, roomy: bool) -> Steps[tuple[dict[int, int], ...] | None]:
    """Hosts of all pools: of exclusive pools first, then of those with fewest eligible nodes; ``None`` if one lacks."""
    hosts_of: dict[int, dict[int, int]] = {}
    exclusive = np.zeros(problem.size, np.bool_)
    shared = np.zeros(problem.size, np.bool_)
    for pool in problem.pools:
        for _, place in pool.standing:
            (exclusive if pool.exclusive else shared)[place] = True
    if (exclusive & shared).any() or np.count_nonzero(exclusive) < sum(
        len({place for _, place in pool.standing}) for pool in problem.pools if pool.exclusive
    ):
        return None  # a node stands in an exclusive pool and in another
    room = _shares(problem) if roomy else 0
    order = sorted(
        range(len(problem.pools)),
        key=lambda at: (not problem.pools[at].exclusive, np.count_nonzero(problem.pools[at].eligible)),
    )
    for at in order:
        pool = problem.pools[at]
        standing = dict(pool.standing)
        able = pool.eligible & ~exclusive
        if pool.exclusive:
            able &= ~shared
        able[list(standing.values())] = False
        places = np.flatnonzero(able)
        score = (yield from _host_score(problem, at, room))[places]
        fresh = iter(places[np.argsort(score, kind="stable")].tolist())
        unfilled = [index for index in range(pool.size) if index not in standing]
        hosts = standing | dict(zip(unfilled, fresh, strict=False))
        if len(hosts) < pool.size:
            return None
        (exclusive if pool.exclusive else shared)[list(hosts.values())] = True
        hosts_of[at] = hosts
    return tuple(hosts_of[at] for at in range(len(problem.pools)))


def _host_score(problem: AssignmentProblem, pool: int, room: Row | int) -> Steps[Row]:
    """For each node, how bad it is as a host: few of the pool's own blocks could run there, and many others.

    ``room`` is what is subtracted: nothing, or the share of each node that is free.
    """
    score = np.zeros(problem.size)
    for block in problem.blocks:
        yield
        own = any(need.pool == pool for need in block.hosts)
        weight = block.count / max(1, int(np.count_nonzero(block.nodes)))
        able = problem.copies(block, problem.free) > 0 if own else block.nodes
        score += np.where(able, -block.count, 0) if own else able * weight
    return (score * _FULL - room).astype(np.int64)


def _shares(problem: AssignmentProblem) -> Row:
    """The share of each node that is free, of all resources together."""
    most = np.maximum(problem.free.max(axis=1, initial=1), 1)[:, None]
    shares: Row = (np.maximum(problem.free, 0) / most).sum(axis=0) * _FULL
    return shares
