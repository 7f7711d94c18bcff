"""Load at a fixed rate: so many calls a second, however long each takes, with the outcome of each call."""

import contextlib
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from tests.e2e.certificates.rotation_load import again_and_again
from tests.e2e.progress import say

AT_ONCE: Final = 8
"""Calls under way."""

_BACKLOG: Final = 4 * AT_ONCE
"""Calls that wait for their turn on a busy machine; more are not begun, and the rate falls."""

_TURN_SECONDS: Final = 0.005


class Load:
    """How many calls were begun, and the outcomes so far in the order of their ends."""

    def __init__(self) -> None:
        self.sent = 0
        self.outcomes: list[str] = []  # lists append atomically


@contextlib.contextmanager
def paced(what: str, call: Callable[[], str], rate: float, most: float = math.inf) -> Iterator[Load]:
    """``rate`` calls a second, ``most`` in all, until the block ends: each is answered by then, and none forgotten."""
    load, began = Load(), time.monotonic()
    with ThreadPoolExecutor(AT_ONCE, what) as clients:

        def run() -> None:
            load.outcomes.append(call())

        def due() -> None:
            wanted = min((time.monotonic() - began) * rate, most)
            while load.sent < wanted and load.sent - len(load.outcomes) < _BACKLOG:
                clients.submit(run)
                load.sent += 1

        with again_and_again(due, _TURN_SECONDS):
            yield load
    say(f"{what}: {load.sent} in {time.monotonic() - began:.1f} s: {dict(Counter(load.outcomes))}")
    assert len(load.outcomes) == load.sent
