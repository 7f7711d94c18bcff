"""Clients that send too much, too slowly, or too often; and others beside them."""

import asyncio
import contextlib
import math
import re
import time
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from msgspec import Raw
from msgspec.structs import replace

from tests.aggregated.review_client import ReviewBench, bench_running, held, review, reviews_of, slow
from tests.builders import node
from webhook.aggregated import review_creation
from webhook.aggregated.review_creation import LIMITS, ReviewOutcome
from webhook.aggregated.review_process import NoAnswerError, ReviewProcess
from webhook.aggregated.turns import EACH, Turns
from webhook.cluster.objects.kinds import KINDS, NODES

PATH = reviews_of("team-a")
SMALL = replace(LIMITS, body=100_000, bodies=200_000, share=100_000, body_rate=1_000_000_000, room_seconds=0.2)


@pytest.fixture
async def small(tmp_path: Path) -> AsyncIterator[ReviewBench]:
    """The server with bounds that tests reach soon."""
    async with bench_running(tmp_path, SMALL) as running:
        yield running


async def until(bench: ReviewBench, figure: str, value: float, **labels: str) -> None:
    """Wait until the metric has this value."""
    for _ in range(1000):
        if bench.figure(figure, **labels) == value:
            return
        await asyncio.sleep(0.01)
    pytest.fail(f"{figure} has not become {value}")


