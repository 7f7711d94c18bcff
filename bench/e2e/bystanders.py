"""``python -m bench.e2e.bystanders``: what the chart costs objects that ask for nothing, through a real API server.

Four states of one cluster take turns in every round: without the chart (its admission objects are deleted, and its
processes are stopped), with its processes only, which watch the cluster, with the chart for other namespaces only
(``webhook.namespaceSelector``), and with the whole chart. In each state the same requests are made: plain pods with 0,
5 and 25 annotations are created, their statuses are updated, pods live whole lives (created, bound, three updates of
the status, deleted), nodes send heartbeats, Leases are renewed, and Deployments are created. The figures are ratios to
the state without the chart in the same round, so that other load on the machine affects all of them alike: of requests
a second by many clients, of the median of one client, and of the CPU time that all processes together take for a
request.
"""

import argparse
import asyncio
import json
import re
import ssl
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any, Final, TypeVar

import aiohttp
import uvloop
from msgspec import Struct

from bench import machine
from bench.e2e import counters, usage
from bench.e2e.chart import RESOURCES, Chart
from bench.e2e.cluster import process_ids
from bench.e2e.plain_requests import KINDS, NODES, SPACE, Request, collection_of, plain_requests
from tests.e2e import binaries
from tests.e2e.api import Object
from tests.e2e.chart.installation import QUICK, install, kubelet
from tests.e2e.chart.rendering import render as render_chart
from tests.e2e.nodes import create_nodes, node
from tests.e2e.operators.open_definition import open_definition
from tests.e2e.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import namespace
from tools.kinds import chart_name
from webhook.placement.kinds.kind import OperatorKind

CLIENTS: Final = 20
STATES: Final[Mapping[str, str]] = {
    "without": "without",
    "processes": "processes only",
    "elsewhere": "chart for other namespaces",
    "chart": "chart",
}
"""The states of the cluster, with their titles, in the order of the table."""

ELSEWHERE: Final = {"webhook": {"namespaceSelector": {"matchLabels": {"example.com/streams": "enabled"}}}}
"""Values of the chart by which the namespace of the benchmark has nothing to do with it."""

RESULTS: Final = Path(__file__).parents[1] / "RESULTS-bystanders.md"

_EVALUATION: Final = re.compile(
    r"^apiserver_admission_match_condition_evaluation_seconds_sum\{(.*)\} (\S+)$", re.MULTILINE
)

T = TypeVar("T")


class Figures(Struct, frozen=True):
    """Requests a second by many clients, the median of one client and the CPU time of a request in milliseconds."""

    rate: float
    median: float
    cpu: float


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        "python -m bench.e2e.bystanders", description="Measure what the chart costs others."
    )
    parser.add_argument("--rounds", type=int, default=4, help="rounds in which each state has its turn")
    parser.add_argument("--count", type=int, default=1500, help="requests of each kind by all clients in a turn")
    parser.add_argument("--singles", type=int, default=300, help="requests of each kind by one client in a turn")
    parser.add_argument(
        "--kinds", action="store_true", help="review all kinds of other operators, and make such objects"
    )
    parser.add_argument("--only", default="", metavar="WORD", help="requests with this word in their names, no others")
    parser.add_argument("--results", type=Path, help=f"file for the table, such as bench/{RESULTS.name}")
    chosen = parser.parse_args(argv)
    binaries.programs()
    seen: dict[str, list[dict[str, Figures]]] = {state: [] for state in STATES}
    with tempfile.TemporaryDirectory(prefix="bench-bystanders-") as folder, ControlPlane(Path(folder)) as plane:
        create_nodes(plane.admin, [node(f"node-{number}") for number in range(NODES)])
        namespace(plane.admin, SPACE)
        with kubelet(plane) as running:
            install(plane, running, with_kinds(plane) if chosen.kinds else QUICK)
            chart = Chart(plane.admin, running)
            bench = _Bench(plane, process_ids(plane, running), chosen.count, chosen.singles, chosen.kinds, chosen.only)
            bench.turn()  # the first requests of all find small heaps
            for number in range(chosen.rounds):
                for state in list(STATES)[:: 1 if number % 2 else -1]:
                    _enter(chart, state)
                    seen[state].append(bench.turn())
                sys.stderr.write(f"round {number + 1} of {chosen.rounds}\n")
            chart.present()
            costs = bench.costs()
    page = render(seen, costs, chosen)
    print(page)
    if chosen.results:
        chosen.results.write_text(page)
    return 0


