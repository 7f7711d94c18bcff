"""``least_cut``: a lower bound of the traffic between processing elements, by which the quality of a fusion is told.

A linear program has a column for each stream that is 1 if the stream is cut. Its rows hold for every fusion: a tree of
streams whose units are too heavy for one processing element has a stream that is cut, a unit is separated from all that
does not fit beside it (the spreading constraints of Even, Naor, Rao and Schieber, "Fast approximate graph partitioning
algorithms", 1999, with the coefficients of knapsack covers), units that the rules keep apart have a cut between them,
and a spanning forest falls into as many parts as there are elements. There are too many such trees for all of them to
be rows: those that the last solution breaks most are added, until none is broken or enough work is done. So the bound
holds however few rows there are.

Of graphs with more units such a program says little; for these, and where it is not enough, there is the semidefinite
one of ``shared_elements``.
"""

import heapq
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from webhook.placement.fusion.graph import Graph
from webhook.placement.fusion.partition import Partition
from webhook.placement.fusion.partition import bound as heaviest_allowed
from webhook.placement.fusion.shared_elements import FIRST, SharedElements
from webhook.placement.planning.search.linear_program import GAP, LinearProgram

UNITS: Final = 24
"""Units of a graph of which a linear program is made; of more it takes seconds, and says less than the other one."""

WORK: Final = 1_500_000_000
"""Work of a semidefinite program at most, some four seconds: graphs of more than 195 units have none."""

_AROUND: Final = 4
"""Number of units around which trees are searched in a solution: rows around a few of them change much of it."""

_ROUNDS: Final = 400
"""Solutions to which rows are added at most."""

_WORK: Final = 60_000
"""Maximum number of units visited in searches for trees: about half a second."""

_SLACK: Final = 1e-4
"""Minimum violation, as a fraction of 1, of a row that is added."""

_EXACT: Final = 1e-6
"""What the solution of a program may be wrong by, as a part of it."""

_ROWS: Final = 3
"""Rows of one tree that are added at a time: parts of it with different loads."""

_FAR: Final = 1.5
"""A tree ends at units that are farther away: 1 is the distance of units that are separated."""

_HEAVY: Final = 2.5
"""A tree ends when it is so many times as heavy as a processing element may be."""


class _Row(Struct, frozen=True):
    """That the streams at these positions, each times its value, are at least ``least``."""

    streams: tuple[int, ...]
    values: tuple[float, ...]
    least: float

    def missing(self, cut: Sequence[float]) -> float:
        """What a solution lacks, as a part of what there has to be."""
        there = sum(cut[at] * value for at, value in zip(self.streams, self.values, strict=True))
        return (self.least - there) / self.least


def least_cut(graph: Graph, partition: Partition, over: Callable[[], bool] = lambda: False, work: int = WORK) -> int:
    """Traffic that no partition avoids into as many elements, none of which is heavier than may be, or than this one's.

    Once time is ``over``, or the ``work`` is done, it is the bound that was found so far.
    """
    count, size = len(partition.blocks), len(graph.units)
    heaviest, cut, *_ = partition.goals
    limit = max(heaviest, heaviest_allowed(graph, count))
    bound = _Bound(graph, count, limit)
    lower_bound = bound.of_forest()
    if lower_bound < cut and size <= UNITS:
        lower_bound = max(lower_bound, bound.of_program(cut, over))
    if lower_bound < cut and FIRST * size**3 <= work and not over():
        least = SharedElements(graph, count, limit).least((cut - 1) / (1 - _EXACT), work, over)
        lower_bound = max(lower_bound, math.ceil(least * (1 - _EXACT)))
    return min(lower_bound, cut)


