"""The goals of the benchmark: ratios within one run, and bounds of memory and time.

Figures with "few pods" are with 10,000 pods: enough for colocation, exlocation and isolation to matter.
"""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from bench.generated.topology import Scale

LARGER = 3
"""How many times the nodes of the small cluster the large one has: 5,000 and 15,000 by default."""

FEW = 10_000
"""Pods where their number is not the point."""


class Scales(Struct, frozen=True):
    """The four clusters of one run."""

    small: Scale
    large: Scale
    small_full: Scale
    large_full: Scale


def scales(nodes: int, pods: int) -> Scales:
    """Clusters of so many nodes, and three times as many, with few pods and with so many."""
    few = min(pods, FEW)
    return Scales(Scale(nodes, few), Scale(LARGER * nodes, few), Scale(nodes, pods), Scale(LARGER * nodes, pods))


class Goal(Struct, frozen=True):
    """A bound for one figure: at least, or at most."""

    what: str
    scale: Literal["small", "large", "small_full", "large_full", ""]
    side: Literal["at least", "at most"]
    bound: float
    unit: str

    def met(self, value: float) -> bool:
        """Whether the figure is on the right side."""
        return value >= self.bound if self.side == "at least" else value <= self.bound

    def missed_by(self, value: float) -> str:
        """How far the figure is on the wrong side, in per cent of the bound."""
        return f"{abs(value / self.bound - 1):.0%} {'short' if self.side == 'at least' else 'over'}"

    def __str__(self) -> str:
        return f"{self.side} {self.bound:g} {self.unit}"


_BARE, _LOOP = "x bare echo", "x faster"

GOALS: Mapping[str, Goal] = {
    "throughput": Goal("reviews a second, 16 connections", "small", "at least", 0.65, _BARE),
    "throughput_families": Goal(
        "the same, every review with hardware, mapping and most other families", "small", "at least", 0.45, _BARE
    ),
    "throughput_operators": Goal(
        "the same, every placement text with an operator of its own", "small", "at least", 0.40, _BARE
    ),
    "throughput_strangers": Goal(
        "the same, every pod of a job of its own, so that no answer is given twice", "small", "at least", 0.40, _BARE
    ),
    "throughput_bound": Goal("the same, every pod bound to a node that it names", "small", "at least", 0.40, _BARE),
    "throughput_large": Goal("reviews a second, 16 connections", "large", "at least", 0.40, _BARE),
    "throughput_pods": Goal("reviews a second, 16 connections", "small_full", "at least", 0.42, _BARE),
    "p99": Goal("99th percentile at 500 reviews a second, open loop", "small", "at most", 2.0, _BARE),
    "evaluation": Goal("the decision alone, 99th percentile", "small", "at most", 100, "µs"),
    "evaluation_large": Goal("the decision alone, 99th percentile", "large", "at most", 150, "µs"),
    "loop": Goal("the decision against a loop over the nodes", "small", "at least", 50, _LOOP),
    "loop_large": Goal("the decision against a loop over the nodes", "large", "at least", 100, _LOOP),
    "memory": Goal("resident memory when ready", "small_full", "at most", 140, "MB"),
    "memory_large": Goal("resident memory when ready", "large_full", "at most", 210, "MB"),
    "memory_watched": Goal(
        "resident memory when ready, of a cluster that is watched", "small_full", "at most", 140, "MB"
    ),
    "start_cpu": Goal("CPU time until ready", "small_full", "at most", 3.5, "s"),
    "start_cpu_watched": Goal("CPU time until ready, of a cluster that is watched", "small_full", "at most", 4.5, "s"),
    "start": Goal("start until ready", "small_full", "at most", 10, "s"),
    "import": Goal("imports of serve", "", "at most", 0.45, "s"),
}
"""By the name of the figure, in the order of the table."""
