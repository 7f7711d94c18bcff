"""``RequestRate``: how many requests one address may make in a second (token bucket)."""

import math
from collections.abc import Callable
from time import monotonic
from typing import Final

ADDRESSES: Final = 4096
"""Addresses that are distinguished; the quietest ones are forgotten, which gives them a full bucket."""


class RequestRate:
    """Allows each address ``per_second`` requests a second, and as many at once after a second of quiet.

    With ``per_second`` 0 everything is allowed.
    """

    def __init__(self, per_second: float, *, clock: Callable[[], float] = monotonic) -> None:
        self._rate = per_second
        self._clock = clock
        self._allowed = 1.0 - 1.0 / max(per_second, 1.0)
        """Seconds by which a bucket may be from full, so that there is room for another request."""
        self._full_at: dict[str, float] = {}
        """When the bucket of each address will be full; the address that asked last is the last one."""

    def wait(self, address: str) -> int:
        """Count a request; returns 0 if it is allowed, else after how many whole seconds the next one will be."""
        if not self._rate:
            return 0
        now = self._clock()
        full_at = max(now, self._full_at.pop(address, now))
        wait = full_at - now - self._allowed
        if wait > 0:
            self._full_at[address] = full_at
            return math.ceil(wait)
        if len(self._full_at) >= ADDRESSES:
            del self._full_at[next(iter(self._full_at))]
        self._full_at[address] = full_at + 1.0 / self._rate
        return 0
