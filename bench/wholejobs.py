"""``python -m bench.wholejobs``: how long decisions about whole Jobs take, on instances that are hard on purpose.

Each row is one kind of instance, made from a seed: the median and the largest time of several seeds, how many were
decided by counts, by the first search and by the integer program, and how many were not decided within a second. With
``--versus`` the programs of the kinds that need one are solved by OR-Tools CP-SAT as well, if that is installed.
"""

import argparse
import random
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from bench import machine
from webhook.cluster.queries.job_verdicts import AtOnce
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.whole_job import judge_job
from webhook.placement.kube.pod import Resources
from webhook.placement.objects.jobs.job_spec import ElementSpec, JobSpec, OperatorSpec
from webhook.placement.objects.node import Node
from webhook.placement.objects.pool_spec import HostPoolSpec
from webhook.placement.planning.search import bounds, greedy, integer_program
from webhook.placement.planning.search.assignment import AssignmentProblem, Block
from webhook.placement.planning.search.solver import finished, taken
from webhook.placement.planning.search.steps import Result, Steps

RESULTS: Final = Path(__file__).parent / "RESULTS-wholejobs.md"
LIMIT: Final = 1.0
"""Seconds for a decision, as by default."""

Job = tuple[JobSpec, Inventory]


def inventory(count: int, chance: random.Random, *, cpus: Sequence[int] = (16, 32, 64)) -> Inventory:
    """A cluster of so many nodes; a third has the tag ``ib``, a fifth ``ssd``."""
    found = Inventory()
    for at in range(count):
        labels = {"kubernetes.io/hostname": f"node-{at}"}
        if at % 3 == 0:
            labels["streams.ibm.com/hostpool"] = "ib"
        elif at % 5 == 0:
            labels["streams.ibm.com/hostpool"] = "ssd"
        cpu = chance.choice(cpus)
        offers = {"cpu": cpu * 1000, "memory": cpu * 4 << 30, "pods": 110}
        found.set_node(Node(f"node-{at}", f"uid-{at}", labels, (), (), offers))
    return found


def element(at: int, placement: str, cpu: float, memory: int = 1) -> ElementSpec:
    """One element of a Job."""
    operators = (OperatorSpec(name=f"Op{at}", placement=placement),) if placement else None
    return ElementSpec(
        operators=operators, resources=Resources({"cpu": f"{int(cpu * 1000)}m", "memory": f"{memory}Gi"})
    )


def job(elements: Sequence[ElementSpec], pools: Sequence[HostPoolSpec] = ()) -> JobSpec:
    """The spec of a Job of these elements."""
    return JobSpec(processing_elements=tuple(elements), host_pools=tuple(pools) or None)


def equal(chance: random.Random) -> Job:
    """A thousand equal elements."""
    return job([element(at, "", 1) for at in range(1000)]), inventory(5000, chance)


def kinds(chance: random.Random) -> Job:
    """A thousand elements of twenty kinds."""
    texts = ["", "host(Ib)", "host(Ssd)", 'hostExlocation("a")', 'host(Ib), hostExlocation("b")']
    found = [element(at, chance.choice(texts), chance.choice((0.5, 1, 2, 4))) for at in range(1000)]
    pools = (HostPoolSpec(name="Ib", tags=("ib",)), HostPoolSpec(name="Ssd", tags=("ssd",)))
    return job(found, pools), inventory(5000, chance)


def groups(chance: random.Random) -> Job:
    """125 groups of eight elements, each on a node of its own."""
    found = [element(at, f'hostExlocation("g{at // 8}")', chance.choice((1, 2))) for at in range(1000)]
    return job(found), inventory(5000, chance)


def different(chance: random.Random) -> Job:
    """A thousand elements that differ in what they request."""
    found = [element(at, "", 1 + at / 1000, 1 + at % 7) for at in range(1000)]
    return job(found), inventory(5000, chance)


def isolated(chance: random.Random) -> Job:
    """A hundred isolated elements among a thousand."""
    found = [element(at, "hostIsolation" if at % 10 == 0 else "", 1) for at in range(1000)]
    return job(found), inventory(5000, chance)


def colocated(chance: random.Random) -> Job:
    """Two hundred groups of five elements, each on one node."""
    found = [element(at, f'hostColocation("c{at // 5}")', 1) for at in range(1000)]
    return job(found), inventory(5000, chance)


