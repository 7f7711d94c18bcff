"""What a call costs: calls of functions, as many on a busy machine, seconds of CPU, which are not, and memory it keeps.

A bound on calls finds a loop that has come to depend on the square of its input. A regular expression that goes
back and forth is one call, so the seconds are bounded as well: generously every day, exactly at night.
"""

import cProfile
import gc
import sys
import time
import tracemalloc
from collections.abc import Callable
from types import FrameType
from typing import Final, NamedTuple

from tests.suite.example_count import EVERY_DAY

_TRIES: Final = 10
"""Before a call counts as slow at night: other programs on the machine make some of them look so."""

_BUSY: Final = 1.5
"""How much more CPU time a call takes where other programs use the caches of the same core."""

_COUNTED: Final = 10.0
"""How much more it may take every day: counting makes a call up to three times as slow, a busy machine twice."""


class Work(NamedTuple):
    """The cost of one call, or the most that it may be."""

    calls: int
    seconds: float


def calls(function: Callable[[], object]) -> int:
    """Calls of functions, in Python and in C, that a call makes; each time that a generator goes on is one.

    They are counted in C: a function of Python that was called for each would take three times as long as they do.
    """
    profiler = cProfile.Profile(subcalls=False)
    before = sys.getprofile()
    try:
        profiler.runcall(function)
    finally:
        sys.setprofile(before)
    return sum(entry.callcount for entry in profiler.getstats())


def own_calls(function: Callable[[], object]) -> int:
    """Calls of functions that are written in Python; each time that a generator goes on is one."""
    profiler, made = sys.getprofile(), 0

    def note(_frame: FrameType, event: str, _of: object) -> None:
        nonlocal made
        made += event == "call"

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(profiler)
    return made


def kept(function: Callable[[], object]) -> int:
    """The bytes that are in use after a call and were not before, without those of garbage."""
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        function()
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return after - before


def seconds(function: Callable[[], object], limit: float) -> float:
    """The least CPU time that the call took of a few, the first within the limit at best."""
    least = float("inf")
    gc.collect()
    gc.freeze()  # what all the other tests hold is never looked through again: that would cost each of them more
    for _ in range(_TRIES):
        start = time.process_time()
        function()
        least = min(least, time.process_time() - start)
        if least <= limit:
            break
    return least


def excess(function: Callable[[], object], limit: Work) -> Work | None:
    """The cost of a call if that is more than the limit; the seconds of the limit are those of an idle machine."""
    start = time.process_time()
    made, took = calls(function), time.process_time() - start
    allowed = limit.seconds * _COUNTED
    if not EVERY_DAY:
        allowed = limit.seconds * _BUSY
        took = seconds(function, allowed)
    return Work(made, took) if made > limit.calls or took > allowed else None
