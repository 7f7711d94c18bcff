"""One is elected, leads while it renews, and knows when it leads no more."""

import asyncio
from typing import Any

import pytest

from kubeapi.client.errors import ApiError, Cause
from kubeapi.leaderelection.election import Election, own_identity
from kubeapi.leaderelection.lease_hold import LostError
from kubeapi.leaderelection.lease_timing import LeaseTiming
from tests.controller.virtual_time import clock
from tests.kubeapi.leaderelection.elections import OURS, THEIRS, candidate, complaints, for_ever, running, unreachable
from tests.kubeapi.leaderelection.leases import PATH, Leases

_SLOW = LeaseTiming(lease=600, deadline=400, retry=100)


@pytest.fixture
def leases() -> Leases:
    return Leases()


# Getting it


async def test_a_lease_that_is_not_there_is_made_and_held(leases: Leases) -> None:
    async with running(candidate(leases)) as task:
        assert (leases.asked, leases.spec["holderIdentity"], task.done()) == (["GET", "POST"], "me", False)


async def test_the_lease_is_kept_for_fifteen_seconds(leases: Leases) -> None:
    async with running(candidate(leases)):
        assert leases.spec["leaseDurationSeconds"] == 15


async def test_before_the_election_there_is_no_leader(leases: Leases) -> None:
    election = candidate(leases)
    assert not election.leading
    with pytest.raises(LostError, match="^the lease streams/controller is not held, or was not renewed in time$"):
        election.check()


async def test_whoever_is_elected_leads(leases: Leases) -> None:
    election = candidate(leases)
    async with running(election):
        election.check()
        assert election.leading


@pytest.mark.parametrize("spec", [{**THEIRS, "holderIdentity": ""}, {}], ids=["given back", "of nobody"])
async def test_a_lease_without_a_holder_is_taken_at_once(leases: Leases, spec: dict[str, Any]) -> None:
    leases.put(**spec)
    async with running(candidate(leases)):
        assert leases.spec["holderIdentity"] == "me"


async def test_a_lease_that_another_holds_is_taken_when_it_was_seen_unrenewed_for_its_duration(leases: Leases) -> None:
    leases.put(holderIdentity="you", leaseDurationSeconds=40)
    election = candidate(leases)
    async with running(election):
        await asyncio.sleep(39.9)
        before = election.leading
        await asyncio.sleep(0.2)
        assert (before, election.leading, leases.spec["leaseTransitions"]) == (False, True, 1)


async def test_a_time_in_the_lease_counts_for_nothing(leases: Leases) -> None:
    leases.put(**THEIRS, renewTime="1970-01-01T00:00:00.000000Z")
    election = candidate(leases)
    async with running(election):
        await asyncio.sleep(14.9)
        assert not election.leading


async def test_a_lease_that_is_renewed_is_never_taken(leases: Leases) -> None:
    leases.put(**THEIRS)
    election = candidate(leases)
    async with running(election):
        for _ in range(10):
            await asyncio.sleep(12)
            leases.put(**THEIRS)
        assert not election.leading


@pytest.mark.parametrize("spec", [[1], {"holderIdentity": 7}], ids=["a list", "a number"])
async def test_a_lease_that_cannot_be_read_is_waited_out(leases: Leases, spec: Any) -> None:
    leases.store({"metadata": {}, "spec": spec})
    election = candidate(leases)
    async with running(election):
        await asyncio.sleep(14.9)
        before = election.leading
        await asyncio.sleep(0.2)
        assert (before, election.leading) == (False, True)


async def test_a_lease_that_vanishes_is_waited_out_as_its_holder_leads_on(leases: Leases) -> None:
    leases.put(**THEIRS)
    election = candidate(leases)
    async with running(election):
        leases.delete()
        await asyncio.sleep(14.9)
        before = election.leading
        await asyncio.sleep(3)
        assert (before, election.leading) == (False, True)


async def test_of_two_at_the_same_moment_one_leads(leases: Leases) -> None:
    both = [candidate(leases, "me"), candidate(leases, "you")]
    async with running(both[0]), running(both[1]):
        await asyncio.sleep(60)
        assert [election.leading for election in both] == [True, False]


