"""``python -m bench.fusion``: how much traffic fusion leaves between processing elements, and how long it takes.

Random applications with constraints are fused by the search, and compared with the best partition there is (up to 14
operators, by an exhaustive search), with the lower bound, and with a greedy fusion of the usual kind: the next unit
goes to the processing element with most room, and connections decide between equals.
"""

import argparse
import random
import statistics
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bench import machine
from webhook.placement.fusion.application import application_of
from webhook.placement.fusion.cut_bound import WORK, least_cut
from webhook.placement.fusion.graph import Graph, graph_of
from webhook.placement.fusion.partition import Partition, bound, evaluated
from webhook.placement.fusion.rules.mark import Setting
from webhook.placement.fusion.search import good_partition, refined
from webhook.placement.objects.jobs.job_operators import JobOperator, StreamSpec
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.planning.search.solver import Restless, finished, taken

RESULTS: Final = Path(__file__).parent / "RESULTS-fusion.md"


BOUNDED: Final = 190
"""Operators of which the bound is looked for as long as it gets better: of 500 that takes some minutes."""

PATIENT: Final = 100_000_000_000
"""Work for that: 800 steps of 500 operators."""

CLAUSES: Final = (
    'partitionExlocation("x")', 'partitionExlocation("y")', 'hostExlocation("z")', 'host("a")', 'host("b")',
)  # fmt: skip
"""The placements of a fifth of the first operators."""


def operators(chance: random.Random, size: int, clauses: Sequence[str] = CLAUSES) -> JobSpec:
    """The operators of an application: a tree of streams with some more, costs, and clauses on some operators."""
    made = tuple(
        JobOperator(
            name=f"Op{at}",
            cost=f"{chance.choice((100, 200, 400))}m",
            placement=chance.choice(clauses) if at < 60 and chance.random() < 0.2 else None,
        )
        for at in range(size)
    )
    near = [
        StreamSpec(source=f"Op{chance.randrange(at)}", to=f"Op{at}", rate=chance.randint(1, 100))
        for at in range(1, size)
    ]
    more = [
        StreamSpec(source=f"Op{max(0, at - chance.randint(1, 12))}", to=f"Op{at}", rate=chance.randint(1, 20))
        for at in range(1, size)
    ]
    return JobSpec(operators=made, streams=(*near, *more))


def application(chance: random.Random, size: int) -> Graph:
    """An application with constraints."""
    found = graph_of(application_of(operators(chance, size)), Setting())
    if not isinstance(found, Graph):
        raise TypeError("the application contradicts itself")
    return found


def least(graph: Graph, count: int, most: int) -> int:
    """The least traffic between ``count`` elements of at most the allowed load; ``most`` is some that is possible."""
    limit, size = bound(graph, count), len(graph.units)
    order = sorted(range(size), key=lambda at: -sum(graph.near[at].values()))
    clash = [{other for other in range(size) if other != at and graph.clash(at, other)} for at in range(size)]
    best = most
    of: dict[int, int] = {}
    loads = [0] * count

    def extend(place: int, used: int, cut: int) -> None:
        nonlocal best
        if cut >= best or size - place < count - used:
            return
        if place == size:
            best = cut
            return
        at = order[place]
        near = {to: weight for to, weight in graph.near[at].items() if to in of}
        total = sum(near.values())
        apart = {of[other] for other in clash[at] if other in of}
        inside = [0] * count
        for to, weight in near.items():
            inside[of[to]] += weight
        for block in sorted(range(min(used + 1, count)), key=lambda block: -inside[block]):
            if block in apart or loads[block] + graph.units[at].load > limit:
                continue
            of[at] = block
            loads[block] += graph.units[at].load
            extend(place + 1, max(used, block + 1), cut + total - inside[block])
            loads[block] -= graph.units[at].load
            del of[at]

    extend(0, 0, 0)
    return best


def greedy(graph: Graph, count: int) -> Partition:
    """The greedy fusion."""
    places = [-1] * len(graph.units)
    loads = [0] * count
    for at, unit in enumerate(graph.units):
        apart = {places[other] for other in range(at) if graph.clash(at, other)}
        inside = [0] * len(loads)
        for to, weight in graph.near[at].items():
            if places[to] >= 0:
                inside[places[to]] += weight
        able = [block for block in range(len(loads)) if block not in apart]
        if not able:
            loads.append(0)
            able, inside = [len(loads) - 1], [*inside, 0]
        chosen = min(able, key=lambda block: (loads[block], -inside[block], block))
        places[at] = chosen
        loads[chosen] += unit.load
    return evaluated(graph, places, {})


