"""``assign``: the assignment problem solved in stages, from counts that prove that none exists, to an exact solver.

Most questions are answered by counts or by the first search. What is left goes to an integer program with a time limit,
so there are three answers: an assignment, the proof that none exists, and undecided.
"""

import functools
from collections.abc import Callable, Coroutine
from typing import Any, Final, Protocol

from msgspec import Struct

from webhook.placement.planning.search import bounds, greedy, integer_program
from webhook.placement.planning.search.assignment import Assignment, AssignmentProblem
from webhook.placement.planning.search.steps import Result, Steps

ENOUGH: Final = 0.005
"""Seconds below which no program is started."""


LOOKS: Final = 4000
"""Looks at the clock for small problems: a refusal takes 50 to 800, and some four make a question."""


class Resting(Protocol):
    """Long work in steps, with rests between them."""

    async def rest(self) -> None:
        """Let others work if it has been long since the last time: called after every few tenths of a millisecond."""
        ...


class Restless:
    """Work that is done without a rest: nothing else waits."""

    async def rest(self) -> None:
        """Returns at once."""


class Solving(Resting, Protocol):
    """How integer programs are solved, and how much time there is: at once, or in a thread while others work."""

    def left(self) -> float:
        """Seconds that are left; 0 or less if there is no time for another search."""
        ...

    async def run(self, work: Callable[[], Result]) -> Result:
        """The result of work that may take long: it reads nothing that changes."""
        ...


class Unhurried:
    """``Solving`` for small problems: each gets one second, measured in looks at the clock instead of time.

    What is found then does not depend on how busy the machine is.
    """

    def __init__(self, solving: Solving) -> None:
        self._solving = solving
        self._looks = LOOKS

    def left(self) -> float:
        """The second, as long as there are looks left."""
        self._looks -= 1
        return float(self._looks >= 0)

    async def run(self, work: Callable[[], Result]) -> Result:
        """The result of the work."""
        return await self._solving.run(work)

    async def rest(self) -> None:
        """Let others work."""
        await self._solving.rest()


class Brief:
    """``Solving`` for one question, which is to take at most ``seconds``."""

    def __init__(self, solving: Solving, seconds: float) -> None:
        self._solving = solving
        self._kept = solving.left() - seconds

    def left(self) -> float:
        """Seconds that are left for the question."""
        return min(self._solving.left(), self._solving.left() - self._kept)

    async def run(self, work: Callable[[], Result]) -> Result:
        """The result of the work."""
        return await self._solving.run(work)

    async def rest(self) -> None:
        """Let others work."""
        await self._solving.rest()


class Assigned(Struct, frozen=True, eq=False):
    """``found`` is an assignment, ``decided`` tells that it, or its absence, is certain.

    ``short`` are positions of blocks that counts prove not to fit, if counts prove the absence.
    """

    found: Assignment | None
    decided: bool = True
    short: frozenset[int] | None = None


async def assign(problem: AssignmentProblem, solving: Solving) -> Assigned:
    """Look for an assignment as long as there is time."""
    await solving.rest()
    short = await taken(bounds.impossible(problem), solving)
    if short is not None:
        return Assigned(None, short=short)
    if solving.left() <= 0:
        return Assigned(None, decided=False)
    placed = await taken(greedy.search(problem), solving)
    if placed is not None:
        return Assigned(placed)
    seconds = solving.left()
    if seconds < ENOUGH:
        return Assigned(None, decided=False)
    solved = await solving.run(functools.partial(integer_program.solve, problem, seconds))
    return Assigned(solved.found, solved.proved or solved.found is not None)


async def taken(steps: Steps[Result], solving: Resting) -> Result:
    """The result of the steps, between which others work."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
        await solving.rest()


def finished(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of a coroutine that waits for nothing, because its ``Solving`` does everything at once."""
    try:
        work.send(None)
    except StopIteration as end:
        result: Result = end.value
        return result
    work.close()
    raise RuntimeError("it waits for something")
