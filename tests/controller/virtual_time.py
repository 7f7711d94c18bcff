"""An event loop whose time passes at once when there is nothing to do, and not otherwise."""

import asyncio
import selectors


class _SkippingSelector(selectors.DefaultSelector):
    """Instead of waiting it moves the clock."""

    now = 1000.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        events = super().select(0)
        if not events:
            assert timeout is not None, "nothing will ever happen again"
            self.now += timeout
        return events


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """For everything that waits for timers only: a minute passes in no time, and always takes a minute."""

    def __init__(self) -> None:
        self._skip = _SkippingSelector()
        super().__init__(self._skip)

    def time(self) -> float:
        return self._skip.now


def clock() -> float:
    """The time of the loop that runs."""
    return asyncio.get_running_loop().time()


async def settle() -> None:
    """Let everybody do what can be done now."""
    for _ in range(10):
        await asyncio.sleep(0)