def fused(graph: Graph, count: int) -> Partition:
    """What the search finds."""
    found = finished(taken(good_partition(graph, count, {}), Restless()))
    return finished(taken(refined(graph, found, {}), Restless()))


def ratio(one: int, other: int) -> float:
    """How many times as much it is."""
    return 1.0 if one == other else one / max(other, 1)


def small(count: int) -> list[str]:
    """The rows of applications of up to 14 operators."""
    ratios, better, skipped = [], [], 0
    for seed in range(count):
        chance = random.Random(seed)  # noqa: S311 -- a seed gives the same application in each run
        graph = application(chance, chance.randint(4, 14))
        found = fused(graph, chance.randint(2, 4))
        if found.goals[0]:
            skipped += 1
            continue
        made = len(found.blocks)
        ratios.append(ratio(found.cut, least(graph, made, found.cut)))
        other = greedy(graph, made)
        if len(other.blocks) == made and not other.goals[0]:
            better.append(ratio(other.cut, found.cut))
    worst, exact = max(ratios), sum(one == 1 for one in ratios)
    return [
        (
            f"| up to 14 | {len(ratios)} | {exact} | {statistics.mean(ratios):.3f} | {worst:.3f} | "
            f"{statistics.median(better):.2f} | {min(better):.2f} |"
        ),
        "",
        f"{skipped} of {count} applications are left out: they cannot keep the bound on the load.",
    ]


def bounded(count: int) -> list[str]:
    """The row of applications of 15 to 24 operators: what is found against the lower bound."""
    ratios = []
    for seed in range(count):
        chance = random.Random(seed)  # noqa: S311 -- as above
        graph = application(chance, chance.randint(15, 24))
        found = fused(graph, chance.randint(2, 4))
        if not found.goals[0]:
            ratios.append(ratio(found.cut, least_cut(graph, found)))
    exact, near = (sum(one <= most for one in ratios) for most in (1, 1.25))
    return [
        f"| 15 to 24 | {len(ratios)} | {exact} | {near} | {statistics.mean(ratios):.3f} | {max(ratios):.3f} |",
    ]


def large(sizes: Sequence[int], most: int) -> list[str]:
    """The rows of larger applications, of up to ``most`` operators with a bound that is looked for with patience."""
    rows = []
    for size in sizes:
        chance = random.Random(size)  # noqa: S311 -- as above
        begun = time.process_time()
        graph = application(chance, size)
        found = fused(graph, max(2, size // 15))
        took = time.process_time() - begun
        made = len(found.blocks)
        other = greedy(graph, made)
        total = sum(graph.application.traffic.values())
        begun = time.process_time()
        least = least_cut(graph, found, work=PATIENT if size <= most else WORK)
        bounding = time.process_time() - begun
        rows.append(
            f"| {size} | {made} | {100 * found.cut / total:.1f} % | {ratio(found.cut, least):.2f} | {bounding:.1f} s | "
            f"{ratio(other.cut, found.cut):.2f} ({len(other.blocks)}) | {took:.2f} s |"
        )
    return rows


def main() -> None:
    """Measure, and write the results."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--graphs", type=int, default=300)
    options.add_argument("--bounded", type=int, default=BOUNDED, help="operators with a good bound at most")
    stated = options.parse_args()
    count = stated.graphs
    lines = [
        "# Fusion",
        "",
        f"`python -m bench.fusion`, {datetime.now(UTC):%Y-%m-%d}",
        "",
        *(f"- {name}: {value}" for name, value in machine.describe()),
        "",
        "Traffic between elements, against the least there is with as many elements and the same bound on the",
        "load, and that of a greedy fusion against that of the search.",
        "",
        "| operators | applications | exactly the least | mean | worst | greedy, median | greedy, least |",
        "|---|---|---|---|---|---|---|",
        *small(count),
        "",
        "Applications of more operators: what is found against the lower bound; where both are equal it is the least.",
        "",
        "| operators | applications | exactly the least | at most 1.25 times | mean | worst |",
        "|---|---|---|---|---|---|",
        *bounded(count // 3),
        "",
        "Larger applications: the share of the traffic between elements, against the bound, and the greedy fusion",
        "(with its number of elements) against the search. Times are those of one CPU.",
        "",
        "| operators | elements | between them | against the bound | time for it | greedy | time |",
        "|---|---|---|---|---|---|---|",
        *large((30, 50, 100, 128, 190, 500, 1000, 5000), stated.bounded),
        "",
        "The goal is 1.25 times the bound. A step of the bound takes the cube of the operators: of more than",
        f"{stated.bounded} it is that of a spanning forest, which has a stream for each element and is far below what",
        "can be reached; so it is in the product of more than 195.",
    ]
    RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
