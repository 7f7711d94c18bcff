"""Two kinds of time: seconds to measure with, and moments to show to people. They are never mixed."""

import functools
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

Clock = Callable[[], float]
"""Seconds since some moment that nobody knows; they only grow."""

seconds: Final[Clock] = functools.partial(
    time.clock_gettime, getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
)  # fmt: skip
"""They pass while the machine is suspended, too (Linux: CLOCK_BOOTTIME), as they do for everybody else."""


def micro_time() -> str:
    """Now, as Kubernetes writes its MicroTime (apimachinery, ``micro_time.go``)."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
