"""Necessary conditions: counts that prove without any search that there is no assignment.

Each bound names the blocks that cannot all be placed; the other blocks do not matter for the proof.
"""

import itertools
from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from webhook.placement.kube.bits import Bits, from_mask, to_slots, union
from webhook.placement.planning.assignment import AssignmentProblem, Key

_EXACT: Final = 2**53
"""Below this sum sums of whole numbers are exact."""


def impossible(problem: AssignmentProblem) -> frozenset[int] | None:
    """Positions of blocks that cannot all be placed; ``None`` if no bound says so, empty if a pool lacks nodes."""
    sets = [from_mask(problem.copies(block, problem.free) > 0) for block in problem.blocks]
    proofs = itertools.chain(_pools(problem), _alone(problem), _cliques(problem, sets), _room(problem, sets))
    return next(proofs, None)


def _pools(problem: AssignmentProblem) -> Iterator[frozenset[int]]:
    """Pools with fewer eligible nodes than they need, each alone and all exclusive ones together."""
    eligible = np.zeros(problem.size, np.bool_)
    needed = 0
    for pool in problem.pools:
        missing = pool.size - len(pool.standing)
        if np.count_nonzero(pool.eligible) < missing:
            yield frozenset()
        if pool.exclusive:
            eligible |= pool.eligible
            needed += missing
    if np.count_nonzero(eligible) < needed:
        yield frozenset()


def _alone(problem: AssignmentProblem) -> Iterator[frozenset[int]]:
    """Blocks that do not fit even without all others."""
    for at, block in enumerate(problem.blocks):
        if problem.copies(block, problem.free).sum() < block.count:
            yield frozenset((at,))


def _cliques(problem: AssignmentProblem, sets: list[Bits]) -> Iterator[frozenset[int]]:
    """Blocks that need a node each, with fewer nodes among them (Hall's condition for the sets of single blocks)."""
    for members in _of_keys(problem).values():
        for within in {sets[at] for at in members}:
            inside = [at for at in members if not sets[at] & ~within]
            if sum(problem.blocks[at].count for at in inside) > within.bit_count():
                yield frozenset(inside)
        if sum(problem.blocks[at].count for at in members) > union(sets[at] for at in members).bit_count():
            yield frozenset(members)


def _of_keys(problem: AssignmentProblem) -> Mapping[Key, list[int]]:
    """For each key the blocks that both mark and avoid it, so that each of their sets needs a node of its own."""
    found: dict[Key, list[int]] = {}
    for at, block in enumerate(problem.blocks):
        if block.apart:
            for key in sorted(block.marks & block.avoids):
                found.setdefault(key, []).append(at)
    return found


def _room(problem: AssignmentProblem, sets: list[Bits]) -> Iterator[frozenset[int]]:
    """Blocks that ask together for more of a resource than the nodes have that can run them."""
    for within in {*sets}:
        inside = [at for at in range(len(sets)) if not sets[at] & ~within]
        places = to_slots(union(sets[at] for at in inside))
        free = np.clip(problem.free[:, places], 0, None).sum(axis=1, dtype=np.float64)
        asked = np.zeros(len(free))
        for at in inside:
            asked += np.array(problem.blocks[at].requests, np.float64) * problem.blocks[at].count
        if ((asked > free) & (free < _EXACT)).any():
            yield frozenset(inside)
