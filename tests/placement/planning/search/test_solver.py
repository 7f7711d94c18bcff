"""The three answers: an assignment, the proof that there is none, and neither."""

import asyncio
from typing import Any

import numpy as np
import pytest

from tests.placement.planning.at_once import AtOnce
from webhook.placement.planning.search.assignment import AssignmentProblem, Block, violations
from webhook.placement.planning.search.integer_program import Solved
from webhook.placement.planning.search.solver import Assigned, Brief, assign, finished


def packed(*amounts: int, nodes: int = 2) -> AssignmentProblem:
    """Blocks of these amounts on nodes of 6."""
    able = np.ones(nodes, np.bool_)
    blocks = tuple(Block(1, able, (amount,)) for amount in amounts)
    return AssignmentProblem(np.arange(nodes), np.full((1, nodes), 6), blocks)


def rivals(*pairs: str) -> AssignmentProblem:
    """Blocks on two nodes, of which those of a pair must not share one."""
    able = np.ones(2, np.bool_)
    keys = [frozenset(pair for pair in pairs if name in pair) for name in sorted({*"".join(pairs)})]
    return AssignmentProblem(np.arange(2), np.full((1, 2), 6), tuple(Block(1, able, (1,), own, own) for own in keys))


IMPOSSIBLE = rivals("ab", "bc", "ca")


class Hurried(AtOnce):
    """Has time for so many questions about the time that is left, and never an answer of a program."""

    def __init__(self, *left: float) -> None:
        super().__init__()
        self._left = list(left)

    def left(self) -> float:
        """The next of the numbers."""
        return self._left.pop(0)

    async def run(self, _work: object) -> Any:
        """Nothing is found in so little time."""
        self.programs += 1
        return Solved(None, proved=False)


def answer(problem: AssignmentProblem, solving: AtOnce) -> Assigned:
    return finished(assign(problem, solving))


def test_counts_prove_a_no_and_name_blocks() -> None:
    found = answer(packed(7, 1), solving := AtOnce())
    assert (found.found, found.decided, found.short, solving.programs) == (None, True, frozenset({0}), 0)


def test_the_first_search_answers_what_is_easy() -> None:
    found = answer(packed(3, 2), solving := AtOnce())
    assert found.found
    assert not [*violations(packed(3, 2), found.found)]
    assert (found.decided, solving.programs) == (True, 0)


def test_a_program_proves_what_counts_do_not() -> None:
    found = answer(IMPOSSIBLE, solving := AtOnce())
    assert (found.found, found.decided, found.short, solving.programs) == (None, True, None, 1)


@pytest.mark.parametrize(("left", "programs"), [((0.0,), 0), ((1.0, 0.001), 0), ((1.0, 1.0), 1)])
def test_without_time_nothing_is_decided(left: tuple[float, ...], programs: int) -> None:
    found = answer(IMPOSSIBLE, solving := Hurried(*left))
    assert (found.found, found.decided, found.short, solving.programs) == (None, False, None, programs)


def test_a_proof_by_counts_takes_no_time() -> None:
    assert answer(packed(7), Hurried()).decided


def test_a_coroutine_that_waits_is_not_finished() -> None:
    with pytest.raises(RuntimeError, match="it waits for something"):
        finished(asyncio.sleep(0))


def test_a_brief_question_is_answered_by_the_same_means_in_less_time() -> None:
    solving = AtOnce(seconds=20.0)
    brief = Brief(solving, 0.5)
    assert brief.left() == pytest.approx(0.5)
    found = finished(assign(IMPOSSIBLE, brief))
    assert (found.found, found.decided, solving.programs) == (None, True, 1)
