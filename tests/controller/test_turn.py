"""Who judges and promises, one at a time."""

import asyncio

import pytest

from webhook.controller.turn import LOOKS, Turn


class DisturbedRoom:
    """Room that is disturbed so many times."""

    def __init__(self, times: int, seen: list[str]) -> None:
        self._times = times
        self._seen = seen

    @property
    def disturbed(self) -> bool:
        self._times -= 1
        return self._times >= 0

    async def settle(self) -> None:
        self._seen.append("settled")


async def test_one_after_the_other() -> None:
    turn, seen = Turn(), list[str]()

    async def work(name: str) -> None:
        async with turn:
            seen.append(f"{name} begins")
            await asyncio.sleep(1)
            seen.append(f"{name} ends")

    await asyncio.gather(work("one"), work("two"))
    assert seen == ["one begins", "one ends", "two begins", "two ends"]


@pytest.mark.parametrize(("times", "looks"), [(0, 1), (1, 2), (9, LOOKS)])
async def test_what_is_disturbed_is_judged_again(times: int, looks: int) -> None:
    turn, seen = Turn(), list[str]()
    turn.rooms.append(DisturbedRoom(times, seen))

    async def judge() -> int:
        seen.append("judged")
        return len(seen)

    assert await turn.judged(judge) == 2 * looks
    assert seen == ["settled", "judged"] * looks


async def test_what_fails_while_the_cluster_changes_is_judged_again() -> None:
    judged = iter((KeyError("node-a"), None))

    async def judge() -> str:
        if (failure := next(judged)) is not None:
            raise failure
        return "found"

    assert await Turn().judged(judge) == "found"
