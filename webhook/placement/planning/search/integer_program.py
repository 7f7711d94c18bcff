"""The assignment problem as an integer program for HiGHS: an assignment, the proof that there is none, or neither.

The program itself is a :class:`LinearProgram`, which HiGHS solves.
"""

import itertools
import operator
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from webhook.placement.constraints.topology_limit import Limit, MaxSkew
from webhook.placement.planning.search.assignment import Assignment, AssignmentProblem, Block, Key, violations
from webhook.placement.planning.search.costs import Costs
from webhook.placement.planning.search.linear_program import LinearProgram

LARGEST: Final = 60_000
"""Variables of a program that is still tried; a larger one takes too long to be set up, and is rarely solved."""


class Solved(Struct, frozen=True, eq=False):
    """The result: ``found`` is an assignment if there is one, ``proved`` tells that the result is final.

    With costs it is the cheapest assignment if ``proved``. Without ``found`` and ``proved`` nothing is known.
    """

    found: Assignment | None
    proved: bool


def solve(problem: AssignmentProblem, seconds: float, costs: Costs | None = None) -> Solved:
    """Solve the problem in at most so many seconds."""
    program = _Program(problem, costs)
    if program.hopeless:
        return Solved(None, proved=True)
    if not program.size:
        return _without_columns(problem)
    if program.size > LARGEST:
        return Solved(None, proved=False)
    status, values = program.run(seconds)
    if status == "infeasible":
        return Solved(None, proved=True)
    if values is None:
        return Solved(None, proved=False)
    assignment = program.assignment(values)
    return (
        Solved(None, proved=False) if any(violations(problem, assignment)) else Solved(assignment, status == "optimal")
    )


def _without_columns(problem: AssignmentProblem) -> Solved:
    """The result for a problem without blocks, and without a node that could be a host; HiGHS takes none."""
    nothing = Assignment((), tuple(dict(pool.standing) for pool in problem.pools))
    return Solved(None if any(violations(problem, nothing)) else nothing, proved=True)


