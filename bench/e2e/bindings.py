"""``python -m bench.e2e.bindings``: what ``strict`` costs pods that ask for nothing, through a real API server.

The chart is installed with ``strict``. One of two namespaces is excluded, so nothing there is reviewed. In every round
the same pods are handled in both namespaces in turn: created by several clients, bound one after the other by one
client, and scheduled by the real scheduler.
"""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Final

from msgspec import Struct

from tests.e2e.chart.installation import QUICK, install, kubelet
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, node
from tests.e2e.polling import until
from tests.e2e.programs import binaries
from tests.e2e.workloads import namespace, pod, pod_spec

SPACES: Final = {"without": "bench-alone", "strict": "bench-guard"}
"""By what is measured there; the first is left alone by the webhook."""

CLIENTS: Final = 8
NODES: Final = 20
_MS: Final = 1000.0


class Turn(Struct):
    """What one namespace showed in one round: pods a second, and seconds of each binding."""

    created: float
    scheduled: float
    bindings: list[float]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser("python -m bench.e2e.bindings", description="Measure what strict costs.")
    parser.add_argument("--rounds", type=int, default=5, help="rounds in which both have their turn")
    parser.add_argument("--pods", type=int, default=200, help="pods of each kind in a turn")
    chosen = parser.parse_args(argv)
    binaries.programs()
    seen: dict[str, list[Turn]] = {name: [] for name in SPACES}
    with tempfile.TemporaryDirectory(prefix="bench-bindings-") as folder, ControlPlane(Path(folder)) as plane:
        create_nodes(plane.admin, [node(f"node-{number}", capacity={"pods": "100000"}) for number in range(NODES)])
        for space in SPACES.values():
            namespace(plane.admin, space)
        with kubelet(plane) as running:
            alone = {"excludedNamespaces": [SPACES["without"]]}
            install(plane, running, {**QUICK, "settings": {**QUICK["settings"], "strict": True}, "webhook": alone})
            for number in range(chosen.rounds):
                # Who comes first changes from round to round: a machine gets slower, or faster, in the meantime.
                for name in sorted(SPACES, reverse=bool(number % 2)):
                    seen[name].append(_turn(plane.admin, SPACES[name], chosen.pods))
    print(_table(seen))
    return 0


def _turn(admin: Api, space: str, count: int) -> Turn:
    path = f"/api/v1/namespaces/{space}/pods"
    waiting = [pod(f"bound-{number}", space, pod_spec(schedulerName="nobody")) for number in range(count)]
    created = count / _timed(lambda: _create(admin, path, waiting))
    bindings = [_timed(lambda number=number: _bind(admin, path, number)) for number in range(count)]
    usual = [pod(f"scheduled-{number}", space) for number in range(count)]
    scheduled = count / _timed(lambda: _scheduled(admin, path, usual))
    admin.delete(path, gracePeriodSeconds="0")
    until(lambda: not admin.get(path, limit="1")["items"], f"{space} is empty", 120)
    return Turn(created, scheduled, bindings)


def _create(admin: Api, path: str, pods: list[Object]) -> None:
    with ThreadPoolExecutor(CLIENTS) as clients:
        list(clients.map(lambda one: admin.call("POST", path, one), pods))


def _bind(admin: Api, path: str, number: int) -> None:
    target = {"apiVersion": "v1", "kind": "Node", "name": f"node-{number % NODES}"}
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": f"bound-{number}"}, "target": target}
    admin.call("POST", f"{path}/bound-{number}/binding", body)


def _scheduled(admin: Api, path: str, pods: list[Object]) -> None:
    """Create them, and wait until the last one has its node."""
    _create(admin, path, pods)
    until(lambda: not admin.get(path, fieldSelector="spec.nodeName=", limit="1")["items"], "all have a node", 120)


def _timed(work: Callable[[], object]) -> float:
    began = perf_counter()
    work()
    return perf_counter() - began


def _table(seen: dict[str, list[Turn]]) -> str:
    return "\n".join(_rows(seen))


def _rows(seen: dict[str, list[Turn]]) -> Iterator[str]:
    yield "| | pods created/s | pods scheduled/s | binding p50, ms | binding p99, ms |"
    yield "|---|---|---|---|---|"
    for name, turns in seen.items():
        bindings = [_MS * seconds for turn in turns for seconds in turn.bindings]
        slowest = statistics.quantiles(bindings, n=100)[-1]
        created, scheduled = (
            statistics.median(getattr(turn, what) for turn in turns) for what in Turn.__struct_fields__[:2]
        )
        yield f"| {name} | {created:.0f} | {scheduled:.0f} | {statistics.median(bindings):.2f} | {slowest:.2f} |"


if __name__ == "__main__":
    sys.exit(main())
