"""Command line options of ``python -m bench.e2e``."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

RESULTS: Final = Path(__file__).parents[2] / "RESULTS-e2e.md"

_BOUNDS: Final = {
    "nodes": (20, 100_000),  # fewer, and a job has not enough hosts in a pool for its pods that keep apart
    "rounds": (1, 1000),
    "pods": (1, 100_000),
    "singles": (1, 100_000),
    "clients": (2, 1000),  # one alone has turns of its own
    "seconds": (1, 100_000),
}


class Options(Struct, frozen=True):
    """One run; ``pods`` are created by all clients in a turn, ``singles`` by one; ``results`` is where they go.

    No round begins that would probably take the rounds over ``seconds``, but for the first.
    """

    nodes: int = 300
    rounds: int = 6
    pods: int = 1000
    singles: int = 150
    clients: int = 20
    seconds: int = 480
    results: Path | None = None


_QUICK: Final = Options(nodes=20, rounds=1, pods=100, singles=20)


def read(argv: Sequence[str] | None = None) -> Options:
    """The options; argparse leaves with exit code 2 for wrong ones.

    Results go to ``bench/RESULTS-e2e.md`` only if the run is not a quick one.
    """
    parser = argparse.ArgumentParser("python -m bench.e2e", description="Measure admission through an API server.")
    parser.add_argument("--nodes", type=int, help="nodes of the cluster")
    parser.add_argument("--rounds", type=int, help="rounds in which every variant has its turn, at most")
    parser.add_argument("--pods", type=int, help="pods that all clients together create in a turn")
    parser.add_argument("--singles", type=int, help="pods that one client alone creates in a turn")
    parser.add_argument("--clients", type=int, help="clients at a time")
    parser.add_argument("--seconds", type=int, help="for all rounds; fewer rounds than asked for if they take longer")
    parser.add_argument("--quick", action="store_true", help="small and short: does it work at all?")
    parser.add_argument(
        "--results", type=Path, help="file for the results (default: bench/RESULTS-e2e.md if not quick)"
    )
    given = parser.parse_args(argv)
    base = _QUICK if given.quick else Options()
    chosen = {name: _or(getattr(given, name), getattr(base, name)) for name in _BOUNDS}
    for name, (least, most) in _BOUNDS.items():
        if not least <= chosen[name] <= most:
            parser.error(f"argument --{name}: {chosen[name]} is not between {least} and {most}")
    return Options(**chosen, results=given.results or (None if given.quick else RESULTS))


def _or(given: int | None, base: int) -> int:
    """What was given, if anything."""
    return base if given is None else given