class _Program(LinearProgram):
    """The program of an assignment problem under construction."""

    def __init__(self, problem: AssignmentProblem, costs: Costs | None) -> None:
        super().__init__()
        self._problem = problem
        self._nodes = [self._useful(at, costs) for at in range(len(problem.blocks))]
        self.hopeless = not all(map(len, self._nodes))
        self._y = [self._block_columns(at, costs) for at in range(len(problem.blocks))]
        if self.hopeless or self.size > LARGEST:
            return
        self._on = self._columns_by_node(range(len(problem.blocks)))
        self._most = self.upper
        self._h = [self.columns(np.ones(int(np.count_nonzero(self._hostable(at))))) for at in range(len(problem.pools))]
        self._every()
        self._capacity()
        self._apart()
        self._hosts()
        self._limits()
        self._within_budgets()
        if costs is not None and costs.load:
            self._load(costs)

    # Columns

    def _useful(self, at: int, costs: Costs | None) -> npt.NDArray[np.intp]:
        """The nodes that matter for the block: as many of the best as there are sets of pods in all.

        A set of pods on any other node could as well be on one of these that runs no other. That does not hold for
        hosts, which are not known yet, for limits by domain, and for nodes that do not exist yet.
        """
        problem, block = self._problem, self._problem.blocks[at]
        places = np.flatnonzero(problem.copies(block, problem.free))
        if problem.pools or any(other.limits for other in problem.blocks) or len(places) <= problem.total:
            return places
        if problem.new:
            there = places[places < problem.size - problem.new]
            return np.append(there[: problem.total], places[len(there) :])
        if costs is None:
            return places[: problem.total]
        order = np.argsort(costs.of[at][places], kind="stable")
        return np.sort(places[order[: problem.total]])

    def _block_columns(self, at: int, costs: Costs | None) -> npt.NDArray[np.intp]:
        block, places = self._problem.blocks[at], self._nodes[at]
        upper = self._problem.copies(block, self._problem.free)[places].astype(np.float64)
        return self.columns(upper, None if costs is None else costs.of[at][places].astype(np.float64))

    def _hostable(self, pool: int) -> npt.NDArray[np.bool_]:
        choice = self._problem.pools[pool]
        eligible = choice.eligible.copy()
        eligible[[place for _, place in choice.standing]] = True
        return eligible

    # Rows

    def _every(self) -> None:
        """Every set of pods has a place."""
        for block, columns in zip(self._problem.blocks, self._y, strict=True):
            self.row(columns, np.ones(len(columns)), block.count, block.count)

    def _capacity(self) -> None:
        """What the pods on a node request is free there; amounts are divided by what they have in common."""
        blocks = self._problem.blocks
        for resource, free in enumerate(self._problem.free):
            unit = int(np.gcd.reduce([block.requests[resource] for block in blocks] or [0]))
            if not unit:
                continue
            for place, entries in self._on.items():
                amounts = [blocks[at].requests[resource] // unit for at, _ in entries]
                capacity = max(0, int(free[place])) // unit
                columns = [column for _, column in entries]
                most = sum(amount * self._upper_of(column) for amount, column in zip(amounts, columns, strict=True))
                if most > capacity:
                    self.row(columns, amounts, -np.inf, capacity)

    def _upper_of(self, column: int) -> float:
        """The upper bound of a column of a block."""
        return self._most[column]

    def _apart(self) -> None:
        """Blocks that avoid a key are on no node with blocks that mark it."""
        holding: dict[Key, list[int]] = {}
        marking: dict[Key, list[int]] = {}
        for at, block in enumerate(self._problem.blocks):
            for key in block.avoids:
                holding.setdefault(key, []).append(at)
            for key in block.marks:
                marking.setdefault(key, []).append(at)
        for key in sorted(holding.keys() & marking.keys()):
            holders, marked = self._columns_by_node(holding[key]), self._columns_by_node(marking[key])
            for place in holders.keys() & marked.keys():
                self._apart_on(holders[place], marked[place])

    def _columns_by_node(self, chosen: Sequence[int]) -> dict[int, list[tuple[int, int]]]:
        """For each node the blocks among those chosen that could run there, with their columns."""
        by_place: dict[int, list[tuple[int, int]]] = {}
        for at in chosen:
            for place, column in zip(self._nodes[at].tolist(), self._y[at].tolist(), strict=True):
                by_place.setdefault(place, []).append((at, column))
        return by_place

    def _apart_on(self, holders: list[tuple[int, int]], marked: list[tuple[int, int]]) -> None:
        """The rows for one key on one node."""
        mine = {at for at, _ in holders}
        others = [(at, column) for at, column in marked if at not in mine]
        if mine <= {at for at, _ in marked}:
            most = sum(self._upper_of(column) for _, column in others)
            scale = max(1.0, most)
            columns = [column for _, column in (*holders, *others)]
            self.row(columns, [scale] * len(holders) + [1.0] * len(others), -np.inf, scale)
            return
        for _, column in holders:
            repelled = [(to, other) for to, other in marked if other != column]
            if repelled:
                here = self._indicator(column)
                most = sum(self._upper_of(other) for _, other in repelled)
                self.row([here, *(other for _, other in repelled)], [most] + [1.0] * len(repelled), -np.inf, most)

    def _indicator(self, column: int) -> int:
        """A column that is 1 if the given one is not 0."""
        upper = self._upper_of(column)
        if upper <= 1:
            return column
        switch = int(self.columns(np.ones(1))[0])
        self.row([column, switch], [1.0, -upper], -np.inf, 0)
        return switch

    def _hosts(self) -> None:
        """Pools have as many hosts as they need, and blocks run on the hosts of their pools."""
        problem = self._problem
        where = [np.flatnonzero(self._hostable(at)) for at in range(len(problem.pools))]
        column_of = [
            dict(zip(where[at].tolist(), self._h[at].tolist(), strict=True)) for at in range(len(problem.pools))
        ]
        for at, pool in enumerate(problem.pools):
            self.row(self._h[at], np.ones(len(where[at])), pool.size, pool.size)
            for _, place in pool.standing:
                self.row([column_of[at][place]], [1.0], 1, 1)
        for (one, first), (two, second) in itertools.combinations(enumerate(problem.pools), 2):
            if first.exclusive or second.exclusive:
                for place in column_of[one].keys() & column_of[two].keys():
                    self.row([column_of[one][place], column_of[two][place]], [1.0, 1.0], -np.inf, 1)
        indexed: dict[tuple[int, int], dict[int, int]] = {}
        for block in problem.blocks:
            for need in block.hosts:
                if need.index is not None and (need.pool, need.index) not in indexed:
                    indexed[need.pool, need.index] = self._indexed(need.pool, need.index, column_of[need.pool])
        self._distinct(indexed, column_of)
        for at, block in enumerate(problem.blocks):
            self._on_hosts(at, block, column_of, indexed)

    def _indexed(self, pool: int, index: int, hosts: dict[int, int]) -> dict[int, int]:
        """Columns that tell which node is the host of that index; one node is."""
        standing = dict(self._problem.pools[pool].standing)
        columns = self.columns(np.ones(len(hosts)))
        column_of = dict(zip(hosts, columns.tolist(), strict=True))
        self.row(columns, np.ones(len(columns)), 1, 1)
        if index in standing:
            self.row([column_of[standing[index]]], [1.0], 1, 1)
        return column_of

    def _distinct(self, indexed: dict[tuple[int, int], dict[int, int]], column_of: list[dict[int, int]]) -> None:
        """Hosts of different indices are different hosts of the pool, and not those of the indices that stand."""
        for pool in sorted({pool for pool, _ in indexed}):
            standing = dict(self._problem.pools[pool].standing)
            mine = {index: columns for (of, index), columns in indexed.items() if of == pool}
            for place, host in column_of[pool].items():
                columns = [column_by_place[place] for column_by_place in mine.values()]
                self.row([*columns, host], [1.0] * len(columns) + [-1.0], -np.inf, 0)
                for index, stands in standing.items():
                    if stands == place:
                        for other in mine.keys() - {index}:
                            self.row([mine[other][place]], [1.0], 0, 0)

    def _on_hosts(
        self, at: int, block: Block, column_of: list[dict[int, int]], indexed: dict[tuple[int, int], dict[int, int]]
    ) -> None:
        for place, column in zip(self._nodes[at].tolist(), self._y[at].tolist(), strict=True):
            upper = self._upper_of(column)
            for need in block.hosts:
                hosts = column_of[need.pool] if need.index is None else indexed[need.pool, need.index]
                if place in hosts:
                    self.row([column, hosts[place]], [1.0, -upper], -np.inf, 0)
                else:
                    self.row([column], [1.0], 0, 0)
            for pool, choice in enumerate(self._problem.pools):
                if choice.exclusive and pool not in block.pools and place in column_of[pool]:
                    self.row([column, column_of[pool][place]], [1.0, upper], -np.inf, upper)

    def _limits(self) -> None:
        """Limits on the pods of one template by the domains of a topology key."""
        for at, block in enumerate(self._problem.blocks):
            for limit in block.limits:
                self._limit(at, block, limit)

    def _limit(self, at: int, block: Block, limit: Limit) -> None:
        of = limit.domains.of[self._problem.slots][self._nodes[at]]
        if not isinstance(limit, MaxSkew):
            for domain, most in enumerate(limit.alone().tolist()):
                inside = self._y[at][of == domain]
                if len(inside):
                    self.row(inside, np.ones(len(inside)), -np.inf, most)
            return
        own = limit.domains.counts(limit.own)
        counted = [] if limit.short else np.flatnonzero(limit.counted).tolist()
        largest = float(limit.there.max(initial=0) + block.count)
        fewest = int(self.columns(np.array([largest if counted else 0.0]))[0])
        for domain in counted:
            inside = self._y[at][of == domain]
            self.row([fewest, *inside], [1.0, *(-1.0,) * len(inside)], -np.inf, int(limit.there[domain]))
        for domain in range(limit.domains.count):
            inside = self._y[at][of == domain]
            if len(inside):
                self._below(inside, fewest, limit.skew - int(limit.there[domain]), int(own[domain]), block.count)

    def _below(self, inside: npt.NDArray[np.intp], fewest: int, spare: int, own: int, count: int) -> None:
        """At most ``fewest + spare`` pods in a domain, or ``own`` if that is more."""
        beyond = int(self.columns(np.ones(1))[0])
        ones = np.ones(len(inside))
        self.row([*inside, beyond], [*ones, -max(0.0, count - own)], -np.inf, own)
        # Where more than ``own`` are, so that ``beyond`` is 1, the number counts from the fewest.
        slack = max(0.0, count - spare)
        self.row([*inside, fewest, beyond], [*ones, -1.0, slack], -np.inf, spare + slack)

    def _within_budgets(self) -> None:
        """What node groups make in all."""
        blocks = self._problem.blocks
        for budget in self._problem.budgets:
            inside = [
                (at, column)
                for place in np.flatnonzero(budget.nodes).tolist()
                for at, column in self._on.get(place, [])
            ]
            for row, most in budget.amounts:
                asked = [(column, blocks[at].requests[row]) for at, column in inside if blocks[at].requests[row]]
                unit = int(np.gcd.reduce([amount for _, amount in asked])) if asked else 1
                self.row(
                    [column for column, _ in asked], [amount // unit for _, amount in asked], -np.inf, most // unit
                )
            if budget.most is not None:
                self._few_nodes(np.flatnonzero(budget.nodes).tolist(), budget.most)

    def _few_nodes(self, places: Sequence[int], most: int) -> None:
        """At most so many of these nodes run blocks."""
        used = []
        for place in places:
            columns = [column for _, column in self._on.get(place, [])]
            if columns:
                node = int(self.columns(np.ones(1))[0])
                upper = sum(self._upper_of(column) for column in columns)
                self.row([*columns, node], [*(1.0,) * len(columns), -upper], -np.inf, 0)
                used.append(node)
        self.row(used, [1.0] * len(used), -np.inf, most)

    def _load(self, costs: Costs) -> None:
        """Each further pod on a node costs more; the cheaper places are taken first by themselves."""
        pods = sum(block.count * costs.pods_of(at) for at, block in enumerate(self._problem.blocks))
        for entries in self._on.values():
            columns, sizes = [column for _, column in entries], [float(costs.pods_of(at)) for at, _ in entries]
            most = int(min(pods, sum(map(operator.mul, sizes, map(self._upper_of, columns)))))
            if most > 1:
                levels = self.columns(np.ones(most), costs.load * np.arange(most, dtype=np.float64), whole=False)
                self.row([*columns, *levels], [*sizes, *(-1.0,) * most], 0, 0)

    # The solution

    def assignment(self, values: npt.NDArray[np.float64]) -> Assignment:
        """The assignment of a solution."""
        whole = np.rint(values).astype(np.int64)
        places = tuple(
            tuple(np.repeat(nodes, whole[columns]).tolist())
            for nodes, columns in zip(self._nodes, self._y, strict=True)
        )
        return Assignment(places, self._chosen(whole, places))

    def _chosen(self, whole: npt.NDArray[np.int64], places: tuple[tuple[int, ...], ...]) -> tuple[dict[int, int], ...]:
        """The hosts of each pool by index: where a block needs an index it is where the block runs."""
        hosts_of: list[dict[int, int]] = []
        for at, pool in enumerate(self._problem.pools):
            where = np.flatnonzero(self._hostable(at))
            chosen = where[whole[self._h[at]] > 0].tolist()
            hosts = dict(pool.standing)
            for block, mine in zip(self._problem.blocks, places, strict=True):
                hosts |= {need.index: mine[0] for need in block.hosts if need.pool == at and need.index is not None}
            unassigned = iter(place for place in chosen if place not in hosts.values())
            hosts_of.append(hosts | {index: next(unassigned) for index in range(pool.size) if index not in hosts})
        return tuple(hosts_of)
