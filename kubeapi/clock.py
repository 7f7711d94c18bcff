"""The two clocks of the programs: monotonic seconds for durations, and timestamps for Kubernetes objects."""

import functools
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

Clock = Callable[[], float]
"""A monotonic clock: seconds since an unspecified moment."""

seconds: Final[Clock] = functools.partial(
    time.clock_gettime, getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
)  # fmt: skip
"""The default clock. It runs while the machine is suspended (Linux: CLOCK_BOOTTIME), as other machines' clocks
do."""


def micro_time() -> str:
    """The present time as a Kubernetes MicroTime (apimachinery, ``micro_time.go``)."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
