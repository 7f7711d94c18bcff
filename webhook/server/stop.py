"""The wish to stop: by signal, or because something failed."""

import asyncio
import contextlib
import signal
from collections.abc import Iterator
from typing import Final

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


class Stop:
    """SIGTERM and SIGINT: the first asks to stop, the second insists on it."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.insisted = asyncio.Event()

    def __call__(self) -> None:
        """Note one more wish."""
        (self.insisted if self.asked.is_set() else self.asked).set()

    @contextlib.contextmanager
    def on_signals(self) -> Iterator[None]:
        """Listen to the signals meanwhile."""
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self)
        try:
            yield
        finally:
            for number in SIGNALS:
                loop.remove_signal_handler(number)


async def wait(event: asyncio.Event, seconds: float) -> None:
    """Until the event, and no longer than so many seconds."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
