"""Tests on a slower or a faster machine: ``CLOCK_SPEED=40 python -m pytest -p tests.suite.clock_speed TESTS``.

The clocks of Python go so many times as fast, and the work takes as long as ever. A line that coverage has at one speed
and not at another is reached by luck: it needs a test with a clock of its own. A test that fails at a speed of 5 may
fail on a busy machine.
"""

import os
import time
from collections.abc import Callable
from typing import Final

SPEED: Final = float(os.environ.get("CLOCK_SPEED", "1"))


def _at_speed(clock: Callable[[], float]) -> Callable[[], float]:
    begun = clock()
    return lambda: begun + (clock() - begun) * SPEED


for _name in ("monotonic", "perf_counter", "process_time", "thread_time"):
    setattr(time, _name, _at_speed(getattr(time, _name)))
