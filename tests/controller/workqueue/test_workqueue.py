"""Keys wait once, are worked on one at a time, and come back when they are to."""

import asyncio

import pytest

from tests.controller.virtual_time import clock, settle
from webhook.controller.workqueue.queue import Queue
from webhook.controller.workqueue.retries import Backoff, Bucket


@pytest.fixture
async def queue() -> Queue[str]:
    return Queue(clock=clock)


async def now(queue: Queue[str]) -> str | None:
    """What can be taken at this moment."""
    try:
        return await asyncio.wait_for(queue.take(), 0.001)
    except TimeoutError:
        return None


async def test_keys_come_in_the_order_in_which_they_were_added(queue: Queue[str]) -> None:
    for key in "abc":
        queue.add(key)
    assert [await now(queue) for _ in range(4)] == ["a", "b", "c", None]


async def test_a_key_that_waits_is_not_added_again(queue: Queue[str]) -> None:
    queue.add("a")
    queue.add("a")
    assert [await now(queue), await now(queue), queue.added] == ["a", None, 1]


async def test_whoever_waits_gets_what_is_added(queue: Queue[str]) -> None:
    taking = asyncio.create_task(queue.take())
    await asyncio.sleep(1)
    queue.add("a")
    assert await taking == "a"


async def test_a_key_that_is_being_worked_on_is_not_given_to_another(queue: Queue[str]) -> None:
    queue.add("a")
    await queue.take()
    queue.add("a")
    assert await now(queue) is None


async def test_a_key_that_was_added_while_it_was_worked_on_comes_once_more(queue: Queue[str]) -> None:
    queue.add("a")
    await queue.take()
    queue.add("a")
    queue.add("a")
    queue.done("a")
    assert await now(queue) == "a"
    queue.done("a")
    assert await now(queue) is None


async def test_a_worker_that_stops_waiting_takes_nothing_along(queue: Queue[str]) -> None:
    assert await now(queue) is None
    queue.add("a")
    assert await now(queue) == "a"


# Flows


@pytest.fixture
async def fair() -> Queue[str]:
    """A key is of the flow that its first letter names; two of one flow at a time."""
    return Queue(flow=lambda key: key[0], seats=2, clock=clock)


async def taken(queue: Queue[str]) -> str | None:
    """What can be taken at this moment, and is done at once."""
    key = await now(queue)
    if key is not None:
        queue.done(key)
    return key


async def test_flows_take_turns(fair: Queue[str]) -> None:
    for key in ("a1", "a2", "a3", "b1", "c1", "c2"):
        fair.add(key)
    assert [await taken(fair) for _ in range(7)] == ["a1", "b1", "c1", "a2", "c2", "a3", None]


async def test_who_comes_last_waits_for_one_key_of_each_flow(fair: Queue[str]) -> None:
    for flow in "abc":
        for number in range(100):
            fair.add(f"{flow}{number}")
    await taken(fair)
    fair.add("d")
    assert [await taken(fair) for _ in range(4)] == ["b0", "c0", "a1", "d"]


async def test_who_comes_again_and_again_does_not_come_first(fair: Queue[str]) -> None:
    fair.add("a")
    fair.add("b1")
    fair.add("b2")
    found = []
    for _ in range(6):
        found.append(await taken(fair))
        fair.add("a")
    assert found == ["a", "b1", "a", "b2", "a", "a"]


async def test_a_flow_has_so_many_seats(fair: Queue[str]) -> None:
    for key in ("a1", "a2", "a3", "b1"):
        fair.add(key)
    assert [await now(fair) for _ in range(4)] == ["a1", "b1", "a2", None]
    fair.done("a1")
    assert await now(fair) == "a3"


async def test_whoever_waits_gets_a_key_when_there_is_a_seat(fair: Queue[str]) -> None:
    for key in ("a1", "a2", "a3"):
        fair.add(key)
    for _ in range(2):
        await now(fair)
    taking = asyncio.create_task(fair.take())
    await asyncio.sleep(1)
    fair.done("a2")
    assert await taking == "a3"


async def test_a_key_added_while_it_is_worked_on_has_no_turn_before_that_ends(fair: Queue[str]) -> None:
    fair.add("a1")
    await now(fair)
    fair.add("a1")
    fair.add("b1")
    assert [await now(fair), await now(fair)] == ["b1", None]
    fair.done("a1")
    assert (await now(fair), fair.working) == ("a1", 2)


async def test_no_flow_waits_for_the_failures_of_another(fair: Queue[str]) -> None:
    for number in range(300):
        fair.retry(f"a{number}")
    assert fair.retry("b") == 0.005


# Later


async def test_a_key_is_added_when_its_time_has_come(queue: Queue[str]) -> None:
    queue.add_after("a", 60)
    begun = clock()
    assert (await queue.take(), round(clock() - begun, 3)) == ("a", 60)


@pytest.mark.parametrize("seconds", [0, -1, float("-inf")])
async def test_a_time_that_has_passed_is_now(queue: Queue[str], seconds: float) -> None:
    queue.add_after("a", seconds)
    assert (await now(queue), queue.scheduled) == ("a", 0)