def with_kinds(plane: ControlPlane) -> dict[str, Any]:
    """Values of the chart that review all kinds of other operators, whose definitions are there then."""
    for kind in KINDS:
        plane.admin.create(definition(kind))
    for kind in KINDS:
        path = collection_of(kind)
        until(lambda path=path: plane.admin.send("GET", path).code == 200, f"{path} is served")  # type: ignore[misc]
    return {**QUICK, "workloads": {"kinds": [chart_name(kind) for kind in KINDS]}}


def definition(kind: OperatorKind) -> Object:
    """The definition of a kind, without its schema: the API server checks every object against the real ones alike."""
    stated = kind.kind
    return open_definition(
        stated.group, stated.kind, stated.versions[0], plural=stated.resource, approved="unapproved, for a benchmark"
    )


def _enter(chart: Chart, state: str) -> None:
    """Make the cluster be in that state."""
    if state == "chart":
        chart.present()
    else:
        chart.absent(_elsewhere() if state == "elsewhere" else [], running=state != "without")


def _elsewhere() -> list[tuple[str, Object]]:
    """The chart's admission objects, for other namespaces."""
    found = ((RESOURCES.get(each["kind"]), each) for each in render_chart(ELSEWHERE))
    known = [(resource, each) for resource, each in found if resource]
    return sorted(known, key=lambda pair: list(RESOURCES.values()).index(pair[0]))


class _Bench(Struct, frozen=True):
    """Makes the requests of a turn: ``count`` by many clients and ``singles`` by one, of each kind.

    With ``kinds`` applications of other operators are among them. ``only`` is part of the names of those that are made.
    """

    plane: ControlPlane
    pids: Mapping[str, Sequence[int]]
    count: int
    singles: int
    kinds: bool = False
    only: str = ""

    def turn(self) -> dict[str, Figures]:
        """Every kind of request, from an empty namespace to an empty namespace."""
        return dict(self._each(self.count, self._measured))

    def costs(self) -> dict[str, dict[str, float]]:
        """Microseconds that conditions of each entry and policy take for a request, by kind of request and by entry."""
        return dict(self._each(0, self._evaluated))

    def _each(self, many: int, make: Callable[[Sequence[Request]], T]) -> Iterator[tuple[str, T]]:
        admin = self.plane.admin
        for kind in plain_requests(applications=self.kinds):
            if self.only in kind.name:
                requests = kind.of(self.singles, many)
                kind.before(admin, len(requests))
                yield kind.name, make(requests)
                kind.empty(admin)

    def _measured(self, requests: Sequence[Request]) -> Figures:
        before = usage.now(self.pids)
        rate, median = self._made(requests)
        roles = usage.between(before, usage.now(self.pids)).roles
        cpu_seconds = sum(seconds for role, seconds in roles.items() if role != "forwarder")  # that is this process
        return Figures(rate, median, 1000 * cpu_seconds / len(requests))

    def _evaluated(self, requests: Sequence[Request]) -> dict[str, float]:
        before = self._evaluations()
        self._made(requests)
        gone = {name: seconds - before.get(name, 0.0) for name, seconds in self._evaluations().items()}
        return {name: 1e6 * seconds / len(requests) for name, seconds in gone.items() if seconds}

    def _made(self, requests: Sequence[Request]) -> tuple[float, float]:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(_sent(self.plane, requests, self.singles))

    def _evaluations(self) -> dict[str, float]:
        """Seconds that match conditions have taken so far, by entry of a webhook or policy."""
        found = dict[str, float]()
        for labels, value in _EVALUATION.findall(str(self.plane.admin.get("/metrics"))):
            named = dict(counters.LABEL.findall(labels))
            name = f"{named['name']} ({named['type']})".removeprefix("streams-placement-")
            if "placement" in labels:
                found[name] = found.get(name, 0.0) + float(value)
        return found


async def _sent(plane: ControlPlane, requests: Sequence[Request], singles: int) -> tuple[float, float]:
    """The first requests by one client, the others by all: requests a second of all, the median of one."""
    config = json.loads(plane.kubeconfig().read_text())
    there = config["clusters"][0]["cluster"]
    trust = ssl.create_default_context(cafile=there["certificate-authority"])
    headers = {"Authorization": f"Bearer {config['users'][0]['user']['token']}"}
    async with aiohttp.ClientSession(there["server"], headers=headers) as session:
        durations: list[float] = []

        async def client(mine: Iterator[Request]) -> None:
            for each in mine:
                began = perf_counter()
                for step in (each, *each.following):
                    async with session.request(
                        step.method, step.path, data=step.body, ssl=trust, headers={"Content-Type": step.content}
                    ) as reply:
                        await reply.read()
                        reply.raise_for_status()
                durations.append(perf_counter() - began)

        await client(iter(requests[:singles]))
        median = statistics.median(durations)
        if len(requests) == singles:
            return 1 / median, 1000 * median
        remaining = iter(requests[singles:])
        began = perf_counter()
        await asyncio.gather(*(client(remaining) for _ in range(CLIENTS)))
        return (len(requests) - singles) / (perf_counter() - began), 1000 * median


