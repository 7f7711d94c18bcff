"""Necessary conditions: counts that prove without any search that there is no assignment.

Each bound names the blocks that cannot all be placed; the other blocks do not matter for the proof.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from webhook.placement.kube.bits import Bits, from_mask, to_slots, union
from webhook.placement.planning.search.assignment import AssignmentProblem, Key
from webhook.placement.planning.search.packing import too_many
from webhook.placement.planning.search.steps import Steps

_EXACT: Final = 2**53
"""Below this sum sums of whole numbers are exact."""


_Proofs: TypeAlias = Iterator[frozenset[int] | None]
"""Positions of blocks that cannot all be placed, and ``None`` after each step without a proof."""


def impossible(problem: AssignmentProblem) -> Steps[frozenset[int] | None]:
    """Positions of blocks that cannot all be placed; ``None`` if no bound says so, empty if a pool lacks nodes."""
    for proof in _pools(problem):
        return proof
    sets: list[Bits] = []
    for at, block in enumerate(problem.blocks):
        yield
        copies = problem.copies(block, problem.free)
        if copies.sum() < block.count:
            return frozenset((at,))
        sets.append(from_mask(copies > 0))
    for conflict in itertools.chain(_cliques(problem, sets), _room(problem, sets)):
        if conflict is not None:
            return conflict
        yield
    return None


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


def _cliques(problem: AssignmentProblem, sets: list[Bits]) -> _Proofs:
    """Blocks that need a node each, with fewer nodes among them (Hall's condition for the sets of single blocks)."""
    for members in _of_keys(problem).values():
        for within in {sets[at] for at in members}:
            inside = [at for at in members if not sets[at] & ~within]
            short = sum(problem.blocks[at].count for at in inside) > within.bit_count()
            yield frozenset(inside) if short else None
        if sum(problem.blocks[at].count for at in members) > union(sets[at] for at in members).bit_count():
            yield frozenset(members)


def _of_keys(problem: AssignmentProblem) -> Mapping[Key, list[int]]:
    """For each key the blocks that both mark and avoid it, so that each of their sets needs a node of its own."""
    positions: dict[Key, list[int]] = {}
    for at, block in enumerate(problem.blocks):
        if block.apart:
            for key in sorted(block.marks & block.avoids):
                positions.setdefault(key, []).append(at)
    return positions


def _room(problem: AssignmentProblem, sets: list[Bits]) -> _Proofs:
    """Blocks that ask together for more of a resource than the nodes have that can run them, or than can be packed."""
    counts = np.array([block.count for block in problem.blocks], np.int64)
    requests = np.array([block.requests for block in problem.blocks], np.int64).reshape(len(counts), len(problem.free))
    asked = requests.astype(np.float64) * counts[:, None]
    yield None
    tight: list[tuple[npt.NDArray[np.intp], npt.NDArray[np.int64], Iterable[int]]] = []
    for within in {*sets, union(sets)}:
        inside = np.array([at for at, nodes_of in enumerate(sets) if not nodes_of & ~within], np.intp)
        free = np.maximum(problem.free[:, to_slots(union({sets[at] for at in inside}))], 0)
        there, wanted = free.sum(axis=1, dtype=np.float64), asked[inside].sum(axis=0)
        yield frozenset(inside.tolist()) if ((wanted > there) & (there < _EXACT)).any() else None
        # With that much left over some node always has room for the largest.
        scarce = wanted + requests[inside].max(axis=0, initial=0) * float(free.shape[1]) > there
        tight.append((inside, free, np.flatnonzero(scarce).tolist()))
    for inside, free, resources in tight:
        for at in resources:
            proof = too_many(requests[inside, at], counts[inside], free[at])
            yield None if proof is None else frozenset(inside[requests[inside, at] >= proof.least].tolist())
