"""Figures from measurements: medians of rounds with their spread, what each variant adds, CPU time by process."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from bench.e2e import counters
from bench.e2e.clients.orders import Outcome
from bench.e2e.clients.variants import ECHO, NONE, OURS, SAME, VARIANTS
from bench.e2e.creations.rounds import Slot
from bench.reviews.findings import Figure
from bench.reviews.throughput import Spread, spread

DISTURBED: Final = 0.1
"""Share of the machine that others may take in a round that counts."""


class Row(Struct, frozen=True):
    """One variant with so many clients: spreads over rounds, times in milliseconds.

    ``share`` is its rate in relation to that without any webhook in the same round, ``added`` its median less theirs,
    ``reviews`` the calls of webhooks by creation, ``cpu`` milliseconds of CPU time by creation and role.
    """

    rate: Spread
    share: Spread
    p50: Spread
    p99: Spread
    added: Spread
    reviews: float
    cpu: Mapping[str, float]


def quiet(slots: Sequence[Slot]) -> list[Slot]:
    """The turns of rounds in which others took little of the machine; none if they always took much."""
    turns_by_round: dict[int, list[tuple[float, float]]] = {}
    for slot in slots:
        turns_by_round.setdefault(slot.round, []).append((slot.usage.others * slot.usage.clock, slot.usage.clock))
    loud = {number for number, turns in turns_by_round.items() if _total(turns, 0) > DISTURBED * _total(turns, 1)}
    return [slot for slot in slots if slot.round not in loud]


def rows(slots: Sequence[Slot], clients: int) -> dict[str, Row]:
    """A row for each variant."""
    by_variant = {
        name: [slot for slot in slots if (slot.variant, slot.clients) == (name, clients)] for name in VARIANTS
    }
    base = by_variant[NONE.name]
    return {name: _row(own, base) for name, own in by_variant.items()}


def added(slots: Sequence[Slot], clients: int, *, sound: bool) -> Figure:
    """What the webhook adds to the median, in milliseconds."""
    found = rows(slots, clients)[OURS.name].added
    return Figure(found.median, f"{shown(found)} ms", sound)


def against(slots: Sequence[Slot], clients: int, peer: str = ECHO.name, *, sound: bool) -> Figure:
    """The same in relation to what a peer adds: a ratio of medians, since in one round that may be next to nothing."""
    found = rows(slots, clients)
    ours, theirs = found[OURS.name].added, found[peer].added
    if theirs.median <= 0:
        return Figure(0.0, f"{shown(ours)} ms against nothing that could be measured", sound=False)
    ratio = ours.median / theirs.median
    return Figure(ratio, f"{ratio:.2f} x ({shown(ours)} ms against {shown(theirs)} ms)", sound)


def rate_against(slots: Sequence[Slot], clients: int, peer: str = SAME.name, *, sound: bool) -> Figure:
    """Creations a second in relation to a peer's in the same round."""
    rates = {(slot.variant, slot.round): slot.outcome.rate for slot in slots if slot.clients == clients}
    found = spread([rate / rates[peer, turn] for (name, turn), rate in rates.items() if name == OURS.name])
    return Figure(found.median, f"{shown(found, '{:.2f}'.format)} x", sound)


def cpu_against(slots: Sequence[Slot], clients: int, peer: str = SAME.name, *, sound: bool) -> Figure:
    """CPU time that is added to a creation, by all processes together, in relation to what a peer adds."""
    found = {name: sum(row.cpu.values()) for name, row in rows(slots, clients).items()}
    ours, theirs = (found[name] - found[NONE.name] for name in (OURS.name, peer))
    if theirs <= 0:
        return Figure(0.0, f"{ours:.2f} ms against nothing that could be measured", sound=False)
    return Figure(ours / theirs, f"{ours / theirs:.2f} x ({ours:.2f} ms against {theirs:.2f} ms)", sound)


def reviews(slots: Sequence[Slot], clients: int, *, sound: bool) -> Figure:
    """Calls of the webhook by creation."""
    found = rows(slots, clients)[OURS.name].reviews
    return Figure(round(found, 2), f"{found:.2f}", sound)


def seconds_by_call(slots: Iterable[Slot], clients: int) -> dict[str, float]:
    """How long the API server waits for each webhook: the mean over all calls."""
    found: dict[str, list[counters.Calls]] = {}
    for slot in slots:
        if slot.clients == clients:
            for name, calls in slot.calls.items():
                found.setdefault(name, []).append(calls)
    return {name: sum(each.seconds for each in group) / counters.total(group) for name, group in found.items()}


def headroom(control: Outcome, slots: Iterable[Slot]) -> float:
    """How many times more cheap requests the clients get answered than creations of anybody."""
    return control.rate / max(slot.outcome.rate for slot in slots)


def shown(found: Spread, form: Callable[[float], str] = "{:.1f}".format) -> str:
    """The median, with the smallest and the largest."""
    return f"{form(found.median)} ({form(found.low)} to {form(found.high)})"


def percentile(durations: Sequence[float], per_cent: int) -> float:
    """Of seconds, in milliseconds."""
    return sorted(durations)[len(durations) * per_cent // 100] * 1e3


def _row(own: Sequence[Slot], base: Sequence[Slot]) -> Row:
    created = sum(slot.outcome.ok for slot in own)
    pairs = [(slot.outcome, without.outcome) for slot, without in zip(own, base, strict=True)]
    return Row(
        rate=spread([one.rate for one, _ in pairs]),
        share=spread([one.rate / without.rate for one, without in pairs]),
        p50=spread([_median(one.durations) for one, _ in pairs]),
        p99=spread([percentile(one.durations, 99) for one, _ in pairs]),
        added=spread([_median(one.durations) - _median(without.durations) for one, without in pairs]),
        reviews=sum(counters.total(slot.calls.values()) for slot in own) / sum(slot.outcome.sent for slot in own),
        cpu={role: sum(slot.usage.roles[role] for slot in own) / created * 1e3 for role in own[0].usage.roles},
    )


def _median(durations: Sequence[float]) -> float:
    return statistics.median(durations) * 1e3


def _total(turns: Iterable[tuple[float, float]], at: int) -> float:
    return sum(each[at] for each in turns)
