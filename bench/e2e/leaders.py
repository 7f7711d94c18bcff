"""``python -m bench.e2e.leaders``: how long a cluster has no leader among the controllers when the one it has ends.

Two controllers stand for election in a control plane without anything else. The one that leads is ended again and
again, at a random moment between two of its renewals: killed, or asked to stop. The figure is the time until the other
one has written its name into the Lease.
"""

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from signal import SIGKILL, SIGTERM, Signals
from typing import Final

from tests.e2e.chart.rendering import NAMESPACE, RELEASE
from tests.e2e.controller.controller_process import ControllerProcess
from tests.e2e.controller.rights import ACCOUNT, grant, holder
from tests.e2e.live.bare_plane import BarePlane
from tests.e2e.nodes import create_nodes, node
from tests.e2e.polling import until
from tests.e2e.programs import binaries

NODES: Final = 50

LOOK: Final = 0.02
"""Seconds between two looks at the Lease: as exact as the figures are."""

SETTLED: Final = 6.0
"""Seconds after which a new candidate has looked at the Lease, and a new leader has renewed it, a few times."""

ENDS: Final[Mapping[Signals, str]] = {SIGKILL: "killed", SIGTERM: "asked to stop"}

_dice: Final = random.SystemRandom()


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print a row for each kind of end."""
    parser = argparse.ArgumentParser("python -m bench.e2e.leaders", description="Measure changes of leaders.")
    parser.add_argument("--rounds", type=int, default=10, help="ends of each kind")
    chosen = parser.parse_args(argv)
    binaries.programs()
    seen: dict[Signals, list[float]] = {way: [] for way in ENDS}
    with tempfile.TemporaryDirectory(prefix="bench-leaders-") as folder:
        plane = BarePlane(Path(folder), service_accounts=(ACCOUNT,))
        with plane:
            grant(plane)
            create_nodes(plane.admin, [node(f"node-{number}") for number in range(NODES)])
            _measure(plane, Path(folder), chosen.rounds, seen)
    print("\n".join(table(seen)))
    return 0


def _measure(plane: BarePlane, folder: Path, rounds: int, seen: Mapping[Signals, list[float]]) -> None:
    """End leaders, and have another candidate in the place of each."""
    candidates = [_candidate(plane, folder, number) for number in range(2)]
    try:
        for number in range(rounds):
            for way in ENDS:
                until(lambda: any(map(_leads(plane), candidates)), "one of them leads", 60)
                until(lambda: all("http://" in candidate.log for candidate in candidates), "both run", 60)
                time.sleep(SETTLED + _dice.uniform(0, 3))
                (ended,) = filter(_leads(plane), candidates)
                before, began = holder(plane), time.monotonic()
                ended.process.signal(way)
                while holder(plane) in {"", before}:
                    time.sleep(LOOK)
                seen[way].append(time.monotonic() - began)
                ended.process.kill()
                candidates.remove(ended)
                candidates.append(_candidate(plane, folder, 2 + 2 * number + (way is SIGTERM)))
                sys.stderr.write(f"round {number + 1} of {rounds}, {ENDS[way]}: {seen[way][-1]:.1f} s\n")
    finally:
        for candidate in candidates:
            candidate.process.kill()


def _candidate(plane: BarePlane, folder: Path, number: int) -> ControllerProcess:
    """A controller with the Lease's usual times, started."""
    place = ("--lease-namespace", NAMESPACE, "--lease-name", f"{RELEASE}-controller", "--health-port", "0")
    name, kubeconfig = f"candidate-{number}", plane.kubeconfig(ACCOUNT)
    candidate = ControllerProcess(folder, name, kubeconfig, program=("webhook", "controller", *place))
    candidate.process.start()
    return candidate


def _leads(plane: BarePlane) -> Callable[[ControllerProcess], bool]:
    """Whether the Lease names a candidate as its holder."""
    name = holder(plane)
    return lambda candidate: bool(name) and candidate.identity == name


def table(seen: Mapping[Signals, Sequence[float]]) -> Iterator[str]:
    """A row for each kind of end, and one for all ends."""
    yield "| the leader is | ends | median, s | least | most |"
    yield "|---|---|---|---|---|"
    for title, durations in (*((ENDS[way], seen[way]) for way in ENDS), ("either", [*chain(*seen.values())])):
        figures = f"{statistics.median(durations):.1f} | {min(durations):.1f} | {max(durations):.1f}"
        yield f"| {title} | {len(durations)} | {figures} |"


if __name__ == "__main__":
    sys.exit(main())
