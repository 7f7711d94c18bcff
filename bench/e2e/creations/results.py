"""The results of an observation."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from bench.e2e.creations import facts, figures
from bench.e2e.creations.figures import Row
from bench.e2e.creations.goals import goals
from bench.e2e.creations.observation import Observation
from bench.e2e.creations.options import Options
from bench.e2e.creations.rounds import Slot
from bench.reviews.findings import Figure
from bench.reviews.goals import Goal

HEADROOM: Final = 2.0
"""How many times more the clients can send than anybody answers, at least, so that they are not what is measured."""


class Results(Struct, frozen=True):
    """``figures`` by the name of their goal, ``tables`` by the number of clients; ``kept`` of ``rounds`` count.

    ``slots`` are the turns of all rounds.
    """

    goals: Mapping[str, Goal]
    figures: Mapping[str, Figure]
    tables: Mapping[int, Mapping[str, Row]]
    facts: Sequence[str]
    slots: Sequence[Slot]
    rounds: int
    kept: int


def results(seen: Observation, chosen: Options) -> Results:
    """Of the rounds that nothing disturbed; of all, but as no proof, if there are none."""
    quiet = figures.quiet(seen.slots)
    used = quiet or seen.slots
    sound = bool(quiet) and figures.headroom(seen.control, used) >= HEADROOM
    return Results(
        goals=goals(chosen.clients),
        figures=dict(_figures(used, chosen, sound=sound)),
        tables={clients: figures.rows(used, clients) for clients in (chosen.clients, 1)},
        facts=list(facts.every(seen, used, chosen)),
        slots=seen.slots,
        rounds=len({slot.round for slot in seen.slots}),
        kept=len({slot.round for slot in quiet}),
    )


def _figures(slots: Sequence[Slot], chosen: Options, *, sound: bool) -> Iterator[tuple[str, Figure]]:
    for suffix, clients in (("", chosen.clients), ("_single", 1)):
        yield f"added{suffix}", figures.added(slots, clients, sound=sound)
        yield f"echo{suffix}", figures.against(slots, clients, sound=sound)
        yield f"rate{suffix}", figures.rate_against(slots, clients, sound=sound)
    yield "cpu", figures.cpu_against(slots, chosen.clients, sound=sound)
    yield "reviews", figures.reviews(slots, chosen.clients, sound=sound)
