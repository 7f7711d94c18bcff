"""An event loop whose time passes at once when there is nothing to do, and not otherwise."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any, TypeVar

Result = TypeVar("Result")

_LATER = 1e-10
"""Seconds by which a timer is later than the one before it; the clock shows microseconds."""


class _SkippingSelector(selectors.DefaultSelector):
    """Instead of waiting it moves the clock."""

    now = 1000.0
    shown = now
    """The time in whole microseconds."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout == 0 and len(self.get_map()) == 1:
            return []  # callbacks are ready; what threads have called is asked for before the clock moves
        events = super().select(0)
        if timeout and not events:
            self.now += timeout
            self.shown = round(self.now, 6)
        assert events or timeout is not None, "nothing will ever happen again"
        return events


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """For everything that waits for timers only: a minute passes in no time, and always takes a minute."""

    def __init__(self) -> None:
        self._skip = _SkippingSelector()
        self._timers = 0
        super().__init__(self._skip)
        self._clock_resolution = 1e-6

    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Of timers for one moment the first comes first: asyncio itself leaves their order open."""
        self._timers = (self._timers + 1) % 1000
        return super().call_at(when + self._timers * _LATER, callback, *args, context=context)

    def time(self) -> float:
        return self._skip.shown


def in_virtual_time(life: Coroutine[None, None, Result]) -> Result:
    """What comes of a life that passes in a loop of its own."""
    loop = VirtualTimeLoop()
    try:
        return loop.run_until_complete(life)
    finally:
        loop.close()


def clock() -> float:
    """The time of the loop that runs."""
    return asyncio.get_running_loop().time()


async def settle() -> None:
    """Let all tasks do what can be done now."""
    for _ in range(10):
        await asyncio.sleep(0)
