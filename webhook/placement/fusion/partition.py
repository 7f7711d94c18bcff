"""Partitions of a graph into processing elements, ordered by the goals of fusion.

For a number of processing elements the order is: no element is heavier than ``bound`` allows, or the heaviest is as
light as can be; least traffic between elements; even load; fewest operators moved; and the order of the Job, so that
the same input gives the same elements (``docs/fusion.md``).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from webhook.placement.fusion.graph import Graph

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
    return Partition(tuple(map(tuple, blocks)), (*first, _moved(graph, blocks, previous), own))


def _moved(graph: Graph, blocks: Sequence[Sequence[int]], previous: Mapping[str, str]) -> int:
    """How many operators are in another element than most of those that were together before."""
    if not previous:
        return 0
    stayed, names, kept = 0, graph.application.operators, set()
    for block in blocks:
        counts: dict[str, int] = {}
        for at in block:
            for member in graph.units[at].members:
                if (before := previous.get(names[member].name)) is not None and before not in kept:
                    counts[before] = counts.get(before, 0) + 1
        if counts:
            best = max(counts, key=lambda name: (counts[name], name))
            kept.add(best)
            stayed += counts[best]
    return len(previous) - stayed


def all_partitions(graph: Graph, previous: Mapping[str, str]) -> Iterator[Partition]:
    """Every partition that the rules allow."""
    count = len(graph.units)
    clashes = [
        sum(1 << other for other in range(count) if other != at and graph.clash(at, other)) for at in range(count)
    ]

    def extended(places: list[int], masks: list[int]) -> Iterator[list[int]]:
        at = len(places)
        if at == count:
            yield places
            return
        for block, mask in enumerate(masks):
            if not mask & clashes[at]:
                yield from extended([*places, block], [*masks[:block], mask | 1 << at, *masks[block + 1 :]])
        yield from extended([*places, len(masks)], [*masks, 1 << at])

    for places in extended([], []):
        partition = evaluated(graph, places, previous)
        if not any(graph.exceeded(graph.content(block)) for block in partition.blocks):
            yield partition
