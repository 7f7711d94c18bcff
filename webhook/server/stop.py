"""The wish to stop: by signal, or because something failed."""

import asyncio
import contextlib
import signal
from collections.abc import Iterator
from typing import Final

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""Signals that ask to stop; SIGHUP comes when the terminal goes away."""


class Stop:
    """The wish to stop, by signal: the first asks for it, the second insists on it."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.insisted = asyncio.Event()

    def __call__(self) -> None:
        """Note one more wish."""
        (self.insisted if self.asked.is_set() else self.asked).set()

    @contextlib.contextmanager
    def on_signals(self) -> Iterator[None]:
        """Listen to the signals meanwhile, but not to a SIGHUP that whoever started the program (nohup) has ignored."""
        loop = asyncio.get_running_loop()
        heard = [number for number in SIGNALS if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN]
        for number in heard:
            loop.add_signal_handler(number, self)
        try:
            yield
        finally:
            for number in heard:
                loop.remove_signal_handler(number)


async def wait(event: asyncio.Event, seconds: float) -> None:
    """Until the event, and no longer than so many seconds."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
