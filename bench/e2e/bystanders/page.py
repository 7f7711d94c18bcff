"""The page of results: a table of shares, one of what conditions cost, and what was measured in each turn."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from bench import machine
from bench.e2e.bystanders.pairs import Pairs, cpu_share, duration_share, median_share, rate_share
from bench.e2e.bystanders.planes import STATES, WITHOUT
from bench.e2e.bystanders.requests import NODES
from bench.e2e.bystanders.turns import BLOCK, CLIENTS

Turns = Mapping[str, Mapping[str, Sequence[Pairs]]]
"""The turns of each kind of request, by state and by the name of the kind."""

_HEAD: Final = f"""# Benchmark results, bystanders

Made by `python -m bench.e2e.bystanders`: what the chart costs objects that ask for nothing. The same requests go to two
control planes of one machine by turns: one without the chart (its admission objects are deleted, and its processes are
stopped), and one that is without it as well (which shows how exact the figures are), with its processes only, with the
chart for other namespaces only (`webhook.namespaceSelector`), or with the whole chart. Blocks of {BLOCK} requests by
{CLIENTS} clients, and single requests of one client, follow right after each other in pairs. Then the planes change
their parts.

Each share is the median of all pairs: 1.00 costs nothing. In parentheses is its 95 % interval. The shares are of
requests a second by {CLIENTS} clients, of the speed of one client, and of the CPU time of a request by all processes
but the clients'."""

_COSTS: Final = """## What each entry and policy costs

Microseconds that match conditions take for a request of one client, as the API server measures them. Entries and
policies that are not listed are not evaluated."""

_TURNS: Final = """## Turns

Medians of each plane's turn beside those of the plane without the chart: requests a second by many clients, and
milliseconds of one client."""


def render(turns: Turns, costs: Mapping[str, Mapping[str, float]], blocks: int, singles: int) -> str:
    """The whole page, of so many pairs of blocks and of single requests in each turn."""
    size = f"{NODES} nodes; each turn {blocks} pairs of blocks and {singles} pairs of single requests"
    lines = [("date", datetime.now(UTC).date().isoformat()), *machine.describe(), ("size", size)]
    parts = [
        _HEAD,
        "\n".join(f"- {name}: {value}" for name, value in lines),
        "\n".join(table(turns)),
        _COSTS,
        "\n".join(cost_table(costs)),
        _TURNS,
        "\n".join(turns_table(turns)),
    ]
    return "\n\n".join(parts) + "\n"


def table(turns: Turns) -> Iterator[str]:
    """A row for each kind of request and state, in which the planes have changed their parts."""
    yield f"| | state | {CLIENTS} clients | one client | CPU time | without: {CLIENTS} clients / one / CPU |"
    yield "|---|---|---|---|---|---|"
    for name in turns[next(iter(turns))]:
        for state, by_kind in turns.items():
            own = by_kind[name]
            rate = statistics.median(without for turn in own for _, without in turn.rates)
            duration = statistics.median(without for turn in own for _, without in turn.durations)
            cpu = statistics.fmean(turn.cpu[1] for turn in own)
            yield (
                f"| {name} | {STATES[state]} | {rate_share(own)} | {duration_share(own)} | {cpu_share(own):.2f} "
                f"| {rate:.0f}/s / {duration:.2f} ms / {cpu:.2f} ms |"
            )


def cost_table(costs: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """A row for each entry or policy, a column for each kind of request."""
    yield f"| | {' | '.join(costs)} |"
    yield f"|---|{'---|' * len(costs)}"
    for name in dict.fromkeys(name for cost in costs.values() for name in cost):
        yield f"| {name} | {' | '.join(f'{cost[name]:.0f}' if name in cost else '-' for cost in costs.values())} |"
    yield f"| **all** | {' | '.join(f'**{sum(cost.values()):.0f}**' for cost in costs.values())} |"


def turns_table(turns: Turns) -> Iterator[str]:
    """A row for each kind of request, state and turn."""
    yield f"| | state | turn | {CLIENTS} clients | one client | share of {CLIENTS} clients |"
    yield "|---|---|---|---|---|---|"
    for state, by_kind in turns.items():
        for name, own in by_kind.items():
            for number, turn in enumerate(own, 1):
                rates, durations = (
                    [statistics.median(pair[side] for pair in pairs) for side in (0, 1)]
                    for pairs in (turn.rates, turn.durations)
                )
                share = median_share([mine / without for mine, without in turn.rates])
                yield (
                    f"| {name} | {STATES[state]} | {number} | {rates[0]:.0f}/s, {WITHOUT} {rates[1]:.0f}/s "
                    f"| {durations[0]:.2f} ms, {WITHOUT} {durations[1]:.2f} ms | {share} |"
                )
