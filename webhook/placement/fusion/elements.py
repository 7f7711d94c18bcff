"""``Elements``: processing elements in the making. Units are merged along the heaviest streams, and then moved.

Merging goes on until there are as many processing elements as are asked for, or the rules allow no more. Then single
units move to other elements, or two change places, as long as that is better.
"""

import heapq
import itertools
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from webhook.placement.fusion.graph import Graph, PodContent
from webhook.placement.fusion.partition import bound
from webhook.placement.planning.search.steps import Steps

_SWAPPED = 24
"""Units of a graph of which each two may change places; of more, other starts find more in that time."""

_SMALL = 64
"""Units of a graph of which each may move to any element; of a larger one to those that it has streams with."""

_PASSES = 8
"""At most so many passes of moves."""

_MATES = 256
"""Elements that are looked at for one that may be merged with a given one: of thousands most may be kept apart."""

_HASTY_MATES = 8
"""Elements that are looked at for such a one once time is over."""

_STEP = 64
"""Units that are looked at in some tenths of a millisecond."""


class Elements:
    """Processing elements, as near to ``count`` as merging gets; ``start`` is one of many orders of merging.

    Each is known by a number; those that were merged away are gone. None gets heavier than ``limit`` where that can be.
    """

    def __init__(self, graph: Graph, count: int, start: int, limit: int | None = None) -> None:
        self._graph = graph
        self._count = count
        self._start = start
        size = len(graph.units)
        self._of = list(range(size))
        self._units: dict[int, list[int]] = {at: [at] for at in range(size)}
        self._loads = [unit.load for unit in graph.units]
        self._near: list[dict[int, int]] = [dict(near) for near in graph.near]
        self._marks: list[dict[str, str]] = [dict(unit.marks) for unit in graph.units]
        self._contents = [unit.content for unit in graph.units]
        self._bound = bound(graph, count) if limit is None else limit
        self._known_traffic: dict[int, dict[int, int]] = {}
        self._marked = Counter(key for marks in self._marks for key in marks)
        self._valued = Counter(mark for marks in self._marks for mark in marks.items())

    def places(self) -> Sequence[int]:
        """The element of each unit."""
        return self._of

    def merge(self, over: Callable[[], bool] = lambda: False) -> Steps[None]:
        """Merge along the heaviest streams, then the lightest elements.

        Merging gives the number of elements, so it goes on once time is ``over``, but looks at few pairs for each.
        """
        heap: list[tuple[int, int, int, int, int, int]] = []
        for first, others in enumerate(self._near):
            if first % _STEP == 0:
                yield
            heap += [self._entry(first, to) for to in others if first < to]
        heapq.heapify(heap)
        refused: set[tuple[int, int]] = set()
        popped = 0
        while heap and len(self._units) > self._count:
            popped += 1
            if popped % _STEP == 0:
                yield
                if over():
                    break
            *_, weight, at, to = heapq.heappop(heap)
            fresh = at in self._units and to in self._units and self._near[at].get(to) == weight
            if not fresh or (at, to) in refused:
                continue
            if self._loads[at] + self._loads[to] > self._bound or not self._may_merge(at, to):
                refused.add((at, to))  # elements only grow, so that they never may
                continue
            kept, near = self._merge(at, to)
            for other in near:  # pairs with more traffic than before; the heap has all others
                pair = min(kept, other), max(kept, other)
                if pair not in refused:
                    heapq.heappush(heap, self._entry(*pair))
        yield from self._merge_rest(over)

    def _entry(self, at: int, to: int) -> tuple[int, int, int, int, int, int]:
        weight = self._near[at][to]
        noise = (at * 7919 + to * 104729) * self._start % 1009
        biased = weight if not self._start else weight * (200 + noise * self._start // 12)
        return -biased, self._loads[at] + self._loads[to], noise, weight, at, to

    def _merge_rest(self, over: Callable[[], bool]) -> Steps[None]:
        """Merge elements that no stream joins, or that get heavy: the lightest pair that may be merged."""
        by_load = sorted((self._loads[at], at) for at in self._units)
        heap = [*by_load]
        while heap and len(self._units) > self._count:
            yield
            load, at = heapq.heappop(heap)
            if at not in self._units or self._loads[at] != load or self._alone(at):
                continue
            mate = yield from self._mate(at, by_load, _HASTY_MATES if over() else _MATES)
            if mate is not None:
                for merged in (at, mate):
                    del by_load[bisect_left(by_load, (self._loads[merged], merged))]
                kept, _ = self._merge(at, mate)
                insort(by_load, (self._loads[kept], kept))
                heapq.heappush(heap, (self._loads[kept], kept))

    def _mate(self, at: int, by_load: Sequence[tuple[int, int]], most: int) -> Steps[int | None]:
        """The first of so many other elements that may be merged with this one."""
        for tried, to in enumerate(itertools.islice(self._mates(at, by_load), most), 1):
            if self._may_merge(at, to):
                return to
            if tried % _STEP == 0:
                yield
        return None

    def _mates(self, at: int, by_load: Sequence[tuple[int, int]]) -> Iterator[int]:
        """The other elements in the order in which they are tried: those that make no heavy element come first.

        Of these the ones with most traffic, of equal ones the lightest. ``by_load`` are all elements.
        """
        room, near = self._bound - self._loads[at], self._near[at]
        yield from sorted(
            (to for to in near if self._loads[to] <= room), key=lambda to: (-near[to], self._loads[to], to)
        )
        heavy = bisect_right(by_load, (room, len(self._of)))
        yield from (to for _, to in itertools.islice(by_load, heavy) if to != at and to not in near)
        yield from (to for _, to in itertools.islice(by_load, heavy, None) if to != at)

    def _alone(self, at: int) -> bool:
        """Whether one of its marks keeps the element apart from all others."""
        others = len(self._units) - 1
        return any(self._marked[mark[0]] - self._valued[mark] >= others for mark in self._marks[at].items())

    def _may_merge(self, at: int, to: int) -> bool:
        few, many = self._marks[at], self._marks[to]
        if len(few) > len(many):
            few, many = many, few
        for key, value in few.items():
            if many.get(key, value) != value:
                return False
        return not self._graph.exceeded(self._contents[at] | self._contents[to])

    def _merge(self, at: int, to: int) -> tuple[int, list[int]]:
        """Merge two elements; returns the number of the one that is left, and those to which it has more traffic."""
        kept, gone = (at, to) if len(self._units[at]) >= len(self._units[to]) else (to, at)
        for unit in self._units[gone]:
            self._of[unit] = kept
        self._units[kept] += self._units.pop(gone)
        self._loads[kept] += self._loads[gone]
        marks = self._marks[kept]
        for mark in self._marks[gone].items():
            if mark[0] in marks:
                self._marked[mark[0]] -= 1
                self._valued[mark] -= 1
        marks |= self._marks[gone]
        self._contents[kept] |= self._contents[gone]
        near, added = self._near[kept], self._near[gone]
        self._near[gone] = {}
        if kept in added:
            del added[kept], near[gone]
        for other, weight in added.items():
            back = self._near[other]
            del back[gone]
            near[other] = back[kept] = near.get(other, 0) + weight
        return kept, [*added]

    def improve(self) -> Steps[None]:
        """Move units, and let two change places, as long as it is better."""
        self._known_traffic.clear()
        for _ in range(_PASSES):
            changed = False
            for unit in range(len(self._of)):
                if unit % _STEP == 0:
                    yield
                changed |= self._moved(unit)
            for unit in range(len(self._of) if len(self._of) <= _SWAPPED else 0):
                yield
                changed |= self._swapped(unit)
            if not changed:
                return

    def _traffic(self, unit: int) -> dict[int, int]:
        """The traffic of a unit with each element; known until a unit that it has a stream with is moved."""
        traffic = self._known_traffic.get(unit)
        if traffic is None:
            traffic = self._known_traffic[unit] = {}
            of = self._of
            for other, weight in self._graph.near[unit].items():
                traffic[of[other]] = traffic.get(of[other], 0) + weight
        return traffic

    def _moved(self, unit: int) -> bool:
        """Whether the unit has moved to an element where it is better."""
        own = self._of[unit]
        if len(self._units[own]) == 1:
            return False
        traffic, load = self._traffic(unit), self._graph.units[unit].load
        inside, remaining = traffic.get(own, 0), self._loads[own] - load
        heavy = self._loads[own] > self._bound
        # No element gets too heavy; but a heavy one may pass on to a lighter one.
        most = (self._loads[own] - 1 if heavy else self._bound) - load
        best: tuple[int, int, int] | None = None
        for to in self._units if heavy or len(self._units) <= _SMALL else traffic:
            if to == own or self._loads[to] > most:
                continue
            gain, evener = traffic.get(to, 0) - inside, remaining - self._loads[to]
            better = heavy or gain > 0 or (gain == 0 and evener > 0)
            if better and (best is None or (gain, evener, -to) > best) and self._may_join(unit, to):
                best = gain, evener, -to
        if best is None:
            return False
        self._move(unit, -best[2])
        return True

    def _may_join(self, unit: int, to: int, *, without: int | None = None) -> bool:
        units = [one for one in self._units[to] if one != without]
        own = self._graph.units[unit]
        others = (self._graph.units[one].marks for one in units)
        if own.marks and any(other.get(key, value) != value for other in others for key, value in own.marks.items()):
            return False
        content = self._contents[to] if without is None else self._graph.content(units)
        return not self._graph.exceeded(content | own.content)

    def _move(self, unit: int, to: int) -> None:
        own, load = self._of[unit], self._graph.units[unit].load
        self._units[own].remove(unit)
        self._units[to].append(unit)
        self._contents[own] = self._without(own, unit)
        self._contents[to] |= self._graph.units[unit].content
        self._loads[own] -= load
        self._loads[to] += load
        self._of[unit] = to
        for other in self._graph.near[unit]:
            self._known_traffic.pop(other, None)

    def _without(self, own: int, gone: int) -> PodContent:
        """The content of an element whose unit has gone; other units may have its clauses as well."""
        content, before = self._graph.units[gone].content, self._contents[own]
        if content.clauses:
            return self._graph.content(self._units[own])
        return replace(before, operators=before.operators - content.operators)

    def _swapped(self, one: int) -> bool:
        """Whether the unit has changed places with later ones."""
        changed, of, load = False, self._of, self._graph.units[one].load
        for other in range(one + 1, len(of)):
            here, there = of[one], of[other]
            if here == there:
                continue
            more = self._graph.units[other].load - load
            heavier = self._heavier(here, there, more) if more else 0
            if heavier > 0:
                continue
            # The sum of the squares of both loads gets less.
            evener = more * (self._loads[here] - self._loads[there] + more) < 0
            better = heavier < 0 or (gain := self._gain(one, other)) > 0 or (gain == 0 and evener)
            if better and self._may_swap(one, other):
                self._move(one, there)
                self._move(other, here)
                changed = True
        return changed

    def _heavier(self, here: int, there: int, more: int) -> int:
        """By how much two elements exceed the bound more than before, if one gets so much load of the other."""
        load, other_load, most = self._loads[here], self._loads[there], self._bound
        return max(most, load + more, other_load - more) - max(most, load, other_load)

    def _gain(self, one: int, other: int) -> int:
        """By how much less is the traffic between elements if two units of different ones change places."""
        here, there = self._of[one], self._of[other]
        first, second = self._traffic(one).get, self._traffic(other).get
        gain = first(there, 0) - first(here, 0) + second(here, 0) - second(there, 0)
        return gain - 2 * self._graph.near[one].get(other, 0)

    def _may_swap(self, one: int, other: int) -> bool:
        here, there = self._of[one], self._of[other]
        return self._may_join(one, there, without=other) and self._may_join(other, here, without=one)
