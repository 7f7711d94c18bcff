"""Whatever happens to processes and their requests, no two of them lead at one moment."""

import contextlib
from collections.abc import Iterator
from itertools import combinations

from hypothesis import example, given
from hypothesis import strategies as st

from tests.kubeapi.leaderelection.election_simulation import MessageDelays, Outage, SimulatedProcess, Simulation
from tests.suite.example_count import examples

SECONDS = 120.0
"""Of the simulation: long enough for several leases to be lost."""

MOMENTS = st.floats(0, SECONDS)
SLOW = 4.9
"""Just in time for an answer."""

DELAYS = st.sampled_from([(0.01, 0.01), (SLOW, 0.01), (0.01, SLOW), (None, None), (0.01, None), (31.0, 0.01)]) | (
    st.tuples(st.floats(0, 20), st.floats(0, 20))
)
FATES = st.lists(st.builds(lambda since, delays: MessageDelays(since, *delays), MOMENTS, DELAYS), max_size=6)
PAUSES = st.sampled_from([0.5, 3.0, 6.0, 9.0, 11.0, 14.0, 16.0, 30.0]) | st.floats(0.1, 40) | st.none()
ILLS = st.lists(st.builds(Outage, MOMENTS, PAUSES), max_size=6)
RATES = st.sampled_from([0.9, 1.1])
"""Clocks that run apart by a fifth, far worse than any; the terms allow for half."""


@contextlib.contextmanager
def processes(world: Simulation, *made: SimulatedProcess) -> Iterator[Simulation]:
    try:
        yield world
    finally:
        for process in made:
            process.close()


Part = tuple[float, float, list[MessageDelays], list[Outage], float, float]
"""Rate and offset of the clock, fates, ills, seconds of cleaning up, and between renewals that the work asks for."""

CLEANING, RENEWING = st.sampled_from([0.0, 1.5]), st.sampled_from([0.0, 0.3, 3.1])
PARTS = st.tuples(RATES, st.floats(-1e6, 1e6), FATES, ILLS, CLEANING, RENEWING)

LATE_ANSWERS = [
    (0.9, 0.0, [MessageDelays(32.4, 0.01, SLOW), MessageDelays(36.4, None, None)], [], 0.0, 0.0),
    (1.1, 0.0, [], [], 0.0, 0.0),
]
"""Whoever counted from the answer would lead for too long."""


@examples(120)
@given(parts=st.lists(PARTS, min_size=2, max_size=3))
@example(parts=LATE_ANSWERS)
def test_no_two_lead_and_no_two_work_at_one_moment(parts: list[Part]) -> None:
    world = Simulation()
    made = []
    for number, (rate, offset, fates, ills, cleaning, renewing) in enumerate(parts):
        process = SimulatedProcess(
            world, f"p{number}", rate=rate, offset=offset, fates=fates, cleaning=cleaning, renewing=renewing
        )
        made.append(process)
        for ill in ills:
            made[-1].suffer(ill)

    def watch() -> None:
        for one, other in combinations(made, 2):
            assert not (one.leading and other.leading)
            # A process that is paused does nothing, and is told to stop before it does anything else.
            assert not (one.working and other.working and not one.paused and not other.paused)

    world.watch = watch
    with processes(world, *made):
        world.run(SECONDS)


@examples(40)
@given(offsets=st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), dies=st.floats(20, 60))
def test_when_the_leader_dies_another_leads_soon_after_the_lease(offsets: tuple[float, float], dies: float) -> None:
    world = Simulation()
    made = [SimulatedProcess(world, f"p{number}", offset=offset) for number, offset in enumerate(offsets)]
    with processes(world, *made):
        world.run(dies)
        [leader] = [process for process in made if process.working]
        [other] = [process for process in made if process is not leader]
        leader.pause(1e6)
        world.run(dies + 12)
        assert not other.leading
        world.run(dies + 15 + 2.5)
        assert other.working


@examples(40)
@given(stops=st.floats(20, 60), cleaning=st.floats(0, 30))
def test_a_leader_that_stops_lets_another_lead_at_the_next_look(stops: float, cleaning: float) -> None:
    world = Simulation()
    made = [SimulatedProcess(world, f"p{number}", cleaning=cleaning) for number in range(2)]
    with processes(world, *made):
        world.run(stops)
        [leader] = [process for process in made if process.working]
        [other] = [process for process in made if process is not leader]
        leader.stop()
        world.run(stops + cleaning - 0.001)
        assert (leader.starts, other.leading) == (1, False)
        world.run(stops + cleaning + 2.6)
        assert leader.leading or other.leading
