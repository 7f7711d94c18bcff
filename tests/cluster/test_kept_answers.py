"""Answers of the API server that are kept for some seconds."""

from tests.fake_clock import FakeClock
from webhook.cluster.queries.lookups.kept_answers import KeptAnswers
from webhook.placement.planning.search.solver import finished


def test_an_answer_is_kept_for_its_time_even_if_it_is_none() -> None:
    clock = FakeClock()
    kept: KeptAnswers[str, int | None] = KeptAnswers(clock, 5.0, 2)
    asked: list[str] = []

    async def ask() -> int | None:
        asked.append("a")
        return None

    for _ in range(2):
        assert finished(kept.find("a", ask)) is None
    assert asked == ["a"]
    clock.now += 5.0
    assert finished(kept.find("a", ask)) is None
    assert asked == ["a", "a"]


def test_all_answers_make_room_for_one_too_many() -> None:
    kept: KeptAnswers[str, int] = KeptAnswers(FakeClock(), 5.0, 2)
    for number, name in enumerate("abc"):
        kept.keep(name, number)
    assert (len(kept), kept.at("a"), kept.at("c")) == (1, None, 2)


def test_an_answer_may_have_a_time_of_its_own() -> None:
    clock = FakeClock()
    kept: KeptAnswers[str, int] = KeptAnswers(clock, 5.0, 2)
    kept.keep("short", 7, 1.0)
    kept.keep("usual", 8)
    clock.now += 1.0
    assert (kept.at("short"), kept.at("usual")) == (None, 8)
