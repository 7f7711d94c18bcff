"""Two kinds of time: seconds to measure with, and moments to show to people. They are never mixed."""

import functools
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

Clock = Callable[[], float]
"""Seconds since an unspecified moment; they never decrease."""

seconds: Final[Clock] = functools.partial(
    time.clock_gettime, getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
)  # fmt: skip
"""A clock that goes on while the machine is suspended (Linux: CLOCK_BOOTTIME), as the clocks of other machines do."""


def micro_time() -> str:
    """The present moment as Kubernetes writes its MicroTime (apimachinery, ``micro_time.go``)."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