@pytest.mark.parametrize("order", [(1, 5), (5, 1)])
async def test_of_several_times_the_first_counts(queue: Queue[str], order: tuple[int, int]) -> None:
    for seconds in order:
        queue.add_after("a", seconds)
    begun = clock()
    await queue.take()
    queue.done("a")
    assert (round(clock() - begun, 3), await now(queue), queue.scheduled) == (1, None, 0)


async def test_what_is_added_meanwhile_does_not_replace_what_is_to_come(queue: Queue[str]) -> None:
    queue.add_after("a", 5)
    queue.add("a")
    await queue.take()
    queue.done("a")
    begun = clock()
    assert (await queue.take(), round(clock() - begun, 3)) == ("a", 5)


# Failures


async def test_a_key_that_is_due_in_less_than_a_tick_of_the_clock_comes_after_that(queue: Queue[str]) -> None:
    due = clock() + 1e-13
    queue.add_after("a", due - clock())
    await settle()
    assert (queue.depth, queue.scheduled) == (0, 1)
    assert (await queue.take(), clock() > due) == ("a", True)


async def test_each_failure_in_a_row_doubles_the_pause_up_to_a_minute(queue: Queue[str]) -> None:
    pauses = [queue.retry("a") for _ in range(16)]
    assert pauses == [0.005 * 2**n for n in range(14)] + [60.0, 60.0]


async def test_a_success_ends_the_row(queue: Queue[str]) -> None:
    queue.retry("a")
    queue.forget("a")
    assert (queue.failing, queue.retry("a")) == (0, 0.005)


async def test_the_failures_of_one_key_are_not_those_of_another(queue: Queue[str]) -> None:
    queue.retry("a")
    assert queue.retry("b") == 0.005


async def test_to_forget_what_never_failed_is_nothing(queue: Queue[str]) -> None:
    queue.forget("a")
    assert queue.failing == 0


@pytest.mark.parametrize(("wait", "pause"), [(0.001, 0.005), (7.0, 7.0), (3600.0, 60.0)])
async def test_an_api_server_is_left_alone_as_it_asks_for_up_to_a_minute(
    queue: Queue[str], wait: float, pause: float
) -> None:
    assert queue.retry("a", wait=wait) == pause


async def test_a_failure_is_tried_again(queue: Queue[str]) -> None:
    queue.retry("a")
    assert await queue.take() == "a"


async def test_all_keys_together_are_retried_ten_times_a_second() -> None:
    queue: Queue[int] = Queue(clock=clock)
    pauses = [queue.retry(key) for key in range(130)]
    assert pauses[:100] == [0.005] * 100
    assert [round(pause, 3) for pause in (pauses[100], pauses[109], pauses[129])] == [0.1, 1.0, 3.0]


async def test_a_bucket_fills_again_but_never_over() -> None:
    bucket = Bucket(per_second=2, burst=3, clock=clock)
    first = [bucket.take() for _ in range(4)]
    await asyncio.sleep(100)
    assert ([round(each, 3) for each in first], [round(bucket.take(), 3) for _ in range(4)]) == (
        [0, 0, 0, 0.5],
        [0, 0, 0, 0.5],
    )


async def test_flows_share_what_a_bucket_lets_pass() -> None:
    bucket = Bucket(per_second=10, burst=100, clock=clock)
    waits = dict[str, list[float]]()
    for _ in range(60):
        for flow in ("a", "b"):
            waits.setdefault(flow, []).append(round(bucket.take(flow), 3))
    assert [waits[flow][:49] for flow in ("a", "b")] == [[0.0] * 49] * 2
    assert [round(waits[flow][-1] - waits[flow][-2], 3) for flow in ("a", "b")] == [0.2, 0.2]


async def test_a_flow_that_needed_nothing_for_long_has_no_share() -> None:
    bucket = Bucket(per_second=10, burst=10, clock=clock)
    bucket.take("a")
    await asyncio.sleep(10)
    waits = [round(bucket.take("b"), 3) for _ in range(12)]
    assert waits == [0.0] * 10 + [0.1, 0.2]


# Figures


async def test_it_knows_how_many_wait_and_how_many_are_worked_on(queue: Queue[str]) -> None:
    for key in "abc":
        queue.add(key)
    queue.add_after("d", 5)
    queue.retry("e")
    await queue.take()
    queue.add("a")
    assert (queue.depth, queue.working, queue.scheduled, queue.failing, queue.retries, queue.added) == (
        3,
        1,
        2,
        1,
        1,
        4,
    )


async def test_it_knows_for_how_long_the_first_key_waits(queue: Queue[str]) -> None:
    queue.add("a")
    await asyncio.sleep(2)
    queue.add("b")
    await asyncio.sleep(1)
    first = queue.oldest
    await queue.take()
    assert (round(first, 3), round(queue.oldest, 3)) == (3, 1)


async def test_when_none_waits_the_oldest_is_none(queue: Queue[str]) -> None:
    assert queue.oldest == 0


async def test_the_pauses_can_be_others() -> None:
    queue: Queue[str] = Queue(backoff=Backoff(Bucket(clock=clock), least=1, most=3), clock=clock)
    assert [queue.retry("a") for _ in range(3)] == [1, 2, 3]
