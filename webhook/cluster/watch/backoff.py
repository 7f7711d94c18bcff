"""Every time constant of list and watch, and the pauses after failures."""

import random
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from kubeapi.client.errors import ApiError, Cause

_dice: Final = random.SystemRandom()


class Pace(Struct, frozen=True, kw_only=True):
    """Time constants of list and watch, in seconds unless said otherwise; tests use shorter ones.

    With the default figures a connection that died without a word is noticed within 55 seconds. Bookmarks alone would
    not do: they come once a minute (Kubernetes, ``cacher.go``). So the API server is asked to end each watch before
    that, and the next watch goes on from the version at which it ended.
    """

    page: int = 250
    """Objects of one page: a megabyte of pods, of which the first look takes a millisecond."""
    batch: int = 25
    """Objects taken up before others get their turn: a millisecond, as a pod takes some 40 microseconds."""
    watch: tuple[float, float] = (40.0, 50.0)
    """Between which a watch ends by itself; at random, lest all replicas come back at once."""
    silence: float = 55.0
    """Without a byte, a connection is taken for dead; longer than any watch."""
    answer: float = 30.0
    """The same for a page of a list, which the API server sends in well under a second."""
    brief: float = 1.0
    """A watch that ends earlier without an event was none."""
    least: float = 0.5
    """The shortest pause after a failure."""
    most: float = 30.0
    """The longest, as client-go has it."""
    most_away: float = 5.0
    """The longest while the API server is away: everything is to be known again 10 s after it is back."""
    between_lists: float = 1.0
    """From the beginning of a list to that of the next, whatever happens."""
    absent: float = 10.0
    """Until a kind that is not installed is asked for again."""
    horizon: float = 300.0
    """How far back the API server remembers (its ``--etcd-compaction-interval``): after that, only a list helps."""


class RelistBackoff:
    """Pauses after failures: exponential, with jitter; a failure of another cause begins with the shortest again."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._cause: Cause | None = None
        self.streak = 0
        """Failures of the same cause in a row."""
        self._most: Mapping[Cause, float] = dict.fromkeys((Cause.UNREACHABLE, Cause.BROKEN), pace.most_away)

    def reset(self) -> None:
        """Begin with the shortest pause again: a request has succeeded."""
        self._cause = None
        self.streak = 0

    def pause(self, failure: ApiError) -> float:
        """Seconds to wait after that failure; at least what the API server asks for, within bounds."""
        if failure.cause is not self._cause:
            self.reset()
        self._cause = failure.cause
        self.streak += 1
        pace = self._pace
        # Beyond 2^16 the pause has long reached its end, and would leave the range of a float one day.
        highest = min(self._most.get(failure.cause, pace.most), pace.least * 2 ** min(self.streak, 16))
        return max(_dice.uniform(pace.least, highest), min(failure.wait, pace.most))

    def about(self, seconds: float) -> float:
        """A random number of seconds within a tenth of the given one."""
        return seconds * _dice.uniform(0.9, 1.1)


def between(lowest: float, highest: float) -> float:
    """A random number of seconds between the two."""
    return _dice.uniform(lowest, highest)
