"""Memory for large bodies: reserved before they are read, shared among addresses, given back."""

import asyncio

import pytest

from webhook.server.http.budget import Budget


@pytest.fixture
def budget() -> Budget:
    """Room for ten bytes, six of which one address may have."""
    return Budget(10, 6)


async def _taken(budget: Budget, size: int, client: str, seconds: float = 5.0) -> asyncio.Task[bool]:
    """A reservation that had its chance to be made at once."""
    task = asyncio.create_task(budget.reserve(size, client, seconds))
    await asyncio.sleep(0.01)
    return task


async def test_what_fits_is_reserved_at_once(budget: Budget) -> None:
    assert await budget.reserve(6, "a", 0)
    assert (budget.used, budget.passed) == (6, 6)


async def test_what_does_not_fit_in_time_is_not_reserved(budget: Budget) -> None:
    await budget.reserve(6, "a", 0)
    assert not await budget.reserve(5, "b", 0.01)
    assert budget.used == 6


async def test_a_client_takes_no_more_than_its_share(budget: Budget) -> None:
    await budget.reserve(4, "a", 0)
    assert not await budget.reserve(4, "a", 0.01)
    assert await budget.reserve(4, "b", 0)


async def test_what_is_given_back_goes_to_whoever_waits(budget: Budget) -> None:
    await budget.reserve(6, "a", 0)
    waiting = await _taken(budget, 6, "b")
    assert not waiting.done()
    budget.release(6, "a")
    assert await waiting
    assert budget.used == 6


async def test_the_address_that_holds_least_goes_first(budget: Budget) -> None:
    await budget.reserve(3, "a", 0)
    await budget.reserve(6, "b", 0)
    again, other = await _taken(budget, 3, "a"), await _taken(budget, 3, "c")
    budget.release(6, "b")
    assert await other
    assert await again


async def test_a_large_body_is_not_overtaken_for_ever_by_small_ones(budget: Budget) -> None:
    await budget.reserve(6, "a", 0)
    large, small = await _taken(budget, 6, "b"), await _taken(budget, 1, "c", 0.05)
    assert (await small, large.done()) == (False, False)
    budget.release(6, "a")
    assert await large


async def test_a_client_that_waits_for_its_own_bodies_delays_no_other(budget: Budget) -> None:
    await budget.reserve(6, "a", 0)
    await _taken(budget, 6, "a")
    assert await budget.reserve(4, "b", 0.01)


async def test_whoever_hangs_up_while_waiting_leaves_nothing_behind(budget: Budget) -> None:
    await budget.reserve(6, "a", 0)
    waiting = await _taken(budget, 6, "b")
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    budget.release(6, "a")
    assert budget.used == 0


async def test_room_that_is_given_in_the_moment_of_hanging_up_is_free_again(budget: Budget) -> None:
    await budget.reserve(6, "a", 0)
    waiting = await _taken(budget, 6, "b")
    budget.release(6, "a")
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert budget.used == 0


async def test_only_so_many_wait(budget: Budget) -> None:
    await budget.reserve(6, "a", 0)
    waiting = [asyncio.create_task(budget.reserve(6, "b", 5)) for _ in range(256)]
    await asyncio.sleep(0)
    assert not await budget.reserve(6, "c", 5)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