@pytest.mark.parametrize("cause", [Cause.EXISTS, Cause.CONFLICT])
async def test_whoever_comes_second_looks_again_and_complains_not(
    leases: Leases, cause: Cause, caplog: pytest.LogCaptureFixture
) -> None:
    leases.troubles = [None, ApiError(cause, "too late")]
    election = candidate(leases)
    async with running(election):
        await asyncio.sleep(3)
        assert (election.leading, complaints(caplog)) == (True, [])


async def test_trouble_on_the_way_is_said_once_and_tried_again(
    leases: Leases, caplog: pytest.LogCaptureFixture
) -> None:
    leases.troubles = [unreachable() for _ in range(4)]
    election = candidate(leases)
    async with running(election):
        await asyncio.sleep(10)
        assert election.leading
    assert complaints(caplog) == ["the lease streams/controller: the API server does not answer: gone"]


async def test_an_api_server_that_is_busy_is_left_alone_for_a_while(leases: Leases) -> None:
    leases.troubles = [ApiError(Cause.BUSY, "later", wait=4.0), ApiError(Cause.BUSY, "later", wait=3600.0)]
    async with running(candidate(leases)):
        await asyncio.sleep(3.9)
        first = len(leases.asked)
        await asyncio.sleep(0.2)
        second = len(leases.asked)
        await asyncio.sleep(5)
        assert (first, second, leases.spec["holderIdentity"]) == (1, 2, "me")


async def test_a_lease_that_we_got_without_an_answer_is_ours() -> None:
    class Deaf(Leases):
        async def ask(self, method: str, path: str, body: Any = None) -> bytes:
            answer = await super().ask(method, path, body)
            if self.asked.count("POST") == 1 and method == "POST":
                raise unreachable()
            return answer

    deaf = Deaf()
    election = candidate(deaf)
    async with running(election):
        await asyncio.sleep(3)
        assert (election.leading, deaf.spec["leaseTransitions"]) == (True, 0)


async def test_an_answer_that_comes_too_late_makes_no_leader() -> None:
    """As after a pause of the process: the answer was there, but nobody looked."""
    late = 0.0

    def skewed() -> float:
        return clock() + late

    class Slow(Leases):
        async def ask(self, method: str, path: str, body: Any = None) -> bytes:
            nonlocal late
            answer = await super().ask(method, path, body)
            if method == "POST":
                late = 11.0
            return answer

    slow = Slow()
    election = Election(slow, namespace="streams", name="controller", identity="me", clock=skewed)
    async with running(election):
        assert (election.leading, slow.asked) == (True, ["GET", "POST", "GET", "PUT"])


# Keeping it


async def test_the_lease_is_renewed_every_other_second_without_looking(leases: Leases) -> None:
    async with running(candidate(leases)):
        await asyncio.sleep(60)
        assert set(leases.asked[2:]) == {"PUT"}
        assert 60 / 2.4 - 1 <= len(leases.asked[2:]) <= 60 / 2


async def test_whoever_renews_leads_on(leases: Leases) -> None:
    election = candidate(leases)
    async with running(election):
        await asyncio.sleep(3600)
        assert (election.leading, leases.spec["leaseTransitions"]) == (True, 0)


async def test_the_lead_ends_ten_seconds_after_the_last_renewal_was_sent(leases: Leases) -> None:
    election = candidate(leases)
    async with running(election) as task:
        leases.troubles = [unreachable() for _ in range(100)]
        await asyncio.sleep(9.99)
        before = election.leading
        await asyncio.sleep(0.02)
        assert (before, election.leading, task.done()) == (True, False, True)


async def test_a_lead_that_is_lost_ends_the_run(leases: Leases) -> None:
    leases.troubles = [None, None, *(unreachable() for _ in range(100))]
    with pytest.raises(LostError, match="^the lease streams/controller is not held, or was not renewed in time$"):
        await candidate(leases).run(for_ever)


async def test_a_lead_that_was_not_renewed_need_not_be_anothers(leases: Leases) -> None:
    leases.troubles = [None, None, *(unreachable() for _ in range(100))]
    with pytest.raises(LostError) as lost:
        await candidate(leases).run(for_ever)
    assert not lost.value.taken


