"""For how long something has looked the same."""

from certs.managed.keeper import StabilityTimer


def test_what_is_seen_first_is_new() -> None:
    assert StabilityTimer().seconds("fact", 1, 100.0) == 0


def test_what_stays_gets_older() -> None:
    steady = StabilityTimer()
    assert [steady.seconds("fact", 1, moment) for moment in (100.0, 103.0, 110.0)] == [0, 3, 10]


def test_a_change_starts_over_even_back_to_what_was() -> None:
    steady = StabilityTimer()
    assert [steady.seconds("fact", *seen) for seen in ((1, 0.0), (2, 5.0), (1, 7.0), (1, 8.0))] == [0, 0, 0, 1]


def test_facts_are_apart() -> None:
    steady = StabilityTimer()
    steady.seconds("one", 1, 0.0)
    assert (steady.seconds("other", 1, 5.0), steady.seconds("one", 1, 5.0)) == (0, 5)
