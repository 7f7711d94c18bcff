"""``python -m bench.watching``: the CPU time that an event of a pod costs a process that watches the cluster.

The webhook runs as in a pod, and an API server tells it of whole lives of pods (``bench.servers.lives``), at several
rates. The figure is the CPU time of the process during these lives, as the kernel counts it, by the number of events.
"""

import argparse
import sys
from collections.abc import Sequence
from time import sleep
from typing import Final

from bench import memory
from bench.generated import generator
from bench.servers import lives, processes
from bench.trouble import Trouble

RATES: Final = (5, 50, 150)
"""Lives a second."""

SECONDS: Final = 20.0
"""Of telling at each rate."""

SETTLED: Final = 2.0
"""Seconds after which everything that was told is known."""


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print a row for each rate."""
    parser = argparse.ArgumentParser("python -m bench.watching", description="Measure what an event of a pod costs.")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long events are told at each rate")
    chosen = parser.parse_args(argv)
    print("| events a second | CPU time of an event, ms |\n|---|---|")
    for rate in RATES:
        print(row(rate, measure(rate, chosen.seconds)), flush=True)
    return 0


def row(rate: float, cost: float) -> str:
    """A row of the table; ``cost`` in seconds."""
    return f"| {rate * events_of_a_life():.0f} | {1000 * cost:.3f} |"


def events_of_a_life() -> int:
    """Events of one pod."""
    return sum(1 for _ in lives.life(0))


def measure(rate: int, seconds: float) -> float:
    """CPU seconds of an event when so many lives are told a second."""
    count, cache = round(rate * seconds), generator.CACHE
    cache.mkdir(parents=True, exist_ok=True)
    with processes.pod_lives(cache, count, rate) as api, processes.watching(cache, api) as product:
        before = _cpu(product.pid)
        sleep(lives.START + seconds + SETTLED)
        return (_cpu(product.pid) - before) / (count * events_of_a_life())


def _cpu(pid: int) -> float:
    usage = memory.measure(pid)
    if usage is None:
        raise Trouble("this system does not say how much time a process takes")
    return usage.cpu_seconds


if __name__ == "__main__":
    sys.exit(main())
