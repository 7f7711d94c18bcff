"""Bounds, the greedy search and the integer program against every way to solve small random problems."""

import random
from collections.abc import Iterable

import numpy as np
import pytest
from msgspec.structs import replace

from tests.placement.planning import exhaustive
from tests.placement.planning.at_once import all_of
from tests.placement.planning.search.hard_problem import hard_problem
from tests.placement.planning.search.random_problems import assignments, crowded_problem, random_costs, random_problem
from tests.suite.example_count import EVERY_DAY
from webhook.placement.constraints.topology_limit import OnePerDomain
from webhook.placement.inventory.topology import NOWHERE, Domains
from webhook.placement.planning.search import bounds, greedy, integer_program
from webhook.placement.planning.search.assignment import (
    Assignment,
    AssignmentProblem,
    Block,
    HostNeed,
    PoolChoice,
    in_order,
    violations,
)

SECONDS = 20.0


def check(seed: int, *, limited: bool, labelled: bool = True) -> None:
    chance = random.Random(seed)  # noqa: S311 -- the same problems each time
    problem = random_problem(chance, limited=limited)
    if not labelled:
        nowhere = OnePerDomain("zone", Domains(0, np.full(problem.size, NOWHERE)), (1 << problem.size) - 1)
        blocks = tuple(replace(block, limits=(*block.limits, nowhere)) for block in problem.blocks)
        problem = replace(problem, blocks=blocks)
    costs = random_costs(chance, problem)
    cheapest = min((costs.total(way.places) for way in assignments(problem)), default=None)
    if all_of(bounds.impossible(problem)) is not None:
        assert cheapest is None, seed
    for found in (all_of(greedy.search(problem)), all_of(greedy.search(problem, costs))):
        assert found is None or not [*violations(problem, found)], seed
    solved = integer_program.solve(problem, SECONDS)
    assert solved.proved, seed
    assert (solved.found is None) == (cheapest is None), seed
    best = integer_program.solve(problem, SECONDS, costs)
    assert best.proved, seed
    assert (None if best.found is None else costs.total(best.found.places)) == cheapest, seed


@pytest.mark.parametrize("limited", [True, False])
def test_a_limit_by_a_label_that_no_node_has_limits_nothing(*, limited: bool) -> None:
    for seed in range(25):
        check(seed, limited=limited, labelled=False)


PROBLEMS = 50 if EVERY_DAY else 200


@pytest.mark.parametrize("first", range(0, PROBLEMS, 50))
def test_all_ways_agree(first: int) -> None:
    for seed in range(first, first + 50):
        check(seed, limited=False)


@pytest.mark.untraced
@pytest.mark.parametrize("first", range(0, PROBLEMS, 50))
def test_all_ways_agree_with_limits(first: int) -> None:
    for seed in range(first, first + 50):
        check(seed, limited=True)


CROWDED = 1000 if EVERY_DAY else 10000


@pytest.mark.untraced
def test_blocks_that_cannot_be_packed_have_no_assignment(monkeypatch: pytest.MonkeyPatch) -> None:
    """One in a hundred problems is proved by packing alone: by no other count."""
    problems = [crowded_problem(random.Random(seed)) for seed in range(CROWDED)]  # noqa: S311 -- the same each time
    proofs = [all_of(bounds.impossible(problem)) for problem in problems]
    monkeypatch.setattr(bounds, "too_many", lambda *_: None)
    new = 0
    for problem, proof in zip(problems, proofs, strict=True):
        if proof is None or all_of(bounds.impossible(problem)) is not None:
            continue
        named = replace(problem, blocks=tuple(problem.blocks[at] for at in sorted(proof)))
        assert not any(True for _ in assignments(named))
        new += 1
    assert new >= CROWDED // 120


def test_violations_are_what_the_exhaustive_search_finds_wrong() -> None:
    for seed in range(150):
        problem = random_problem(random.Random(seed))  # noqa: S311 -- the same problems each time
        if any(pool.standing for pool in problem.pools):
            continue
        problem.free[:] = np.maximum(problem.free, 0)
        assert exhaustive.can_be_placed(_instance(problem)) is any(True for _ in assignments(problem)), seed


def _instance(problem: AssignmentProblem) -> exhaustive.Instance:
    """The problem as the exhaustive search has it."""
    return exhaustive.Instance(
        tuple(exhaustive.Node(str(at), _amounts(problem.free[:, at])) for at in range(problem.size)),
        tuple(
            exhaustive.Member(
                f"{at}-{copy}", _names(block.nodes), _amounts(block.requests), frozenset(), block.marks, block.avoids,
                tuple(exhaustive.Use(str(need.pool), need.index) for need in block.hosts),
                frozenset(map(str, block.welcome)),
            )
            for at, block in enumerate(problem.blocks) for copy in range(block.count)
        ),
        tuple(
            exhaustive.Pool(str(at), pool.size, _names(pool.eligible), pool.exclusive)
            for at, pool in enumerate(problem.pools)
        ),
    )  # fmt: skip


def _names(mask: "np.typing.NDArray[np.bool_]") -> frozenset[str]:
    return frozenset(map(str, np.flatnonzero(mask)))


def _amounts(amounts: Iterable[int]) -> dict[str, int]:
    return {str(at): int(amount) for at, amount in enumerate(amounts)}


