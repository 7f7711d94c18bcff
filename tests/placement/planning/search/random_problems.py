"""Small random assignment problems, and every way to solve them tried one after another."""

import itertools
import random
from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace

from webhook.placement.constraints.topology_limit import MaxSkew, OnePerDomain
from webhook.placement.inventory.topology import Domains
from webhook.placement.planning.search.assignment import (
    Assignment,
    AssignmentProblem,
    Block,
    HostNeed,
    PoolChoice,
    in_order,
    violations,
)
from webhook.placement.planning.search.costs import Costs

Limits = tuple[OnePerDomain | MaxSkew, ...]


def random_problem(chance: random.Random, *, limited: bool = False) -> AssignmentProblem:
    """Up to four nodes, four blocks and two pools, some of which have hosts."""
    size = chance.randint(1, 4)
    free = np.array([[chance.randint(-1, 6) for _ in range(size)], [chance.randint(0, 4) for _ in range(size)]])
    pools = tuple(_pool(chance, size) for _ in range(chance.choice((0, 0, 1, 2))))
    blocks = tuple(_block(chance, size, pools, limited=limited) for _ in range(chance.randint(1, 4)))
    return AssignmentProblem(np.arange(size), free.astype(np.int64), blocks, pools)


def crowded_problem(chance: random.Random) -> AssignmentProblem:
    """Such a problem, in which blocks want a third of a node of one resource, or more: few share a node."""
    problem = random_problem(chance, limited=chance.random() < 0.2)
    free = [[chance.randint(6, 10) for _ in range(problem.size)], [chance.randint(0, 4) for _ in range(problem.size)]]
    blocks = tuple(
        replace(
            block,
            count=chance.choice((1, 1, 2)),
            nodes=block.nodes | (chance.random() < 0.7),
            requests=(chance.choice((0, 3, 4, 5, 6, 7)), chance.choice((0, 0, 1, 2))),
            marks=block.marks if chance.random() < 0.2 else frozenset(),
            hosts=block.hosts if chance.random() < 0.4 else (),
        )
        for block in problem.blocks
    )
    return replace(problem, free=np.array(free, np.int64), blocks=blocks)


def _pool(chance: random.Random, nodes: int) -> PoolChoice:
    standing = ((0, chance.randrange(nodes)),) if chance.random() < 0.3 else ()
    able = np.array([chance.random() < 0.8 for _ in range(nodes)])
    return PoolChoice(chance.randint(1, 2), able, chance.random() < 0.5, standing)


def _block(chance: random.Random, size: int, pools: tuple[PoolChoice, ...], *, limited: bool) -> Block:
    hosts: list[HostNeed] = []
    if pools and chance.random() < 0.6:
        chosen = chance.sample(range(len(pools)), chance.choice((1, 1, len(pools))))
        hosts = [HostNeed(at, chance.choice((None, None, 0, pools[at].size - 1))) for at in chosen]
    able = np.array([chance.random() < 0.75 for _ in range(size)])
    marks, avoids = ({key for key in "ab" if chance.random() < share} for share in (0.35, 0.3))
    return Block(
        count=chance.choice((1, 1, 1, 2, 3) if limited else (1, 1, 1, 2)),
        nodes=able,
        requests=(chance.randint(0, 3), chance.choice((0, 1, 1, 2))),
        marks=frozenset(marks),
        avoids=frozenset(avoids),
        hosts=in_order(hosts),
        limits=_limits(chance, size) if limited else (),
        welcome=frozenset(at for at in range(len(pools)) if chance.random() < 0.2),
    )


def _limits(chance: random.Random, size: int) -> Limits:
    found: list[OnePerDomain | MaxSkew] = []
    for _ in range(chance.choice((0, 1, 1, 2))):
        count = chance.randint(1, size)
        of = np.array([chance.randint(-1, count - 1) for _ in range(size)])
        domains = Domains(count, of)
        if chance.random() < 0.4:
            found.append(OnePerDomain("zone", domains, (1 << size) - 1))
            continue
        there = np.array([chance.choice((0, 0, 1, 2)) for _ in range(count)])
        counted = np.array([chance.random() < 0.8 for _ in range(count)])
        own = np.array([at for at in range(size) if chance.random() < 0.2], np.intp)
        found.append(
            MaxSkew("zone", domains, (1 << size) - 1, chance.randint(1, 2), counted, chance.random() < 0.2, there, own)
        )
    return tuple(found)


def random_costs(chance: random.Random, problem: AssignmentProblem) -> Costs:
    """What the blocks of the problem cost on each node."""
    rows = tuple(np.array([chance.randint(0, 300) for _ in range(problem.size)]) for _ in problem.blocks)
    return Costs(rows, pods=tuple(chance.choice((1, 1, 2)) for _ in problem.blocks))


def assignments(problem: AssignmentProblem) -> Iterator[Assignment]:
    """Every assignment without violations."""
    places = [
        [*itertools.combinations_with_replacement(np.flatnonzero(block.nodes).tolist(), block.count)]
        for block in problem.blocks
    ]
    for hosts in itertools.product(*(_hosts(problem, pool) for pool in problem.pools)):
        for found in itertools.product(*places):
            way = Assignment(found, hosts)
            if not any(violations(problem, way)):
                yield way


def _hosts(problem: AssignmentProblem, pool: PoolChoice) -> list[dict[int, int]]:
    """Every way to complete the hosts of the pool."""
    standing = dict(pool.standing)
    missing = [index for index in range(pool.size) if index not in standing]
    able = [place for place in range(problem.size) if pool.eligible[place] and place not in standing.values()]
    return [standing | dict(zip(missing, chosen, strict=True)) for chosen in itertools.permutations(able, len(missing))]