def too_many_apart(chance: random.Random) -> Job:
    """One element more than the pool has hosts, all apart."""
    found = [element(at, 'host(Ib), hostExlocation("t")', 1) for at in range(169)]
    return job(found, (HostPoolSpec(name="Ib", tags=("ib",)),)), inventory(504, chance)


def pools(chance: random.Random) -> Job:
    """Twenty exclusive pools of ten hosts."""
    specs = [
        HostPoolSpec(name=f"P{at}", size=10, mode="Exclusive", tags=("ib",) if at % 2 else None) for at in range(20)
    ]
    found = [element(at, f"host(P{at % 20})", chance.choice((4, 8, 12))) for at in range(200)]
    return job(found, specs), inventory(1000, chance)


def packed(count: int, nodes: int, share: float) -> Callable[[random.Random], Job]:
    """Requests of a third to three quarters of a node that add up to that share of all nodes."""

    def make(chance: random.Random) -> Job:
        sizes = [chance.uniform(0.2, 0.75) for _ in range(count)]
        scale = nodes * 16 * share / sum(sizes)
        return job([element(at, "", round(size * scale, 3)) for at, size in enumerate(sizes)]), inventory(
            nodes, chance, cpus=(16,)
        )

    return make


KINDS: Final[dict[str, Callable[[random.Random], Job]]] = {
    "1,000 equal elements, 5,000 nodes": equal,
    "1,000 elements of 20 kinds, 5,000 nodes": kinds,
    "125 groups of 8 apart, 5,000 nodes": groups,
    "1,000 different elements, 5,000 nodes": different,
    "100 isolated among 1,000, 5,000 nodes": isolated,
    "200 groups of 5 together, 5,000 nodes": colocated,
    "169 apart on 168 hosts, 504 nodes": too_many_apart,
    "20 exclusive pools of 10, 1,000 nodes": pools,
    "bin packing at 90 %, 40 elements, 20 nodes": packed(40, 20, 0.90),
    "bin packing at 95 %, 100 elements, 60 nodes": packed(100, 60, 0.95),
    "bin packing at 97 %, 200 elements, 100 nodes": packed(200, 100, 0.97),
}


def measure(make: Callable[[random.Random], Job], seeds: int) -> tuple[list[float], Counter[str]]:
    """Seconds of each seed, and how many of them were decided in which way."""
    times, ways = [], Counter[str]()
    for seed in range(seeds):
        spec, cluster = make(random.Random(seed))  # noqa: S311 -- the same instances each time
        begun = time.perf_counter()
        verdict = finished(judge_job("default", "bench", spec, cluster, Policy(), AtOnce(LIMIT)))
        times.append(time.perf_counter() - begun)
        ways[way_of(verdict)] += 1
    return times, ways


def way_of(verdict: JobVerdict) -> str:
    """How the decision ended."""
    if verdict.undecided:
        return "not decided"
    return "refused" if verdict.refused else "admitted"


def row(name: str, make: Callable[[random.Random], Job], seeds: int) -> str:
    """The line of one kind."""
    times, ways = measure(make, seeds)
    decided = ", ".join(f"{count} {way}" for way, count in sorted(ways.items()))
    return f"| {name} | {statistics.median(times) * 1000:.0f} | {max(times) * 1000:.0f} | {decided} |"


def hard(seed: int) -> AssignmentProblem:
    """A random problem of the size at which searches fail: tight room, groups apart, half of the nodes for each."""
    chance = random.Random(seed)  # noqa: S311 -- the same instances each time
    nodes = chance.randint(8, 40)
    count = chance.randint(nodes, 2 * nodes)
    sizes = [chance.randint(20, 75) for _ in range(count)]
    room = max(80, int(sum(sizes) / nodes / chance.uniform(0.88, 0.99)))
    blocks = []
    for at, size in enumerate(sizes):
        key = frozenset((f"t{at // 6}",)) if chance.random() < 0.5 else frozenset[str]()
        able = np.array([chance.random() < 0.6 for _ in range(nodes)])
        blocks.append(Block(1, able, (size,), key, key))
    return AssignmentProblem(np.arange(nodes), np.full((1, nodes), room, np.int64), tuple(blocks))


