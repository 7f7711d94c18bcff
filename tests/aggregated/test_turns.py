"""The order of reviews: one at a time, those first whose users took least, and nobody with more than a few."""

import asyncio

import pytest

from tests.fake_clock import FakeClock
from webhook.aggregated import turns
from webhook.aggregated.review_pace import COST, REST, ReviewPace
from webhook.aggregated.turns import EACH, WAITING, NoTurnError, Turns, flow_of


async def take(order: Turns, user: str, done: list[str], seconds: float = 5) -> None:
    async with order.turn(user, seconds):
        done.append(user)
        await asyncio.sleep(0.005)


async def test_a_flood_of_one_user_does_not_hold_up_another() -> None:
    order, done = Turns(ReviewPace()), list[str]()
    flood = [asyncio.create_task(take(order, "greedy", done)) for _ in range(EACH)]
    await asyncio.sleep(0)
    await take(order, "jane", done)
    await asyncio.gather(*flood)
    assert done == ["greedy", "jane", *["greedy"] * (EACH - 1)]
    assert len(order) == 0


async def test_one_user_has_a_few_reviews_at_a_time() -> None:
    order, done = Turns(ReviewPace()), list[str]()
    flood = [asyncio.create_task(take(order, "greedy", done)) for _ in range(EACH)]
    await asyncio.sleep(0)
    with pytest.raises(NoTurnError, match="4 placement reviews of yours are waiting already; try again"):
        await take(order, "greedy", done)
    await asyncio.gather(*flood)
    await take(order, "greedy", done)


async def test_many_users_have_a_bounded_number_of_reviews() -> None:
    order, done = Turns(ReviewPace()), list[str]()
    crowd = [asyncio.create_task(take(order, f"user-{number}", done)) for number in range(WAITING + 1)]
    await asyncio.sleep(0)
    with pytest.raises(NoTurnError, match="too many placement reviews are waiting; try again"):
        await take(order, "one-more", done)
    await asyncio.gather(*crowd)
    assert len(done) == WAITING + 1


async def test_a_review_does_not_wait_for_ever() -> None:
    order, done = Turns(ReviewPace()), list[str]()
    async with order.turn("slow", 1):
        with pytest.raises(NoTurnError, match="other placement reviews used up the time; try again"):
            await take(order, "jane", done, seconds=0.01)
        assert len(order) == 0
    await take(order, "jane", done)


async def test_a_review_that_is_given_up_gives_its_turn_back() -> None:
    order, done = Turns(ReviewPace()), list[str]()
    async with order.turn("slow", 1):
        waits = asyncio.create_task(take(order, "gone", done))
        called = asyncio.create_task(take(order, "gone-too", done))
        await asyncio.sleep(0)
        waits.cancel()
        await asyncio.gather(waits, return_exceptions=True)
    called.cancel()  # in the same turn of the loop in which it was called
    await asyncio.gather(called, return_exceptions=True)
    await take(order, "jane", done)
    assert done == ["jane"]


async def test_a_user_is_charged_with_the_rest_that_others_wait_for() -> None:
    """Whoever asks while the webhook rests from reviews of others comes before them, however soon they ask again."""
    clock = FakeClock(1e6)
    pace = ReviewPace(clock)
    order, done = Turns(pace), list[str]()
    async with order.turn("jane", 30):
        await asyncio.sleep(0.02)  # longer than the turn of the other, which costs more
    async with order.turn("greedy", 30):
        while pace.rest < REST * COST / 2:
            pace.spend(0)
    waiting = [asyncio.create_task(take(order, user, done, 30)) for user in ("greedy", "jane")]
    await asyncio.sleep(0)
    assert (done, len(order)) == ([], 2)  # the webhook rests
    clock.now += 1
    await asyncio.gather(*waiting)
    assert done == ["jane", "greedy"]


async def test_a_review_waits_for_the_rest_that_is_not_over() -> None:
    clock = FakeClock(1e6)
    pace = ReviewPace(clock)
    order, done = Turns(pace), list[str]()
    async with order.turn("greedy", 30):
        pace.spend(int(1e10))
    with pytest.raises(NoTurnError, match="other placement reviews used up the time; try again"):
        await take(order, "jane", done, seconds=0.01)
    assert done == []


async def test_users_are_forgotten_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_USERS", 2)
    order, done = Turns(ReviewPace()), list[str]()
    for user in ("a", "b", "c"):
        await take(order, user, done)
    assert done == ["a", "b", "c"]
    async with order.turn("a", 1):
        waits = asyncio.create_task(take(order, "d", done))
        await asyncio.sleep(0)
    await waits


def test_service_accounts_of_one_namespace_are_one_user() -> None:
    flow = flow_of("system:serviceaccount:team-a:one")
    assert flow == flow_of("system:serviceaccount:team-a:two")
    assert flow != flow_of("system:serviceaccount:team-ab:one")
    assert flow_of("jane") == "jane"
    assert flow_of("oidc:system:serviceaccount:team-a:one") == "oidc:system:serviceaccount:team-a:one"
