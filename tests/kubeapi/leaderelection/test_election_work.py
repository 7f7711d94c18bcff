"""The leader's work is done while it leads, and ended in order; then another one may lead."""

import asyncio
from functools import partial
from typing import Any

import pytest

from kubeapi.client.errors import ApiError, Cause
from kubeapi.leaderelection.lease_hold import LostError
from tests.controller.virtual_time import settle
from tests.kubeapi.leaderelection.elections import THEIRS, candidate, complaints, running, unreachable
from tests.kubeapi.leaderelection.leases import Leases


@pytest.fixture
def leases() -> Leases:
    return Leases()


# Work


async def test_work_is_done_while_leading_and_its_result_is_the_result(leases: Leases) -> None:
    election = candidate(leases)

    async def work() -> tuple[bool, str]:
        return election.leading, leases.spec["holderIdentity"]

    assert await election.run(work) == (True, "me")


async def test_work_that_has_ended_gives_the_lease_back(leases: Leases) -> None:
    election = candidate(leases)
    await election.run(lambda: asyncio.sleep(5))
    assert (leases.spec["holderIdentity"], leases.spec["leaseDurationSeconds"], election.leading) == ("", 1, False)


async def test_work_that_fails_gives_the_lease_back_and_says_why(leases: Leases) -> None:
    async def work() -> None:
        raise ValueError("no good")

    with pytest.raises(ValueError, match="^no good$"):
        await candidate(leases).run(work)
    assert leases.spec["holderIdentity"] == ""


async def test_work_that_met_a_fence_leaves_the_lease_alone(leases: Leases) -> None:
    async def work() -> None:
        raise LostError("too late")

    with pytest.raises(LostError, match="^too late$"):
        await candidate(leases).run(work)
    assert leases.asked == ["GET", "POST"]


async def test_work_is_ended_when_the_lead_is_lost(leases: Leases) -> None:
    ended = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(3)
            ended.append(election.leading)

    election = candidate(leases)
    async with running(election, work) as task:
        leases.put(**THEIRS)
        with pytest.raises(LostError):
            await task
    assert (ended, leases.spec["holderIdentity"]) == ([False], "you")


async def test_what_goes_wrong_while_work_is_ended_is_logged(leases: Leases, caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError("no good")

    async with running(candidate(leases), work) as task:
        leases.put(**THEIRS)
        with pytest.raises(LostError):
            await task
    assert (complaints(caplog), bool(caplog.records[-1].exc_info)) == (
        ["a task failed while it was being cancelled"],
        True,
    )


async def test_whoever_is_stopped_ends_the_work_first_and_renews_meanwhile(leases: Leases) -> None:
    ended = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(60)
            ended.append((election.leading, leases.spec["holderIdentity"]))

    election = candidate(leases)
    async with running(election, work):
        pass
    assert (ended, leases.spec["holderIdentity"]) == ([(True, "me")], "")


async def test_whoever_is_stopped_twice_gives_nothing_back_that_is_still_worked_on(leases: Leases) -> None:
    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(60)

    election = candidate(leases)
    async with running(election, work) as task:
        task.cancel()
        await asyncio.sleep(1)
        task.cancel()
        await settle()
        assert (task.done(), election.leading, leases.spec["holderIdentity"]) == (True, False, "me")
    await asyncio.sleep(100)


# Giving it back


async def test_whoever_never_asked_for_it_gives_nothing_back(leases: Leases) -> None:
    leases.put(**THEIRS)
    async with running(candidate(leases)):
        pass
    assert leases.asked == ["GET"]


async def test_whoever_is_stopped_while_it_asks_gives_back_what_it_may_have_got() -> None:
    class Deaf(Leases):
        async def ask(self, method: str, path: str, body: Any = None) -> bytes:
            answer = await super().ask(method, path, body)
            if method == "POST":
                await asyncio.Event().wait()
            return answer

    deaf = Deaf()
    async with running(candidate(deaf)):
        assert deaf.spec["holderIdentity"] == "me"
    assert deaf.spec["holderIdentity"] == ""


async def test_a_late_renewal_is_given_back_as_well(leases: Leases) -> None:
    async with running(candidate(leases)):
        leases.troubles = [None, ApiError(Cause.CONFLICT, "changed")]
    assert (leases.asked[2:], leases.spec["holderIdentity"]) == (["GET", "PUT", "GET", "PUT"], "")


async def test_what_is_anothers_by_now_is_not_given_back(leases: Leases) -> None:
    async with running(candidate(leases)):
        leases.put(**THEIRS)
    assert leases.spec["holderIdentity"] == "you"


async def test_a_deleted_lease_is_not_released(leases: Leases) -> None:
    async with running(candidate(leases)):
        leases.delete()
    assert leases.asked[2:] == ["GET"]


async def test_giving_it_back_is_tried_twice_and_then_left(leases: Leases, caplog: pytest.LogCaptureFixture) -> None:
    async with running(candidate(leases)):
        leases.troubles = [unreachable() for _ in range(10)]
    assert leases.asked[2:] == ["GET", "GET"]
    assert len(complaints(caplog)) == 1


async def test_it_can_be_run_again(leases: Leases) -> None:
    election = candidate(leases)
    assert [await election.run(partial(asyncio.sleep, 1, number)) for number in (1, 2)] == [1, 2]
    assert leases.spec["leaseTransitions"] == 1
