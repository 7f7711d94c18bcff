"""Waits until a condition holds, by checking it again and again; no other module of the control plane sleeps."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

Found = TypeVar("Found")

_FIRST_PAUSE: Final = 0.01
_LONGEST_PAUSE: Final = 0.2
"""Seconds. The pause doubles: short waits end at once, and long ones cost the control plane little."""

_PATIENCE: Final = 4
"""Seconds here for each second that a test grants: on a machine with other work a control plane is late, not wrong."""


class TooLateError(AssertionError):
    """A fact did not come about in time; an assertion, so that a test shows it as its failure."""


def until(ask: Callable[[], Found | None], what: str, seconds: float = 20.0) -> Found:
    """The first answer that is true; fails with ``what`` when the seconds, times ``_PATIENCE``, are over."""
    patience = seconds * _PATIENCE
    deadline = time.monotonic() + patience
    pause = _FIRST_PAUSE
    while True:
        if found := ask():
            return found
        if time.monotonic() > deadline:
            raise TooLateError(f"waited {patience:g} s for this, in vain: {what}")
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)