async def test_requests_that_hang_do_not_prolong_the_lead() -> None:
    class Hanging(Leases):
        async def ask(self, method: str, path: str, body: Any = None) -> bytes:
            if len(self.asked) > 1:
                self.asked.append(method)
                await asyncio.Event().wait()
            return await super().ask(method, path, body)

    begun = clock()
    with pytest.raises(LostError):
        await candidate(Hanging()).run(for_ever)
    assert round(clock() - begun, 3) == 10


async def test_a_process_that_was_paused_sees_at_once_that_it_leads_no_more(leases: Leases) -> None:
    asleep = 0.0
    election = Election(leases, namespace="streams", name="controller", identity="me", clock=lambda: clock() + asleep)
    async with running(election):
        asleep = 10.0
        assert not election.leading
        with pytest.raises(LostError):
            election.check()


async def test_a_renewal_whose_answer_was_lost_is_found_out_at_the_next(leases: Leases) -> None:
    election = candidate(leases)
    async with running(election):
        leases.put(**OURS)
        await asyncio.sleep(2.5)
        assert leases.asked[2:] == ["PUT", "GET", "PUT"]
        await asyncio.sleep(60)
        assert election.leading


async def test_a_lease_that_is_deleted_is_made_again(leases: Leases) -> None:
    election = candidate(leases)
    async with running(election):
        leases.delete()
        await asyncio.sleep(60)
        assert (election.leading, leases.spec["holderIdentity"]) == (True, "me")


@pytest.mark.parametrize("holder", ["you", "", 7], ids=["another's", "nobody's", "unreadable"])
async def test_a_lease_that_is_not_ours_any_more_is_lost(leases: Leases, holder: Any) -> None:
    election = candidate(leases)
    async with running(election) as task:
        leases.put(holderIdentity=holder)
        await asyncio.sleep(3)
        assert not election.leading
        with pytest.raises(LostError, match="^the lease streams/controller is not ours any more$") as lost:
            await task
        assert lost.value.taken


async def test_a_lease_that_changes_all_the_time_is_not_asked_for_all_the_time(leases: Leases) -> None:
    election = candidate(leases)
    async with running(election):
        leases.troubles = [ApiError(Cause.CONFLICT, "changed"), None, ApiError(Cause.CONFLICT, "changed")]
        await asyncio.sleep(2.5)
        assert leases.asked[2:] == ["PUT", "GET", "PUT"]
        await asyncio.sleep(60)
        assert election.leading


async def test_an_answer_that_cannot_be_read_renews_nothing() -> None:
    class Garbled(Leases):
        async def ask(self, method: str, path: str, body: Any = None) -> bytes:
            answer = await super().ask(method, path, body)
            return b"<html>" if method == "PUT" else answer

    with pytest.raises(LostError):
        await candidate(Garbled()).run(for_ever)


async def test_trouble_that_comes_again_is_said_again(leases: Leases, caplog: pytest.LogCaptureFixture) -> None:
    async with running(candidate(leases)):
        for _ in range(2):
            leases.troubles = [unreachable(), unreachable()]
            await asyncio.sleep(20)
    assert len(complaints(caplog)) == 2


# Renewing it at once


async def test_a_renewal_can_be_had_at_once(leases: Leases) -> None:
    election = candidate(leases)
    async with running(election):
        await election.renew()
        assert leases.asked[2:] == ["PUT"]


async def test_a_renewal_at_once_prolongs_the_lead(leases: Leases) -> None:
    election = candidate(leases)
    async with running(election):
        leases.troubles = [unreachable() for _ in range(4)]
        await asyncio.sleep(9.9)
        leases.troubles = []
        await election.renew()
        await asyncio.sleep(1)
        assert election.leading


async def test_a_renewal_at_once_of_a_lease_that_is_anothers_is_a_loss(leases: Leases) -> None:
    election = candidate(leases)
    async with running(election):
        leases.put(**THEIRS)
        with pytest.raises(LostError, match="^the lease streams/controller is not ours any more$") as lost:
            await election.renew()
        assert (lost.value.taken, election.leading, leases.asked[2:]) == (True, False, ["PUT", "GET"])