async def pieces(size: int, *, pause: float = 0.0) -> AsyncIterator[bytes]:
    """A body of that size without a length, in two parts."""
    yield b" " * (size // 2)
    await asyncio.sleep(pause)
    yield b" " * (size - size // 2)


async def test_a_body_that_is_too_large_is_refused_unread(small: ReviewBench) -> None:
    code, answer = await small.create(review(manifests=[{"text": "x" * 100_000}]))
    assert (code, answer["reason"]) == (413, "RequestEntityTooLarge")
    assert answer["message"] == "the body is over 0 MiB; ask about fewer manifests at a time"


async def test_a_body_that_does_not_say_how_large_it_is_is_refused_as_well(small: ReviewBench) -> None:
    headers = {"Content-Type": "application/json"}
    with contextlib.suppress(aiohttp.ClientError):  # the connection may end before the client has sent all
        code, answer = await small.ask("POST", PATH, data=pieces(150_000), headers=headers)
        assert (code, answer["reason"]) == (413, "RequestEntityTooLarge")
    assert small.figure("placement_reviews_total", code="413") == 1


async def test_a_body_that_does_not_arrive_is_given_up(small: ReviewBench) -> None:
    headers = {"Content-Type": "application/json"}
    with contextlib.suppress(aiohttp.ClientError):
        code, answer = await small.ask("POST", PATH, data=pieces(10, pause=3), headers=headers)
        assert (code, answer["message"]) == (503, "the body of the request did not arrive in time")
    assert small.figure("placement_reviews_total", code="503") == 1


async def test_bodies_of_one_user_leave_room_for_those_of_another(small: ReviewBench) -> None:
    small.may.add("greedy create placementreviews team-a")
    body = review(manifests=[{"text": "x" * 60_000}])
    with held(small) as gate:
        flood = [asyncio.create_task(small.create(body, user="greedy")) for _ in range(3)]
        await until(small, "placement_reviews_total", 2, code="429")
        other = asyncio.create_task(small.create(body))
        await until(small, "waiting_placement_reviews", 1)
        await asyncio.to_thread(gate.touch)
        assert (await other)[0] == 201
    codes = sorted([code for code, _ in await asyncio.gather(*flood)])
    assert codes == [201, 429, 429]


async def test_a_flood_of_one_user_does_not_hold_up_another(bench: ReviewBench) -> None:
    bench.may.add("greedy create placementreviews team-a")
    with held(bench) as gate:
        flood = [asyncio.create_task(bench.create(user="greedy")) for _ in range(EACH + 2)]
        await until(bench, "placement_reviews_total", 2, code="429")
        other = asyncio.create_task(bench.create())
        await until(bench, "waiting_placement_reviews", EACH)
        await asyncio.to_thread(gate.touch)
        assert (await other)[0] == 201
    answers = await asyncio.gather(*flood)
    refused = [answer["message"] for code, answer in answers if code == 429]
    assert refused == ["4 placement reviews of yours are waiting already; try again"] * 2


async def test_the_webhook_copies_itself_once_for_a_flood(bench: ReviewBench) -> None:
    nodes = dict(zip(KINDS, bench.changes.kinds(), strict=True))[NODES]
    bench.answering = lambda _: ReviewOutcome(Raw(b"%d" % len(bench.inventory.nodes.nodes)))
    for count in (1, 2):
        nodes.put(bench.inventory, node(f"node-{count}"))
        answers = await asyncio.gather(*(bench.create() for _ in range(EACH)))
        assert [(code, answer["status"]) for code, answer in answers] == [(201, count)] * EACH
    assert bench.figure("placement_review_copy_seconds_count") == 1


async def test_a_flood_of_the_service_accounts_of_one_namespace_is_that_of_one_user(bench: ReviewBench) -> None:
    accounts = [f"system:serviceaccount:team-b:bot-{number}" for number in range(EACH + 1)]
    bench.may |= {f"{account} create placementreviews team-a" for account in accounts}
    with held(bench) as gate:
        flood = [asyncio.create_task(bench.create(user=account)) for account in accounts]
        await until(bench, "placement_reviews_total", 1, code="429")
        await asyncio.to_thread(gate.touch)
    assert sorted([code for code, _ in await asyncio.gather(*flood)]) == [201] * EACH + [429]


async def test_a_review_waits_for_its_turn_while_the_webhook_rests_from_another(bench: ReviewBench) -> None:
    """It is not said to take too long itself."""
    bench.may.add("greedy create placementreviews team-a")
    pace = bench.server._process.pace  # noqa: SLF001 -- as after an answer of a gigabyte
    bench.answering = lambda _: ReviewOutcome(Raw(b"{}"))
    pace.spend(int(1e9))
    assert (await bench.create(user="greedy"))[0] == 201
    code, answer = await bench.ask("POST", f"{PATH}?timeout=300ms", json=review())
    assert (code, answer["message"]) == (429, "other placement reviews used up the time; try again")


async def test_whoever_is_told_when_to_try_again_is_told_the_seconds(bench: ReviewBench) -> None:
    bench.server._process._rested = time.perf_counter() + 500  # noqa: SLF001 -- as after a copy of some seconds
    headers = {"X-Remote-User": "jane"}
    async with bench.session() as session, session.post(PATH, json=review(), headers=headers) as reply:
        said = re.fullmatch(
            r"the server starts the next process for reviews in (\d+) minutes; try again then",
            (await reply.json())["message"],
        )
        assert said is not None
        assert reply.status == 503
        assert math.ceil(int(reply.headers["Retry-After"]) / 60) == int(said[1])


async def test_an_answer_that_takes_too_long_is_ended(bench: ReviewBench) -> None:
    with slow(bench, 5):
        code, answer = await bench.ask("POST", f"{PATH}?timeout=300ms", json=review())
    said = {
        "Timeout": (504, r"the review took longer than 0(\.[0-9]+)? seconds; ask about fewer manifests at a time"),
        # Its process has not begun in that time, where a core has much to do.
        "ServiceUnavailable": (503, "the webhook has no time for reviews now; try again in 10 seconds"),
    }
    expected, text = said[answer["reason"]]
    assert code == expected
    assert re.fullmatch(text, answer["message"])


async def test_a_review_whose_turn_comes_too_late_is_not_said_to_take_long(
    bench: ReviewBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would not take less with fewer manifests."""
    passed = 0.0

    async def long_wait(_turns: Turns, _user: str, _seconds: float) -> None:
        nonlocal passed
        passed = 16.0  # of 30 seconds

    async def too_long(*_: object) -> bytearray:
        raise NoAnswerError(504, "too long")

    monkeypatch.setattr(Turns, "_called", long_wait)
    monkeypatch.setattr(ReviewProcess, "run", too_long)
    monkeypatch.setattr(review_creation, "perf_counter", lambda: time.perf_counter() + passed)
    code, answer = await bench.create()
    assert (code, answer["message"]) == (504, "too long")  # it has all the time that one answer may take
    passed = 0.0
    monkeypatch.setattr(review_creation, "SECONDS", 20.0)
    code, answer = await bench.create()
    assert (code, answer["message"]) == (429, "other placement reviews used up the time; try again")


async def test_a_review_whose_client_has_gone_is_not_answered(bench: ReviewBench) -> None:
    with held(bench) as gate:
        first = asyncio.create_task(bench.create())
        gone = asyncio.create_task(bench.create())
        await until(bench, "waiting_placement_reviews", 1)
        for task in (first, gone):  # whichever of them waits
            task.cancel()
        await asyncio.gather(first, gone, return_exceptions=True)
        await asyncio.sleep(0.1)  # the server hears of it
        await asyncio.to_thread(gate.touch)
        await until(bench, "placement_reviews_total", 1, code="503")
    assert bench.figure("placement_reviews_total", code="201") == 1
