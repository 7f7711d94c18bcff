"""Who judges and promises, one at a time."""

import asyncio

import pytest

from webhook.controller.turn import Turn


async def test_one_after_the_other_with_what_comes_first() -> None:
    turn, seen = Turn(), []

    async def prepare() -> None:
        seen.append("prepared")

    async def work(name: str) -> None:
        async with turn:
            seen.append(f"{name} begins")
            await asyncio.sleep(1)
            seen.append(f"{name} ends")

    turn.before.append(prepare)
    await asyncio.gather(work("one"), work("two"))
    assert seen == ["prepared", "one begins", "one ends", "prepared", "two begins", "two ends"]


async def test_a_failure_before_it_ends_the_turn() -> None:
    turn = Turn()

    async def fail() -> None:
        raise ValueError("no")

    turn.before.append(fail)
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            async with turn:
                pass