_COSTS: Final = """## What each entry and policy costs

Microseconds that match conditions take for a request of one client, as the API server measures them. Entries and
policies that are not listed are not evaluated."""

_HEAD: Final = """# Benchmark results, bystanders

Made by `python -m bench.e2e.bystanders`: what the chart costs objects that ask for nothing. Requests through a real API
server in four states of one cluster, by turns: without the chart, with its processes only, with the chart for other
namespaces only (`webhook.namespaceSelector`), and with the whole chart. The first column has requests a second, the
median of one client and the CPU time of a request by all processes but the clients'; the others are shares of these:
1.00 costs nothing. Medians of the rounds, with the smallest and the largest share of requests a second."""


def render(
    seen: Mapping[str, Sequence[Mapping[str, Figures]]],
    costs: Mapping[str, Mapping[str, float]],
    chosen: argparse.Namespace,
) -> str:
    """The whole page."""
    rounds = f"{chosen.count} by {CLIENTS}; {len(seen['without'])} rounds"
    size = f"{NODES} nodes; each turn {chosen.singles} requests of a kind by one client, {rounds}"
    lines = [("date", datetime.now(UTC).date().isoformat()), *machine.describe(), ("size", size)]
    parts = [
        _HEAD,
        "\n".join(f"- {name}: {value}" for name, value in lines),
        "\n".join(table(seen)),
        _COSTS,
        "\n".join(cost_table(costs)),
        "## Rounds\n\nRequests a second by many clients, and the median of one, in each round.",
        "\n".join(rounds_table(seen)),
    ]
    return "\n\n".join(parts) + "\n"


def cost_table(costs: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """A row for each entry or policy, a column for each kind of request."""
    yield f"| | {' | '.join(costs)} |"
    yield f"|---|{'---|' * len(costs)}"
    names = dict.fromkeys(name for found in costs.values() for name in found)
    for name in names:
        yield f"| {name} | {' | '.join(f'{found[name]:.0f}' if name in found else '-' for found in costs.values())} |"
    yield f"| **all** | {' | '.join(f'**{sum(found.values()):.0f}**' for found in costs.values())} |"


def rounds_table(seen: Mapping[str, Sequence[Mapping[str, Figures]]]) -> Iterator[str]:
    """A row for each kind of request in each round."""
    yield f"| | round | {' | '.join(STATES.values())} |"
    yield f"|---|---|{'---|' * len(STATES)}"
    for what in seen[next(iter(STATES))][0]:
        for number, turns in enumerate(zip(*(seen[state] for state in STATES), strict=True), 1):
            cells = (f"{turn[what].rate:.0f}/s, {turn[what].median:.2f} ms" for turn in turns)
            yield f"| {what} | {number} | {' | '.join(cells)} |"


def table(seen: Mapping[str, Sequence[Mapping[str, Figures]]]) -> Iterator[str]:
    """A row for each kind of request."""
    first, *others = STATES
    columns = (f"{STATES[state]}: {CLIENTS} clients / one / CPU" for state in others)
    yield f"| | {STATES[first]}: {CLIENTS} clients / one / CPU | {' | '.join(columns)} |"
    yield f"|---|{'---|' * len(STATES)}"
    for what in seen[first][0]:
        base = [turn[what] for turn in seen[first]]
        rate, median, cpu = (
            statistics.median(getattr(each, name) for each in base) for name in Figures.__struct_fields__
        )
        cells = [f"{rate:.0f}/s / {median:.2f} ms / {cpu:.2f} ms"]
        for state in others:
            pairs = list(zip((turn[what] for turn in seen[state]), base, strict=True))
            rates = [own.rate / without.rate for own, without in pairs]
            alone = statistics.median(without.median / own.median for own, without in pairs)
            cpu_ratio = statistics.median(without.cpu / own.cpu for own, without in pairs)
            cells.append(
                f"{statistics.median(rates):.2f} ({min(rates):.2f} to {max(rates):.2f}) / {alone:.2f} / {cpu_ratio:.2f}"
            )
        yield f"| {what} | {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
