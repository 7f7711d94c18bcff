"""Partitions of a graph into processing elements, ordered by the goals of fusion.

For a number of processing elements the order is: no element is heavier than ``bound`` allows, or the heaviest is as
light as can be; least traffic between elements; even load; fewest operators moved; and the order of the Job, so that
the same input gives the same elements (``docs/fusion.md``).
"""

import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from webhook.placement.fusion.graph import Graph, PodContent

Block: TypeAlias = tuple[int, ...]
"""Positions of the units of one processing element, ascending."""

Goals: TypeAlias = tuple[int, int, int, int, tuple[int, ...]]
"""What is compared: the smaller the better."""

UNEVEN = 13, 10
"""An element may be so many times as heavy as the mean: 1.3 times."""


class Partition(Struct, frozen=True):
    """The processing elements, by their first units, with the ``goals`` that they reach."""

    blocks: tuple[Block, ...]
    goals: Goals

    @property
    def cut(self) -> int:
        """The traffic between processing elements."""
        return self.goals[1]


def bound(graph: Graph, count: int) -> int:
    """The load that no processing element exceeds: 1.3 times the mean, or the heaviest unit."""
    mean = UNEVEN[0] * graph.load // (UNEVEN[1] * count)
    return max(mean, *(unit.load for unit in graph.units))


def weighed(graph: Graph, places: Sequence[int], limit: int) -> tuple[int, int, int]:
    """The first goals of a partition: how heavy an element is if it exceeds the limit, traffic, and evenness."""
    loads: dict[int, int] = {}
    for unit, place in zip(graph.units, places, strict=True):
        loads[place] = loads.get(place, 0) + unit.load
    cut = sum(
        weight
        for at, near in enumerate(graph.near)
        for to, weight in near.items()
        if at < to and places[at] != places[to]
    )
    heaviest = max(loads.values())
    return heaviest if heaviest > limit else 0, cut, sum(load * load for load in loads.values())


def evaluated(graph: Graph, places: Sequence[int], previous: Mapping[str, str]) -> Partition:
    """The partition in which each unit is in the element that ``places`` names, with its goals."""
    order: dict[int, int] = {}
    own = tuple(order.setdefault(place, len(order)) for place in places)
    blocks: list[list[int]] = [[] for _ in order]
    for at, place in enumerate(own):
        blocks[place].append(at)
    first = weighed(graph, own, bound(graph, len(blocks)))
    moved = _moved([_ranked(graph, block, previous) for block in blocks], previous)
    return Partition(tuple(map(tuple, blocks)), (*first, moved, own))


def _moved(rankings: Iterable[Sequence[tuple[str, int]]], previous: Mapping[str, str]) -> int:
    """How many operators are in another element than most of those that were together before."""
    stayed, kept = 0, set()
    for ranking in rankings:
        for before, count in ranking:
            if before not in kept:
                kept.add(before)
                stayed += count
                break
    return len(previous) - stayed


def _ranked(graph: Graph, block: Sequence[int], previous: Mapping[str, str]) -> Sequence[tuple[str, int]]:
    """The elements in which operators of an element were before, and how many of them: most of them first."""
    if not previous:
        return ()
    names = graph.application.operators
    operators = (names[member].name for at in block for member in graph.units[at].members)
    counts = Counter(previous[name] for name in operators if name in previous)
    return sorted(counts.items(), key=lambda known: (known[1], known[0]), reverse=True)


def all_partitions(graph: Graph, previous: Mapping[str, str]) -> Iterator[Partition]:
    """Every partition that the rules allow."""
    growing = _GrowingPartition(graph)
    ranked = functools.cache(lambda block: _ranked(graph, block, previous))
    limits = [bound(graph, count) for count in range(1, len(graph.units) + 1)]
    for cut in growing.extended(0, 0):
        loads, places = growing.loads, tuple(growing.places)
        heaviest = max(loads)
        excess = heaviest if heaviest > limits[len(loads) - 1] else 0
        evenness = sum([load * load for load in loads])
        goals = (excess, cut, evenness, _moved(map(ranked, growing.blocks), previous), places)
        yield Partition(tuple(growing.blocks), goals)


class _GrowingPartition:
    """Processing elements of the first units of a graph, to which the others are added one by one, in every way.

    What is known of the first units is kept for all partitions that begin with them. An element that exceeds a limit
    of a pod gets no further units: with them it would exceed the limit as well.
    """

    def __init__(self, graph: Graph) -> None:
        self.places: list[int] = []
        self.blocks: list[Block] = []
        self.loads: list[int] = []
        self._contents: list[PodContent] = []
        self._graph = graph
        units = range(len(graph.units))
        self._clashes = [{other for other in range(at) if graph.clash(at, other)} for at in units]
        self._earlier = [[pair for pair in graph.near[at].items() if pair[0] < at] for at in units]

    def extended(self, at: int, cut: int) -> Iterator[int]:
        """Add the units from ``at`` on in every way; yields the traffic between elements, ``cut`` of which is known."""
        if at == len(self._graph.units):
            yield cut
            return
        inside = [0] * len(self.blocks)
        for other, weight in self._earlier[at]:
            inside[self.places[other]] += weight
        cut += sum(inside)
        for place, block in enumerate(self.blocks):
            if self._clashes[at].isdisjoint(block):
                yield from self._joined(at, place, cut - inside[place])
        self.blocks.append(())
        self.loads.append(0)
        self._contents.append(PodContent())
        yield from self._joined(at, len(self.blocks) - 1, cut)
        for known in (self.blocks, self.loads, self._contents):
            known.pop()

    def _joined(self, at: int, place: int, cut: int) -> Iterator[int]:
        """Add the unit to one element, and the later ones in every way; then the unit is taken out again."""
        unit, block, load, content = self._graph.units[at], self.blocks[place], self.loads[place], self._contents[place]
        if self._graph.exceeded(joined := content | unit.content):
            return
        self.places.append(place)
        self.blocks[place], self.loads[place], self._contents[place] = (*block, at), load + unit.load, joined
        yield from self.extended(at + 1, cut)
        self.places.pop()
        self.blocks[place], self.loads[place], self._contents[place] = block, load, content
