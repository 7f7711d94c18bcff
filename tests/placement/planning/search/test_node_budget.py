"""Nodes that do not exist yet: they are used last, and within what their node groups make."""

import random
from collections.abc import Sequence

import numpy as np
import pytest
from msgspec.structs import replace

from tests.placement.planning.at_once import all_of
from tests.placement.planning.search.random_problems import assignments, random_problem
from tests.suite.example_count import some_of
from webhook.placement.planning.search import greedy, integer_program
from webhook.placement.planning.search.assignment import Assignment, AssignmentProblem, Block, violations
from webhook.placement.planning.search.node_budget import NodeBudget

CASES = some_of(1200)
BATCH = 50
SECONDS = 20.0


def budgets(chance: random.Random, size: int, new: int) -> tuple[NodeBudget, ...]:
    """Budgets of one or two groups of the last ``new`` nodes."""
    groups = [chance.randrange(2) for _ in range(new)]
    found = []
    for group in range(2):
        nodes = np.array([False] * (size - new) + [one == group for one in groups])
        amounts = tuple((row, chance.randint(0, 5)) for row in range(2) if chance.random() < 0.5)
        found.append(NodeBudget(nodes, chance.choice((None, 0, 1, 1, 2)), amounts))
    return tuple(found)


def budgeted(seed: int) -> AssignmentProblem:
    """The problem of that number."""
    chance = random.Random(seed)  # noqa: S311 -- the same cases each time
    problem = random_problem(chance)
    new = chance.randint(0, problem.size)
    problem = replace(problem, free=np.where(np.arange(problem.size) < problem.size - new, problem.free, 6))
    return replace(problem, new=new, budgets=budgets(chance, problem.size, new))


@pytest.mark.examples
@pytest.mark.parametrize("first", range(0, CASES, BATCH))
def test_all_ways_agree_within_budgets(first: int) -> None:
    for seed in range(first, min(first + BATCH, CASES)):
        problem = budgeted(seed)
        possible = any(True for _ in assignments(problem))
        solved = integer_program.solve(problem, SECONDS)
        assert (solved.found is not None, solved.proved) == (possible, True), f"case {seed}"
        quick = all_of(greedy.search(problem))
        assert quick is None or not [*violations(problem, quick)], f"case {seed}"


def on(size: int, new: int, *blocks: Block, budgets: Sequence[NodeBudget] = ()) -> AssignmentProblem:
    """Blocks on nodes of 6, the last of which are new."""
    return AssignmentProblem(np.arange(size), np.full((1, size), 6), blocks, new=new, budgets=tuple(budgets))


def block(count: int, amount: int, size: int) -> Block:
    """Sets of pods that any node can run."""
    return Block(count, np.ones(size, np.bool_), (amount,))


def places(problem: AssignmentProblem) -> tuple[tuple[int, ...], ...]:
    """Where the first search puts the blocks."""
    found = all_of(greedy.search(problem))
    assert found is not None
    return found.places


def test_new_nodes_come_after_all_others() -> None:
    assert places(on(3, 2, block(3, 2, 3))) == ((0, 0, 0),)
    assert places(on(3, 2, block(4, 2, 3))) == ((0, 0, 0, 1),)


def test_what_a_budget_allows() -> None:
    new = np.array([False, True, True])
    two = NodeBudget(new, 2, ((0, 5),))
    assert two.kept([((2,), (0, 1, 2)), ((1,), (1,))])
    assert not two.kept([((2,), (0, 1, 2)), ((2,), (1,))])
    one = NodeBudget(new, 1)
    assert one.kept([((9,), (0, 0, 1, 1))])
    assert not one.kept([((9,), (1, 2))])
    wrong = [*violations(on(3, 2, block(2, 1, 3), budgets=(one,)), Assignment(((1, 2),)))]
    assert wrong == ["a node group makes too little"]


def test_a_program_looks_at_all_new_nodes() -> None:
    """Of the others as many matter as there are sets of pods."""
    apart = Block(2, np.ones(6, np.bool_), (4,), frozenset("a"), frozenset("a"))
    few = [NodeBudget(np.arange(6) == 4, 0), NodeBudget(np.arange(6) == 5, None, ((0, 3),))]
    solved = integer_program.solve(on(6, 2, apart, budgets=few), SECONDS)
    assert solved.found is not None
    assert solved.found.places == ((0, 1),)
    alone = Block(1, np.array([False, False, False, False, True, True]), (4,))
    assert integer_program.solve(on(6, 2, alone, budgets=few), SECONDS).found is None
    solved = integer_program.solve(on(6, 2, alone, budgets=few[1:]), SECONDS)
    assert solved.found is not None
    assert solved.found.places == ((4,),)


def test_nodes_that_no_block_can_use_and_amounts_that_none_asks_for() -> None:
    size = 2
    problem = AssignmentProblem(
        np.arange(size), np.full((2, size), 6), (Block(1, np.array([False, True]), (0, 4)),), new=2,
        budgets=(NodeBudget(np.ones(size, np.bool_), 1, ((0, 0), (1, 4))),),
    )  # fmt: skip
    assert places(problem) == ((1,),)
    solved = integer_program.solve(problem, SECONDS)
    assert solved.found is not None
    assert solved.found.places == ((1,),)
