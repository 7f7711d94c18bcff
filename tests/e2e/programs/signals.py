"""SIGTERM ends the tests as Ctrl-C does, through every ``finally``, so that no process is left."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def orderly_end() -> Iterator[None]:
    """While this lasts SIGTERM raises KeyboardInterrupt, unless somebody else handles it already."""
    ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    if not ours:
        yield
        return
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _interrupt(number: int, _: FrameType | None) -> None:
    raise KeyboardInterrupt(f"signal {number}")