def _all_of(steps: Steps[Result]) -> Result:
    return finished(taken(steps, AtOnce(LIMIT)))


def hardest(wanted: int) -> list[AssignmentProblem]:
    """The first so many problems that neither counts nor the first search decide."""
    found: list[AssignmentProblem] = []
    seed = 0
    while len(found) < wanted:
        problem = hard(seed)
        seed += 1
        if _all_of(bounds.impossible(problem)) is None and _all_of(greedy.search(problem)) is None:
            found.append(problem)
    return found


def by_cp_sat(problem: AssignmentProblem, seconds: float) -> bool:
    """Whether CP-SAT decides the problem in time: the same program of whole numbers."""
    from ortools.sat.python import cp_model  # noqa: PLC0415 -- only where it is installed

    model: Any = cp_model.CpModel()
    columns = [
        {int(place): model.new_bool_var("") for place in np.flatnonzero(problem.copies(block, problem.free))}
        for block in problem.blocks
    ]
    for mine in columns:
        model.add_exactly_one(mine.values())
    for place in range(problem.size):
        here = [(at, mine[place]) for at, mine in enumerate(columns) if place in mine]
        model.add(sum(problem.blocks[at].requests[0] * column for at, column in here) <= int(problem.free[0][place]))
        for key in {key for at, _ in here for key in problem.blocks[at].marks}:
            model.add_at_most_one(column for at, column in here if key in problem.blocks[at].marks)
    solver: Any = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = seconds
    return solver.solve(model) in {cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.INFEASIBLE}


def by_highs(problem: AssignmentProblem, seconds: float) -> bool:
    """Whether HiGHS decides the problem in time."""
    solved = integer_program.solve(problem, seconds)
    return solved.proved or solved.found is not None


SOLVERS: Final = {"HiGHS": by_highs, "CP-SAT": by_cp_sat}


def solved(name: str, count: int) -> str:
    """The line of one solver; both have a HiGHS of their own, so they cannot be in one process."""
    problems, times, decided = hardest(count), [], 0
    for problem in problems:
        begun = time.perf_counter()
        decided += SOLVERS[name](problem, LIMIT)
        times.append(time.perf_counter() - begun)
    high = statistics.quantiles(times, n=20)[-1]
    middle = statistics.median(times)
    return f"| {name} | {decided} of {count} | {middle * 1000:.0f} | {high * 1000:.0f} | {sum(times):.0f} |"


def versus(count: int) -> list[str]:
    """Each solver in a process of its own."""
    lines = []
    for name in SOLVERS:
        words = [sys.executable, "-m", "bench.wholejobs", "--solver", name, "--versus", str(count)]
        run = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 -- our own
        lines.append(run.stdout.strip() if run.returncode == 0 else f"| {name} | not installed | | | |")
        print(lines[-1], flush=True)
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and write the results."""
    parser = argparse.ArgumentParser("python -m bench.wholejobs", description="Measure decisions about whole Jobs.")
    parser.add_argument("--seeds", type=int, default=7, help="Instances of each kind.")
    parser.add_argument("--versus", type=int, default=0, metavar="N", help="Compare solvers on N hard programs.")
    parser.add_argument(
        "--results", type=Path, default=None, metavar="FILE", help=f"Write there, such as {RESULTS.name}."
    )
    parser.add_argument("--solver", choices=SOLVERS, help="Measure only that solver.")
    arguments = parser.parse_args(argv)
    if arguments.solver:
        print(solved(arguments.solver, arguments.versus))
        return 0
    lines = ["| kind | median, ms | largest, ms | verdicts |", "|---|---|---|---|"]
    for name, make in KINDS.items():
        lines.append(row(name, make, arguments.seeds))
        print(lines[-1], flush=True)
    if arguments.versus:
        lines += ["", f"## {arguments.versus} programs that neither counts nor the first search decide, 1 s each", ""]
        lines += ["| solver | decided | median, ms | 95th percentile, ms | all, s |", "|---|---|---|---|---|"]
        lines += versus(arguments.versus)
    if arguments.results:
        where = ", ".join(f"{name} {value}" for name, value in machine.describe())
        when = f"{datetime.now(UTC):%Y-%m-%d}, {arguments.seeds} seeds of each kind: {where}"
        arguments.results.write_text("\n".join(["# Decisions about whole Jobs", "", when, "", *lines, ""]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
