"""``assign``: the assignment problem solved in stages, from counts that prove a no to an exact solver.

Most questions are answered by counts or by the first search. What is left goes to an integer program with a time limit,
so there are three answers: an assignment, the proof that there is none, and neither.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from webhook.placement.planning import bounds, greedy, integer_program
from webhook.placement.planning.assignment import Assignment, AssignmentProblem

Left = Callable[[], float]
"""Seconds that are left for an answer."""

ENOUGH: Final = 0.005
"""Seconds below which no program is started."""


class Answer(Struct, frozen=True, eq=False):
    """``found`` is an assignment, ``decided`` tells that it, or its absence, is certain.

    ``short`` are positions of blocks that counts prove not to fit, if counts prove the absence.
    """

    found: Assignment | None
    decided: bool = True
    short: frozenset[int] | None = None


def assign(problem: AssignmentProblem, left: Left) -> Answer:
    """Look for an assignment as long as time is ``left``."""
    short = bounds.impossible(problem)
    if short is not None:
        return Answer(None, short=short)
    found = greedy.search(problem)
    if found is not None:
        return Answer(found)
    seconds = left()
    if seconds < ENOUGH:
        return Answer(None, decided=False)
    solved = integer_program.solve(problem, seconds)
    return Answer(solved.found, solved.proved or solved.found is not None)
