"""The wall clock of the controllers' machine, which somebody sets."""

import random
from typing import Final

from tests.controller.controller_process import wall_clock

HOUR: Final = 3600.0
DAY: Final = 24 * HOUR

_JUMPS: Final = (-40 * DAY, -DAY, -HOUR, -60.0, -1.0, 1.0, 60.0, HOUR, DAY, 40 * DAY)
"""Seconds: corrections, a daylight-saving time that was taken for UTC, and a battery that was empty."""


class WallClock:
    """Right at first; ``offset`` are the seconds that it is fast."""

    def __init__(self) -> None:
        self.offset = 0.0

    def __call__(self) -> float:
        return wall_clock() + self.offset

    def jump(self, dice: random.Random) -> None:
        """Set it forward or back, or right again."""
        self.offset = 0.0 if dice.random() < 0.3 else self.offset + dice.choice(_JUMPS)