def _problem(*blocks: Block, pools: tuple[PoolChoice, ...] = ()) -> AssignmentProblem:
    return AssignmentProblem(np.arange(2), np.array([[2, 2]]), blocks, pools)


BOTH = np.ones(2, np.bool_)
ONE = Block(1, BOTH, (1,))
APART = Block(2, BOTH, (0,), frozenset("k"), frozenset("k"))
SHARED = PoolChoice(1, BOTH)
OWN = PoolChoice(1, np.array([True, False]), exclusive=True)

WRONG = {
    "0 of 1 are placed": (_problem(ONE), Assignment(((),))),
    "a node cannot run its block": (_problem(Block(1, ~BOTH, (1,))), Assignment(((0,),))),
    "a node has too little room": (_problem(Block(3, BOTH, (1,))), Assignment(((0, 0, 0),))),
    "two blocks share a node that must not": (_problem(APART), Assignment(((1, 1),))),
    "a pool lacks hosts": (_problem(pools=(SHARED,)), Assignment((), ({},))),
    "a host has changed": (_problem(pools=(PoolChoice(1, BOTH, standing=((0, 1),)),)), Assignment((), ({0: 0},))),
    "a host is not eligible": (_problem(pools=(OWN,)), Assignment((), ({0: 1},))),
    "an exclusive host is another pool's": (_problem(pools=(OWN, SHARED)), Assignment((), ({0: 0}, {0: 0}))),
    "an exclusive host runs a stranger": (_problem(ONE, pools=(OWN,)), Assignment(((0,),), ({0: 0},))),
    "a block is not on its host": (
        _problem(Block(1, BOTH, (1,), hosts=(HostNeed(0),)), pools=(SHARED,)), Assignment(((1,),), ({0: 0},))),
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_said(text: str) -> None:
    assert text in {*violations(*WRONG[text])}


def test_needs_are_sorted_with_and_without_an_index() -> None:
    needs = [HostNeed(1, 0), HostNeed(0, 1), HostNeed(0), HostNeed(0, 0)]
    assert in_order(needs) == (HostNeed(0), HostNeed(0, 0), HostNeed(0, 1), HostNeed(1, 0))


def test_bounds_name_the_blocks_that_do_not_fit() -> None:
    large = Block(1, BOTH, (3,))
    assert all_of(bounds.impossible(_problem(ONE, large))) == frozenset({1})
    assert all_of(bounds.impossible(_problem(ONE, APART, APART))) == frozenset({1, 2})
    assert all_of(bounds.impossible(_problem(*[ONE] * 5))) == frozenset(range(5))
    assert all_of(bounds.impossible(_problem(pools=(OWN, OWN)))) == frozenset()
    assert all_of(bounds.impossible(_problem(pools=(PoolChoice(3, BOTH),)))) == frozenset()
    assert all_of(bounds.impossible(_problem(ONE, APART))) is None


@pytest.mark.parametrize("other", [OWN, SHARED], ids=["another exclusive pool", "a shared pool"])
def test_a_host_that_stands_in_an_exclusive_pool_and_in_another_is_no_assignment(other: PoolChoice) -> None:
    """Each may have one host, and both have the first node already; neither search moves it."""
    pools = tuple(replace(pool, standing=((0, 0),)) for pool in (OWN, other))
    problem = _problem(pools=pools)
    assert all_of(greedy.search(problem)) is None
    assert integer_program.solve(problem, SECONDS).found is None


def test_the_host_of_another_index_is_not_the_one_that_stands() -> None:
    """The second host has room for the block on the first node only, where the first host stands."""
    pool = PoolChoice(2, BOTH, standing=((0, 0),))
    first = Block(1, np.array([True, False]), (1,), hosts=(HostNeed(0, 1),))
    assert integer_program.solve(_problem(first, pools=(pool,)), SECONDS).found is None
    solved = integer_program.solve(_problem(replace(first, nodes=BOTH), pools=(pool,)), SECONDS).found
    assert solved is not None
    assert (solved.places, solved.hosts) == (((1,),), ({0: 0, 1: 1},))


def test_sums_that_are_not_exact_prove_nothing() -> None:
    huge = 2**52
    problem = AssignmentProblem(np.arange(4), np.full((1, 4), huge), (Block(5, np.ones(4, np.bool_), (huge // 2,)),))
    assert all_of(bounds.impossible(problem)) is None


def test_without_blocks_there_is_nothing_to_solve() -> None:
    nothing = AssignmentProblem(np.arange(2), np.zeros((0, 2), np.int64), ())
    solved = integer_program.solve(nothing, SECONDS)
    assert solved.proved
    assert solved.found is not None
    assert (solved.found.places, solved.found.hosts) == ((), ())


def test_without_blocks_and_eligible_nodes_a_pool_has_no_hosts() -> None:
    pools = (PoolChoice(1, np.zeros(2, np.bool_)),)
    solved = integer_program.solve(AssignmentProblem(np.arange(2), np.zeros((0, 2), np.int64), (), pools), SECONDS)
    assert (solved.found, solved.proved) == (None, True)


def test_without_time_a_program_finds_and_proves_nothing() -> None:
    solved = integer_program.solve(hard_problem(), 0.0)
    assert (solved.found, solved.proved) == (None, False)


def test_a_program_that_is_too_large_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integer_program, "LARGEST", 1)
    solved = integer_program.solve(_problem(ONE, ONE), SECONDS)
    assert (solved.found, solved.proved) == (None, False)
