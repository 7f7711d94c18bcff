"""Command line options of ``python -m bench``."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

PARTS = ("evaluation", "throughput", "latency", "memory")

RESULTS = Path(__file__).parents[1] / "RESULTS.md"

SMALLEST = 100
"""Nodes of a cluster in which every host pool finds its hosts."""


class Options(Struct, frozen=True):
    """One run: how large, how long, which parts; ``results`` is where they go, if anywhere."""

    nodes: int = 5000
    pods: int = 150_000
    rounds: int = 5
    seconds: int = 5
    evaluations: int = 1000
    only: str = ""
    results: Path | None = None

    def wants(self, *parts: str) -> bool:
        """Whether any of these parts is to be measured."""
        return not self.only or self.only in parts


_QUICK = Options(nodes=500, pods=5000, rounds=2, seconds=1, evaluations=50)


def read(argv: Sequence[str] | None = None) -> Options:
    """The options; argparse leaves with exit code 2 for wrong ones.

    Results go to ``bench/RESULTS.md`` only if the run is a whole one; part of it must not pass for all of it.
    """
    parser = argparse.ArgumentParser("python -m bench", description="Measure the webhook against a bare echo.")
    parser.add_argument("--nodes", type=_count(SMALLEST), help="nodes of the small cluster, a third of the large one")
    parser.add_argument("--pods", type=_count(1000), help="pods, where their number is the point")
    parser.add_argument("--rounds", type=_count(1), help="rounds of echo and product in turn")
    parser.add_argument("--seconds", type=_count(1), help="length of half a round")
    parser.add_argument("--quick", action="store_true", help="small and short: does it work at all?")
    parser.add_argument("--only", choices=PARTS, help="measure one part")
    parser.add_argument("--results", type=Path, help="file for the results (default: bench/RESULTS.md for a whole run)")
    given = parser.parse_args(argv)
    base = _QUICK if given.quick else Options()
    whole = not given.quick and not given.only
    return Options(
        nodes=given.nodes or base.nodes,
        pods=given.pods or base.pods,
        rounds=given.rounds or base.rounds,
        seconds=given.seconds or base.seconds,
        evaluations=base.evaluations,
        only=given.only or "",
        results=given.results or (RESULTS if whole else None),
    )


class _count:  # noqa: N801 - argparse shows the name of the type when a value is wrong
    """A whole number from ``least`` to a million."""

    def __init__(self, least: int) -> None:
        self._least = least

    def __call__(self, text: str) -> int:
        number = int(text)
        if not self._least <= number <= 1_000_000:
            raise argparse.ArgumentTypeError(f"{number} is not between {self._least} and 1000000")
        return number
