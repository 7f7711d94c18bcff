"""``Stop``: the events that ask a process to stop, set by signals or by a failure."""

import asyncio
import contextlib
import signal
from collections.abc import Iterator
from typing import Final

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""Signals that ask a process to stop; SIGHUP is sent when the terminal is closed."""


class Stop:
    """Two events: ``asked`` is set by the first signal, ``insisted`` by the second."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.insisted = asyncio.Event()

    def __call__(self) -> None:
        """Handle one signal."""
        (self.insisted if self.asked.is_set() else self.asked).set()

    @contextlib.contextmanager
    def on_signals(self) -> Iterator[None]:
        """Handle :data:`SIGNALS` inside the context; not SIGHUP if the process was started ignoring it (``nohup``)."""
        loop = asyncio.get_running_loop()
        handled = [
            number for number in SIGNALS if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN
        ]
        for number in handled:
            loop.add_signal_handler(number, self)
        try:
            yield
        finally:
            for number in handled:
                loop.remove_signal_handler(number)


async def wait(event: asyncio.Event, seconds: float) -> None:
    """Wait for the event, at most so many seconds; returns in both cases."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
