"""The assignment problem of pods that are placed together: blocks to be put on nodes, and pools that need hosts.

A block is a set of pods that have to share a node. This is the abstract problem, without clauses and texts: ``members``
makes it from pods, ``greedy`` and ``integer_program`` look for an ``Assignment``, and ``bounds`` proves that there is
none. Nodes are positions in ``AssignmentProblem.slots``; a ``Mask`` has one entry for each position.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from webhook.placement.constraints.topology_limit import Limit
from webhook.placement.inventory.capacity import Row
from webhook.placement.planning.search.node_budget import NodeBudget

Mask: TypeAlias = npt.NDArray[np.bool_]
"""A set of nodes: one entry for each position."""

Key: TypeAlias = str
"""What blocks mark and avoid: a token, an isolation, a host port."""


class HostNeed(Struct, frozen=True):
    """The block runs on a host of the pool at position ``pool``, with an ``index`` on that one host."""

    pool: int
    index: int | None = None


def in_order(needs: Iterable[HostNeed]) -> tuple[HostNeed, ...]:
    """The needs by pool and index, those without an index first."""
    return tuple(sorted(needs, key=lambda need: (need.pool, -1 if need.index is None else need.index)))


class Block(Struct, frozen=True, eq=False):
    """``count`` equal sets of pods; the pods of one set share a node.

    ``nodes`` are those that can run one of them by everything but room and other blocks. ``requests`` has one amount
    for each resource of the problem. No block is on one node with another one that marks a key which it avoids.
    ``limits`` are those on the pods of a single template. ``welcome`` are pools whose hosts may run the block although
    it does not need them.
    """

    count: int
    nodes: Mask
    requests: tuple[int, ...]
    marks: frozenset[Key] = frozenset()
    avoids: frozenset[Key] = frozenset()
    hosts: tuple[HostNeed, ...] = ()
    limits: tuple[Limit, ...] = ()
    welcome: frozenset[int] = frozenset()

    @property
    def pools(self) -> frozenset[int]:
        """The pools whose hosts it may use even if they are exclusive."""
        return self.welcome.union(need.pool for need in self.hosts)

    @property
    def apart(self) -> bool:
        """Whether no two of the equal sets can share a node."""
        return not self.marks.isdisjoint(self.avoids)


class PoolChoice(Struct, frozen=True, eq=False):
    """A HostPool of ``size`` hosts, of which all but ``standing`` are yet to be chosen among the ``eligible`` nodes.

    ``standing`` are indices and positions of the hosts that it has already. The hosts of an ``exclusive`` pool run no
    block that does not need the pool, and are hosts of no other pool.
    """

    size: int
    eligible: Mask
    exclusive: bool = False
    standing: tuple[tuple[int, int], ...] = ()


class AssignmentProblem(Struct, frozen=True, eq=False):
    """Blocks and pools; ``free`` has a row for each resource, and in it what is free on each node.

    The last ``new`` nodes do not exist yet: only blocks that have no place on others go there, within the ``budgets``.
    """

    slots: npt.NDArray[np.intp]
    free: npt.NDArray[np.int64]
    blocks: tuple[Block, ...]
    pools: tuple[PoolChoice, ...] = ()
    new: int = 0
    budgets: tuple[NodeBudget, ...] = ()

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return len(self.slots)

    @property
    def total(self) -> int:
        """How many sets of pods there are to be placed."""
        return sum(block.count for block in self.blocks)

    def copies(self, block: Block, free: npt.NDArray[np.int64]) -> Row:
        """How many of the block each node has room for, at most ``count``; 0 on nodes that cannot run it."""
        if block.count == 1 or block.apart:
            able = block.nodes.copy()
            for amount, available in zip(block.requests, free, strict=True):
                if amount:
                    able &= available >= amount
            return able.astype(np.int64)
        copies = np.where(block.nodes, block.count, 0)
        for amount, available in zip(block.requests, free, strict=True):
            if amount:
                copies = np.minimum(copies, np.maximum(available, 0) // amount)
        return copies


class Assignment(Struct, frozen=True, eq=False):
    """Where everything is: for each block the positions of its nodes, ascending, one for each of its sets.

    ``hosts`` are the positions of the hosts of each pool by index.
    """

    places: tuple[tuple[int, ...], ...]
    hosts: tuple[dict[int, int], ...] = ()


def violations(problem: AssignmentProblem, assignment: Assignment) -> Iterator[str]:
    """What is wrong with an assignment, in words for a developer; nothing if it solves the problem."""
    free = problem.free.copy()
    for block, places in zip(problem.blocks, assignment.places, strict=True):
        if len(places) != block.count:
            yield f"{len(places)} of {block.count} are placed"
        if not block.nodes[list(places)].all():
            yield "a node cannot run its block"
        for place in places:
            free[:, place] -= np.array(block.requests, np.int64)
    if (free < np.minimum(problem.free, 0)).any():
        yield "a node has too little room"
    yield from _together(problem, assignment)
    yield from _pools(problem, assignment)
    placed = [(block.requests, places) for block, places in zip(problem.blocks, assignment.places, strict=True)]
    yield from ("a node group makes too little" for budget in problem.budgets if not budget.kept(placed))
    for block, places in zip(problem.blocks, assignment.places, strict=True):
        yield from (
            f"a limit on {limit.key} is exceeded" for limit in block.limits if not _within(limit, problem, places)
        )


def _together(problem: AssignmentProblem, assignment: Assignment) -> Iterator[str]:
    """Blocks on one node that must not share it."""
    on: dict[int, list[Block]] = {}
    for block, places in zip(problem.blocks, assignment.places, strict=True):
        for place in places:
            on.setdefault(place, []).append(block)
    for blocks in on.values():
        for one, other in itertools.permutations(blocks, 2):
            if not one.avoids.isdisjoint(other.marks):
                yield "two blocks share a node that must not"


def _pools(problem: AssignmentProblem, assignment: Assignment) -> Iterator[str]:
    """Pools without their hosts, and blocks that are on the wrong hosts."""
    for at, (pool, hosts) in enumerate(zip(problem.pools, assignment.hosts, strict=True)):
        if len({*hosts.values()}) != pool.size or {*hosts} != {*range(pool.size)}:
            yield "a pool lacks hosts"
        standing = dict(pool.standing)
        if any(standing.get(index, place) != place for index, place in hosts.items()):
            yield "a host has changed"
        if not all(pool.eligible[place] for index, place in hosts.items() if index not in standing):
            yield "a host is not eligible"
        if pool.exclusive and any(
            not {*hosts.values()}.isdisjoint(others.values()) for to, others in enumerate(assignment.hosts) if to != at
        ):
            yield "an exclusive host is another pool's"
        for block, places in zip(problem.blocks, assignment.places, strict=True):
            needs = [need for need in block.hosts if need.pool == at]
            if pool.exclusive and at not in block.pools and not {*hosts.values()}.isdisjoint(places):
                yield "an exclusive host runs a stranger"
            for need in needs:
                fine = {*hosts.values()} if need.index is None else {hosts.get(need.index, -1)}
                if not fine.issuperset(places):
                    yield "a block is not on its host"


def _within(limit: Limit, problem: AssignmentProblem, places: Sequence[int]) -> bool:
    """Whether the pods of one template keep the limit, all of them being there."""
    at = problem.slots[list(places)]
    domains = limit.domains.of[at]
    counts = np.bincount(domains[domains >= 0], minlength=limit.domains.count)
    return bool((counts <= limit.most(counts.astype(np.int64))).all())
