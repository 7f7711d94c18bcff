"""A turn of a round with few figures."""

import os

from bench.e2e.clients.orders import Outcome
from bench.e2e.clients.variants import VARIANTS
from bench.e2e.counters import Calls
from bench.e2e.creations.rounds import Slot
from bench.e2e.usage import Usage

CLIENTS = 20

CORES = os.cpu_count() or 1

MEDIANS = {"none": 4.0, "ours": 7.0, "echo": 6.0, "same": 6.8, "rule": 6.5}
"""Milliseconds."""


def turn(variant: str, median: float, number: int = 1, clients: int = CLIENTS, others: float = 0.0) -> Slot:
    """Ten pods, that took ``median`` milliseconds each, but for one that took twice as long."""
    expected = VARIANTS[variant]
    outcome = Outcome(
        sent=10,
        ok=10,
        patched=10 if expected.patched else 0,
        durations=[median / 1e3] * 9 + [median / 500],
        seconds=median / 100,
        cpu=0.004,
    )
    calls = {f"{variant}.example admit": Calls(10 * expected.reviews, 0.01)} if expected.reviews else {}
    own = {"API server": 0.04, "webhook": median / 1000}
    return Slot(number, variant, clients, outcome, calls, Usage(own, sum(own.values()) + others * CORES, 1.0))


def a_round(number: int = 1, others: float = 0.0, **medians: float) -> list[Slot]:
    """Every variant's turn with many clients, and with one, which takes half the time."""
    found = {**MEDIANS, **medians}
    return [
        turn(name, median / (1 if clients == CLIENTS else 2), number, clients, others)
        for name, median in found.items()
        for clients in (CLIENTS, 1)
    ]
