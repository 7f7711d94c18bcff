"""One run over a cluster: its rounds, and whether the clients or the path to a webhook were the bottleneck."""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from bench.e2e.clients.orders import Order, Outcome
from bench.e2e.cluster import Cluster
from bench.e2e.creations import figures, rounds
from bench.e2e.creations.options import Options
from bench.e2e.creations.rounds import Slot
from bench.trouble import Trouble

_CHEAP: Final = 5000
"""Requests of the control: a second or two."""

_REVIEWS: Final = 300
"""Reviews by which the way to a webhook is measured: less than a second."""


class Observation(Struct, frozen=True):
    """What was seen: turns, the clients with requests that cost nothing, and what kube-proxy's stand-in adds in ms."""

    slots: Sequence[Slot]
    control: Outcome
    detour: float


def observe(cluster: Cluster, chosen: Options, tell: Callable[[str], None]) -> Observation:
    """Measure everything."""
    control = cluster.load.carry_out(Order("cheap", _CHEAP, chosen.clients))
    if control.errors:
        raise Trouble(f"the API server does not tell its version: {control.examples}")
    slots = rounds.measure(cluster, chosen, tell)
    detour = _review(cluster, cluster.echo_service) - _review(cluster, cluster.echo)
    return Observation(slots, control, detour)


def _review(cluster: Cluster, url: str) -> float:
    """The median of reviews that the echo answers one after the other, in milliseconds."""
    outcome = cluster.load.carry_out(Order("review", _REVIEWS, 1, url=url))
    if outcome.errors:
        raise Trouble(f"the echo does not answer at {url}: {outcome.examples}")
    return figures.percentile(outcome.durations, 50)
