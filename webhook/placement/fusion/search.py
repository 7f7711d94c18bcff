"""A good partition of a large graph: a multilevel search, and elements that are fused anew.

Units are merged along the heaviest streams and moved, from several starts. Then a few neighbouring elements at a time
are taken apart and fused anew, which is kept where it is better. Within the time it does the same work for the same
graph.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from webhook.placement.fusion.elements import Elements
from webhook.placement.fusion.graph import Graph
from webhook.placement.fusion.partition import Partition, bound, evaluated, weighed
from webhook.placement.planning.search.steps import Steps

_STARTS = ((16, 48), (64, 24), (128, 8))
"""Searches of a graph of at most so many units, each from another order of these."""

_FINISHED = 16
"""Units of a graph of which these searches find the best partition."""

_TRIALS = 128
"""Times that elements are fused anew at least: as often as there are elements if these are more."""

_TOGETHER = (4, 3, 2)
"""Elements that are fused anew together, in turns."""

_NEIGHBOURS = 3
"""Elements with most traffic to those that were chosen, of which the next one is chosen in turns."""


def good_partition(
    graph: Graph, count: int, previous: Mapping[str, str], over: Callable[[], bool] = lambda: False
) -> Steps[Partition]:
    """A partition into as near to ``count`` elements as the search gets; yields between steps.

    Once time is ``over`` it is the best one so far. Merging gives the number, so the first one is finished hastily.
    """
    tried: list[Partition] = []
    starts = next((starts for most, starts in _STARTS if len(graph.units) <= most), 1)
    for start in range(starts):
        elements = Elements(graph, count, start)
        yield from elements.merge(over)
        improving = elements.improve()
        while not over() and next(improving, True) is None:
            yield
        tried.append(evaluated(graph, elements.places(), previous))
        if over():
            break
    return min(tried, key=lambda one: _rank(one, count))


def _rank(partition: Partition, count: int) -> tuple[int, int, object]:
    made = len(partition.blocks)
    return abs(made - count), made > count, partition.goals


def refined(
    graph: Graph, partition: Partition, previous: Mapping[str, str], over: Callable[[], bool] = lambda: False
) -> Steps[Partition]:
    """The partition with elements fused anew as long as that is better and time is not ``over``; as many as before."""
    count = len(partition.blocks)
    if len(graph.units) <= _FINISHED or count == 1 or not partition.cut:
        return partition
    blocks = [[*block] for block in partition.blocks]
    limit, changed = bound(graph, count), False
    for trial in range(max(_TRIALS, count)):
        if over():
            break
        yield  # there may be many elements that no stream joins with another one
        chosen = _neighbours(graph, blocks, trial)
        if len(chosen) > 1:
            changed |= yield from _anew(graph, blocks, chosen, trial, limit, over)
    return evaluated(graph, _places(blocks), previous) if changed else partition


def _places(blocks: Sequence[Sequence[int]]) -> list[int]:
    """The block of each unit."""
    place = {at: number for number, block in enumerate(blocks) for at in block}
    return [place[at] for at in range(len(place))]


def _loads(graph: Graph, blocks: Iterable[Sequence[int]]) -> Iterator[int]:
    """The load of each block, after one of nothing."""
    yield 0
    yield from (sum(graph.units[at].load for at in block) for block in blocks)


def _neighbours(graph: Graph, blocks: Sequence[Sequence[int]], trial: int) -> list[int]:
    """A few blocks with traffic between them: another one in each trial, and others with it."""
    place = _places(blocks)
    turn, first = divmod(trial, len(blocks))
    chosen = [first]
    while len(chosen) < min(_TOGETHER[turn % len(_TOGETHER)], len(blocks)):
        traffic: dict[int, int] = {}
        for at in (at for block in chosen for at in blocks[block]):
            for to, weight in graph.near[at].items():
                if place[to] not in chosen:
                    traffic[place[to]] = traffic.get(place[to], 0) + weight
        if not traffic:
            break
        ranked = sorted(traffic, key=lambda block: (-traffic[block], block))[:_NEIGHBOURS]
        chosen.append(ranked[(turn + len(chosen)) % len(ranked)])
    return chosen


def _anew(
    graph: Graph, blocks: list[list[int]], chosen: Sequence[int], trial: int, limit: int, over: Callable[[], bool]
) -> Steps[bool]:
    """Fuse the chosen blocks anew; returns whether they have changed, for the better."""
    # If another block is too heavy, making these two lighter than that block is no improvement.
    limit = max(limit, *_loads(graph, [block for at, block in enumerate(blocks) if at not in chosen]))
    units = sorted(at for block in chosen for at in blocks[block])
    part = graph.part(units)
    elements = Elements(part, len(chosen), 2 * trial + 1, limit)
    yield from elements.merge(over)
    yield from elements.improve()
    parts: dict[int, list[int]] = {}
    for at, element in zip(units, elements.places(), strict=True):
        parts.setdefault(element, []).append(at)
    place = _places(blocks)
    before = weighed(part, [place[at] for at in units], limit)
    if len(parts) != len(chosen) or weighed(part, elements.places(), limit) >= before:
        return False
    for block, members in zip(chosen, parts.values(), strict=True):
        blocks[block] = members
    return True
