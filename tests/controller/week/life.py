"""A life of months: bursts of events, the laws after each, and hours in which nothing happens."""

import asyncio
import random
from collections.abc import Callable, Iterable
from typing import Final, Protocol

from tests.controller.controller_process import ControllerProcess
from tests.controller.week.wall_clock import DAY, HOUR

BURST: Final = 50
"""Events between two looks."""

_PAUSES: Final = (0.0, 0.004, 0.02, 0.06, 0.3, 1.1, 1.1, 4.0, 12.0)
"""Seconds between two events."""

_QUIET: Final = (*[0.0] * 20, *[600.0] * 15, *[HOUR] * 3, 6 * HOUR, DAY)
"""Seconds between two bursts. A quiet day costs as much as ten bursts, so one in forty is followed by one."""

_TOLD: Final = 300
"""Lines of the story that are kept."""


class Living(Protocol):
    """What lives: a history of pools or of Jobs."""

    story: list[str]
    candidates: list[ControllerProcess]

    @property
    def leader(self) -> ControllerProcess | None:
        """The controller that leads."""

    def event(self) -> None:
        """Let one thing happen."""

    def calm(self) -> None:
        """Let nothing happen from now on."""

    def resume(self) -> None:
        """Let things happen again."""


async def lived(
    living: Living,
    dice: random.Random,
    events: int,
    *,
    soon: float,
    violations: Callable[[], Iterable[str]],
) -> None:
    """So many events; ``soon`` are the seconds after a burst in which everything is put right.

    Raises AssertionError with the latest events and what is wrong after them.
    """
    for begun in range(0, events, BURST):
        for _ in range(min(BURST, events - begun)):
            await asyncio.sleep(dice.choice(_PAUSES))
            living.event()
        living.calm()
        await asyncio.sleep(soon)
        _hold(living, begun, violations())
        await _forget_the_dead(living)
        leader = living.leader
        assert leader is not None
        written = len(leader.line.writes)
        await asyncio.sleep(dice.choice(_QUIET))
        _hold(living, begun, [*violations(), *(f"written at rest: {one}" for one in leader.line.writes[written:])])
        leader.line.writes.clear()
        del living.story[:-_TOLD]
        living.resume()


async def _forget_the_dead(living: Living) -> None:
    leader = living.leader
    for candidate in living.candidates:
        if candidate is not leader:
            await candidate.end()
    living.candidates[:] = [candidate for candidate in living.candidates if candidate is leader]


def _hold(living: Living, begun: int, violations: Iterable[str]) -> None:
    found = [*violations]
    assert not found, "\n".join([*living.story[-_TOLD:], f"after {begun} events:", *found])
