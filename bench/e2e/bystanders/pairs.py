"""Measurements of two control planes by turns, in pairs, and the share of one plane in the other.

A machine that is shared with others changes its speed within seconds, by more than what is to be measured. The two
requests of a pair, or its two blocks of requests, follow right after each other, so that both find the same machine.
Which plane is first changes with each pair.
"""

import math
import statistics
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

_NORMAL: Final = 1.96
"""Standard deviations within which 95 % of a normal distribution are."""


class Pairs(Struct, frozen=True):
    """One kind of request in a plane of some state, each beside the same in a plane without the chart.

    Each pair has the figure of the plane first, then that of the plane without the chart.

    Attributes:
        rates: requests a second by many clients, for each pair of blocks.
        durations: milliseconds of a request by one client, for each pair of requests.
        cpu: milliseconds of CPU time that all processes of each plane took for a request.
    """

    rates: Sequence[tuple[float, float]]
    durations: Sequence[tuple[float, float]]
    cpu: tuple[float, float]


class Share(Struct, frozen=True):
    """A ratio that is 1 where the chart costs nothing, with the bounds within which it is with 95 % certainty."""

    middle: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.middle:.2f} ({self.low:.2f} to {self.high:.2f})"


def rate_share(turns: Sequence[Pairs]) -> Share:
    """How many requests a second many clients make, of those that they make without the chart."""
    return combined([median_share([own / without for own, without in turn.rates]) for turn in turns])


def duration_share(turns: Sequence[Pairs]) -> Share:
    """How much faster one client is without the chart: below 1 where the chart takes time."""
    return combined([median_share([without / own for own, without in turn.durations]) for turn in turns])


def cpu_share(turns: Sequence[Pairs]) -> float:
    """CPU time of a request without the chart, of that with it."""
    return statistics.geometric_mean(turn.cpu[1] / turn.cpu[0] for turn in turns)


def median_share(ratios: Sequence[float]) -> Share:
    """The median, and the ratios between which the true median is with 95 % certainty (the sign test's interval)."""
    ordered = sorted(ratios)
    outside = max(0, math.floor((len(ordered) - _NORMAL * math.sqrt(len(ordered))) / 2))
    return Share(statistics.median(ordered), ordered[outside], ordered[-1 - outside])


def combined(shares: Sequence[Share]) -> Share:
    """The geometric mean of shares whose planes have changed their parts.

    A plane that is faster for another reason than the chart makes one of two shares as much too large as the other too
    small.
    """
    return Share(
        *(statistics.geometric_mean(getattr(each, name) for each in shares) for name in Share.__struct_fields__)
    )