async def test_a_renewal_at_once_finds_out_that_an_earlier_answer_was_lost(leases: Leases) -> None:
    election = candidate(leases)
    async with running(election):
        leases.put(**OURS)
        await election.renew()
        assert (leases.asked[2:], election.leading) == (["PUT", "GET", "PUT"], True)


async def test_a_renewal_at_once_that_fails_is_not_a_loss(leases: Leases) -> None:
    election = candidate(leases)
    async with running(election):
        leases.troubles = [unreachable()]
        await election.renew()
        assert election.leading


async def test_a_lead_that_was_lost_is_not_renewed(leases: Leases) -> None:
    asleep = 0.0
    election = Election(leases, namespace="streams", name="controller", identity="me", clock=lambda: clock() + asleep)
    async with running(election):
        asleep = 10.0
        with pytest.raises(LostError, match="is not held, or was not renewed in time$"):
            await election.renew()
        assert leases.asked[2:] == []


async def test_renewals_take_turns() -> None:
    """Two of one version would be a conflict for the second."""

    class Slow(Leases):
        async def ask(self, method: str, path: str, body: Any = None) -> bytes:
            await asyncio.sleep(0.5)
            return await super().ask(method, path, body)

    slow = Slow()
    election = candidate(slow)
    async with running(election):
        await asyncio.sleep(1.1)
        await asyncio.gather(*(election.renew() for _ in range(3)))
        assert slow.asked[2:5] == ["PUT", "PUT", "PUT"]


# Telling


async def test_whoever_listens_hears_of_every_failure_and_nothing_is_logged(
    leases: Leases, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[str] = []
    leases.troubles = [unreachable(), unreachable(), None, ApiError(Cause.EXISTS, "too late"), None]
    task = asyncio.create_task(candidate(leases).run(for_ever, tell=lambda failure: heard.append(str(failure))))
    await asyncio.sleep(20)
    leases.troubles = [unreachable(), None]
    await asyncio.sleep(5)
    leases.troubles = [unreachable(), unreachable()]
    task.cancel()
    await asyncio.wait({task})
    assert heard == ["the API server does not answer: gone"] * 3
    assert complaints(caplog) == ["the lease streams/controller: the API server does not answer: gone"]


# Names


def test_no_two_processes_have_the_same_name() -> None:
    assert own_identity() != own_identity()


async def test_the_lease_is_where_it_is_said_to_be(leases: Leases) -> None:
    async with running(candidate(leases)):
        assert leases.lease["metadata"]["name"] == "controller"
    assert PATH.endswith("/namespaces/streams/leases/controller")


def test_it_knows_its_name(leases: Leases) -> None:
    assert candidate(leases, "me").identity == "me"


# Seeing it change


async def test_a_lease_that_is_seen_to_change_is_looked_at_soon(leases: Leases) -> None:
    leases.put(**THEIRS)
    election = Election(leases, namespace="streams", name="controller", identity="me", clock=clock, timing=_SLOW)
    async with running(election):
        await asyncio.sleep(10)
        leases.put(**THEIRS | {"holderIdentity": ""})
        await asyncio.sleep(1)
        before = election.leading
        election.changed.set()
        await asyncio.sleep(0.2)
        assert (before, election.leading) == (False, True)


async def test_a_lease_that_is_written_all_the_time_is_looked_at_ten_times_a_second(leases: Leases) -> None:
    leases.put(**THEIRS)
    election = Election(leases, namespace="streams", name="controller", identity="me", clock=clock, timing=_SLOW)
    async with running(election):
        await asyncio.sleep(1)
        before = len(leases.asked)
        for _ in range(1000):
            election.changed.set()
            await asyncio.sleep(0.01)
        assert 90 <= len(leases.asked) - before <= 101


async def test_an_api_server_that_asks_for_time_gets_it_though_the_lease_changes(leases: Leases) -> None:
    leases.put(**THEIRS)
    leases.troubles = [ApiError(Cause.BUSY, "too many requests", wait=30.0)]
    election = Election(leases, namespace="streams", name="controller", identity="me", clock=clock, timing=_SLOW)
    async with running(election):
        election.changed.set()
        await asyncio.sleep(29)
        assert leases.asked == ["GET"]
