"""``ReviewPace``: what reviews cost the webhook itself, and how long it rests for that before the next one."""

from collections.abc import Callable
from time import perf_counter
from typing import Final

REST: Final = 199.0
"""How many times as long as a review costs the webhook rests, and as a template takes to be made no other one is."""

COST: Final = 1e-3
COST_OF_BYTE: Final = 4e-9
"""Seconds of the webhook that a review costs, and each byte of its request and answer: TLS, rights, copies."""

BURST: Final = 2.0
"""Seconds of rest that reviews may leave out at first: a few are answered one right after another."""


class ReviewPace:
    """A rest follows each review. ``caused`` are the seconds of rest that all reviews have caused."""

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._rested = self.caused = 0.0

    @property
    def rest(self) -> float:
        """Seconds until the next review may begin."""
        return max(self._rested - BURST - self._clock(), 0.0)

    def spend(self, size: int) -> None:
        """Count a review whose request and answer have so many bytes."""
        pause = REST * (COST + COST_OF_BYTE * size)
        self._rested = max(self._rested, self._clock()) + pause
        self.caused += pause
