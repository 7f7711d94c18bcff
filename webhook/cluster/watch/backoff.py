"""Time constants of list and watch (``Pace``), and the pauses of a reflector after failures (``RelistBackoff``)."""

import random
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from kubeapi.client.errors import ApiError, Cause

_dice: Final = random.SystemRandom()


class Pace(Struct, frozen=True, kw_only=True):
    """Time constants of list and watch, in seconds unless said otherwise; tests use shorter times.

    With the defaults, a connection that died silently is noticed within 55 seconds. Bookmarks come too rarely for that,
    once a minute (Kubernetes, ``cacher.go``). Therefore each watch asks the server to end it before 55 seconds are
    over, and the next watch begins at the version at which the last one ended.
    """

    page: int = 250
    """Objects of one page of a list: a megabyte of pods, which is split into objects within a millisecond."""
    batch: int = 25
    """Objects that are processed before other coroutines run: less than a millisecond, since a pod takes 20 µs."""
    gather: float = 0.01
    """Time after a batch of events in which what arrives is left to the next batch: no decision needs it sooner, as an
    event of a watch is some milliseconds old."""
    watch: tuple[float, float] = (40.0, 50.0)
    """Bounds of the random ``timeoutSeconds`` of a watch: random so that replicas do not all reconnect at once."""
    silence: float = 55.0
    """Time without a byte after which the connection of a watch is taken for dead; longer than any watch."""
    answer: float = 30.0
    """Time without a byte after which the connection of a list is taken for dead; a page takes well under a second."""
    brief: float = 1.0
    """A watch that ends earlier than this without an event counts as a failure."""
    least: float = 0.5
    """The shortest pause after a failure."""
    most: float = 30.0
    """The longest pause after a failure, as in client-go."""
    most_away: float = 5.0
    """The longest pause while the API server is unreachable: 10 s after its return all objects must be known again."""
    between_lists: float = 1.0
    """The shortest time from the beginning of one list to the beginning of the next."""
    absent: float = 10.0
    """Time until a kind that is not installed is asked for again."""
    horizon: float = 300.0
    """How far back the API server remembers changes (its ``--etcd-compaction-interval``); later, a list is needed."""


class RelistBackoff:
    """Exponential backoff with jitter after failures; restarts when the cause of the failures changes."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._cause: Cause | None = None
        self.streak = 0
        """Failures of the same cause in a row."""
        self._most: Mapping[Cause, float] = dict.fromkeys((Cause.UNREACHABLE, Cause.BROKEN), pace.most_away)

    def reset(self) -> None:
        """Forget all failures, after a success."""
        self._cause = None
        self.streak = 0

    def pause(self, failure: ApiError) -> float:
        """Seconds to wait after the failure: at least what the API server asked for (Retry-After), at most ``most``."""
        if failure.cause is not self._cause:
            self.reset()
        self._cause = failure.cause
        self.streak += 1
        pace = self._pace
        # The exponent is bounded because the power would exceed the range of a float after a thousand failures.
        highest = min(self._most.get(failure.cause, pace.most), pace.least * 2 ** min(self.streak, 16))
        return max(_dice.uniform(pace.least, highest), min(failure.wait, pace.most))

    def about(self, seconds: float) -> float:
        """A random time of about so many seconds: up to a tenth more or less."""
        return seconds * _dice.uniform(0.9, 1.1)


def between(lowest: float, highest: float) -> float:
    """A random number between the two."""
    return _dice.uniform(lowest, highest)