class _Bound:
    """The streams between units, and the rows that were found for them."""

    def __init__(self, graph: Graph, count: int, limit: int) -> None:
        self._graph = graph
        self._count = count
        self._limit = limit
        self._loads = [unit.load for unit in graph.units]
        self.streams = [(at, to) for at, near in enumerate(graph.near) for to in near if at < to]
        self._weights = [graph.near[at][to] for at, to in self.streams]
        self._at = {pair: place for place, pair in enumerate(self.streams)}
        self._forced = [bool(graph.clash(at, to)) for at, to in self.streams]
        self._work = 0
        self._turns = max(1, len(self._loads) // _AROUND)

    def of_forest(self) -> int:
        """The bound of the streams that the rules cut, and of the lightest ones of a spanning forest of the others."""
        forced = sum(weight for weight, forced in zip(self._weights, self._forced, strict=True) if forced)
        free = [at for at, forced in enumerate(self._forced) if not forced]
        forest = [*self._forest(sorted(free, key=lambda at: -self._weights[at]))]
        missing = max(0, self._count - (len(self._loads) - len(forest)))
        return forced + sum(sorted(self._weights[at] for at in forest)[:missing])

    def of_program(self, enough: int, over: Callable[[], bool]) -> int:
        """The bound of the linear program; ``enough`` is one that cannot be exceeded."""
        rows: dict[_Row, None] = {}
        cut = [float(forced) for forced in self._forced]
        best, whole = 0.0, False
        for step in range(_ROUNDS):
            if best * (1 - _EXACT) > enough - 1 or self._work > _WORK or over():
                break
            fresh = [row for row in self._broken(cut, step % self._turns) if row not in rows]
            if not fresh:
                fresh = [row for turn in range(self._turns) for row in self._broken(cut, turn) if row not in rows]
            if not fresh and whole:
                break
            whole = whole or not fresh
            rows.update(dict.fromkeys(fresh))
            solved = self._solved(rows, whole=whole)
            if solved is None:
                break
            value, cut = solved
            best = max(best, value)
            if not whole:
                rows = {row: None for row in rows if abs(row.missing(cut)) < _SLACK}
        return math.ceil(best * (1 - _EXACT))

    def _solved(self, rows: Mapping[_Row, None], *, whole: bool) -> tuple[float, list[float]] | None:
        """The least traffic with these rows, and which streams are cut then; ``None`` if it takes too long."""
        program = LinearProgram()
        program.columns(np.ones(len(self.streams)), np.array(self._weights, np.float64), whole=whole)
        for at, forced in enumerate(self._forced):
            if forced:
                program.row([at], [1.0], 1.0, 1.0)
        for row in rows:
            program.row(row.streams, row.values, row.least, np.inf)
        status, values = program.run(1.0)
        if status != "optimal" or values is None:
            return None
        cut = np.clip(values, 0.0, 1.0)
        traffic = float(cut @ np.array(self._weights, np.float64))
        # A program with whole columns ends when its solution is within 0.99 of the best one, and traffic is whole.
        return traffic - (GAP if whole else 0.0), cut.tolist()

    def _broken(self, cut: Sequence[float], turn: int) -> Iterator[_Row]:
        """Rows that the solution breaks, of trees around the units whose ``turn`` it is."""
        forest = tuple(self._forest(sorted(range(len(cut)), key=lambda at: cut[at])))
        missing = self._count - (len(self._graph.units) - len(forest))
        if missing > 0:
            yield from self._missed([_Row(forest, (1.0,) * len(forest), float(missing))], cut)
        for unit in range(turn, len(self._loads), self._turns):
            for far in (False, True):
                yield from self._missed([*self._rows_around(unit, cut, far=far)], cut)

    @staticmethod
    def _missed(rows: Sequence[_Row], cut: Sequence[float]) -> list[_Row]:
        """The rows that the solution violates most."""
        missing = {row: row.missing(cut) for row in rows}
        return [row for row in heapq.nlargest(_ROWS, rows, key=missing.__getitem__) if missing[row] > _SLACK]

    def _rows_around(self, unit: int, cut: Sequence[float], *, far: bool) -> Iterator[_Row]:
        """The rows of trees around a unit that take the nearest unit next; ``far`` counts the whole way to it.

        Otherwise its last stream counts alone.
        """
        graph, limit = self._graph, self._limit
        parent: dict[int, int] = {}
        near = [(0.0, unit, unit)]
        load = 0
        while near:
            distance, at, before = heapq.heappop(near)
            if at in parent:
                continue
            parent[at] = before
            load += self._loads[at]
            self._work += 1
            if at != unit and far and graph.clash(unit, at):
                yield self._way(unit, at, parent)
            if load > limit:
                yield from self._too_heavy(parent, load)
            if load > _HEAVY * limit or distance > _FAR:
                return
            for to in graph.near[at]:
                if to not in parent:
                    heapq.heappush(near, ((distance if far else 0.0) + cut[self._stream(at, to)], to, at))

    def _way(self, unit: int, at: int, parent: Mapping[int, int]) -> _Row:
        """One stream is cut on the way between units that are kept apart."""
        streams: list[int] = []
        while at != unit:
            streams.append(self._stream(at, parent[at]))
            at = parent[at]
        return _Row(tuple(sorted(streams)), (1.0,) * len(streams), 1.0)

    def _too_heavy(self, parent: Mapping[int, int], load: int) -> Iterator[_Row]:
        """The rows of a tree whose units do not fit into one element; ``parent`` is in the order of its growth."""
        excess = load - self._limit
        below = {at: self._loads[at] for at in parent}
        units = [*parent][1:]
        for at in reversed(units):
            below[parent[at]] += below[at]
        streams = tuple(self._stream(at, parent[at]) for at in units)
        yield _Row(streams, tuple(min(1.0, below[at] / excess) for at in units), 1.0)
        parts = -(-load // self._limit) - 1
        if parts > 1:
            yield _Row(streams, (1.0,) * len(streams), float(parts))

    def _stream(self, at: int, to: int) -> int:
        return self._at[min(at, to), max(at, to)]

    def _forest(self, order: Sequence[int]) -> Iterator[int]:
        """The streams of a spanning forest, which takes them in that order."""
        first = list(range(len(self._loads)))

        def root(at: int) -> int:
            while first[at] != at:
                first[at] = at = first[first[at]]
            return at

        for place in order:
            one, other = (root(at) for at in self.streams[place])
            if one != other:
                first[max(one, other)] = min(one, other)
                yield place
