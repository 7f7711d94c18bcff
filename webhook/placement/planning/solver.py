"""``assign``: the assignment problem solved in stages, from counts that prove a no to an exact solver.

Most questions are answered by counts or by the first search. What is left goes to an integer program with a time limit,
so there are three answers: an assignment, the proof that there is none, and neither.
"""

from collections.abc import Coroutine
from typing import Any, Final, Protocol, TypeVar

from msgspec import Struct

from webhook.placement.planning import bounds, greedy
from webhook.placement.planning.assignment import Assignment, AssignmentProblem
from webhook.placement.planning.costs import Costs
from webhook.placement.planning.integer_program import Solved

ENOUGH: Final = 0.005
"""Seconds below which no program is started."""

Result = TypeVar("Result")


class Solving(Protocol):
    """How integer programs are solved, and how much time there is: at once, or in a thread while others work."""

    def left(self) -> float:
        """Seconds that are left; 0 or less if there is no time for another search."""
        ...

    async def solve(self, problem: AssignmentProblem, seconds: float, costs: Costs | None = None) -> Solved:
        """Solve the problem in at most so many seconds; with ``costs`` look for the cheapest assignment."""
        ...

    async def rest(self) -> None:
        """Let others work: called before each search."""
        ...


class Answer(Struct, frozen=True, eq=False):
    """``found`` is an assignment, ``decided`` tells that it, or its absence, is certain.

    ``short`` are positions of blocks that counts prove not to fit, if counts prove the absence.
    """

    found: Assignment | None
    decided: bool = True
    short: frozenset[int] | None = None


async def assign(problem: AssignmentProblem, solving: Solving) -> Answer:
    """Look for an assignment as long as there is time."""
    await solving.rest()
    short = bounds.impossible(problem)
    if short is not None:
        return Answer(None, short=short)
    if solving.left() <= 0:
        return Answer(None, decided=False)
    found = greedy.search(problem)
    if found is not None:
        return Answer(found)
    seconds = solving.left()
    if seconds < ENOUGH:
        return Answer(None, decided=False)
    solved = await solving.solve(problem, seconds)
    return Answer(solved.found, solved.proved or solved.found is not None)


def finished(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of a coroutine that waits for nothing, because its ``Solving`` does everything at once."""
    try:
        work.send(None)
    except StopIteration as end:
        result: Result = end.value
        return result
    work.close()
    raise RuntimeError("it waits for something")
