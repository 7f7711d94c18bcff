"""Who may act, and who no longer may."""

import asyncio
import contextlib
from typing import Any

import pytest

from certs.managed import lease as module
from certs.managed.api import Api, FailureError
from certs.managed.lease import Lease, LostError
from tests.certs.managed.fake import LEASE, FakeCluster, until

pytestmark = pytest.mark.integration


class FakeClock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.moment = 1000.0

    def __call__(self) -> float:
        return self.moment


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks and renewals follow each other in hundredths of a second: what passes meanwhile is the clock's."""
    monkeypatch.setattr(module, "RENEWAL_SHARE", 0.01)


def lease(api: Api, clock: FakeClock, *, identity: str = "me", duration: int = 3) -> Lease:
    return Lease(api, namespace="ns", name="pair", identity=identity, duration=duration, clock=clock)


def spec(cluster: FakeCluster) -> dict[str, Any]:
    found: dict[str, Any] = cluster.objects[LEASE]["spec"]
    return found


def said() -> tuple[list[str], Any]:
    words: list[str] = []
    return words, words.append


async def held(api: Api, clock: FakeClock, **more: Any) -> Lease:
    own = lease(api, clock, **more)
    await own.acquire(pytest.fail)
    return own


async def test_a_lease_is_made(api: Api, cluster: FakeCluster, clock: FakeClock) -> None:
    (await held(api, clock)).check()
    assert spec(cluster)["holderIdentity"] == "me"
    assert (spec(cluster)["leaseDurationSeconds"], spec(cluster)["leaseTransitions"]) == (3, 0)


async def test_times_are_written_as_kubernetes_does(api: Api, cluster: FakeCluster, clock: FakeClock) -> None:
    await held(api, clock)
    assert len(spec(cluster)["renewTime"]) == len("2030-01-01T00:00:00.000000Z")


async def test_before_it_is_held_nothing_may_be_done(api: Api, clock: FakeClock) -> None:
    with pytest.raises(LostError, match="^the lease pair was not renewed in time$"):
        lease(api, clock).check()


async def test_a_lease_ends_for_its_holder_after_two_thirds_of_its_duration(api: Api, clock: FakeClock) -> None:
    own = await held(api, clock)
    clock.moment += 1.9
    own.check()
    clock.moment += 0.1
    with pytest.raises(LostError):
        own.check()


async def test_a_renewal_counts_from_when_it_was_sent(api: Api, cluster: FakeCluster, clock: FakeClock) -> None:
    async def slow(method: str, _path: str) -> None:
        clock.moment += 1.5 if method == "PUT" else 0

    own = await held(api, clock)
    cluster.fault = slow
    await own.renew(pytest.fail)
    clock.moment += 0.5
    with pytest.raises(LostError):
        own.check()


async def test_a_renewal_keeps_when_it_was_acquired(api: Api, cluster: FakeCluster, clock: FakeClock) -> None:
    own = await held(api, clock)
    before = dict(spec(cluster))
    await own.renew(pytest.fail)
    assert spec(cluster) == {**before, "renewTime": spec(cluster)["renewTime"]}


async def test_another_waits_for_the_duration_by_its_own_clock(
    api: Api, cluster: FakeCluster, clock: FakeClock
) -> None:
    await held(api, clock)
    waiting = asyncio.create_task(lease(api, clock, identity="you").acquire(pytest.fail))
    looks = len(cluster.seen)
    clock.moment += 2.9
    await until(lambda: len(cluster.seen) >= looks + 2)
    assert spec(cluster)["holderIdentity"] == "me"
    clock.moment += 3
    await asyncio.wait_for(waiting, 5)
    assert (spec(cluster)["holderIdentity"], spec(cluster)["leaseTransitions"]) == ("you", 1)


async def test_a_lease_that_is_renewed_is_not_taken(api: Api, cluster: FakeCluster, clock: FakeClock) -> None:
    own = await held(api, clock)
    waiting = asyncio.create_task(lease(api, clock, identity="you").acquire(pytest.fail))
    for _ in range(3):
        looks = len(cluster.seen)
        await until(lambda looks=looks: len(cluster.seen) >= looks + 2)
        clock.moment += 2.5
        await own.renew(pytest.fail)
    waiting.cancel()
    assert spec(cluster)["holderIdentity"] == "me"


async def test_a_lease_that_is_given_back_is_free_at_once(api: Api, cluster: FakeCluster, clock: FakeClock) -> None:
    own = await held(api, clock)
    await own.release()
    with pytest.raises(LostError):
        own.check()
    await held(api, clock, identity="you")
    assert spec(cluster)["holderIdentity"] == "you"


async def test_what_was_never_held_is_not_given_back(api: Api, cluster: FakeCluster, clock: FakeClock) -> None:
    await lease(api, clock).release()
    assert cluster.seen == []


async def test_of_two_at_the_same_time_one_gets_it(api: Api, cluster: FakeCluster, clock: FakeClock) -> None:
    both = [lease(api, clock, identity=identity) for identity in ("me", "you")]
    tasks = [asyncio.create_task(one.acquire(pytest.fail)) for one in both]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    done, waiting = await asyncio.wait(tasks, timeout=0.3)
    for task in waiting:
        task.cancel()
    assert (len(done), len(cluster.writes(LEASE.rpartition("/")[0]))) == (1, 1)


async def test_trouble_on_the_way_to_a_lease_is_said_and_tried_again(
    api: Api, cluster: FakeCluster, clock: FakeClock
) -> None:
    async def once(_method: str, _path: str) -> int | None:
        return 500 if not cluster.seen else None

    cluster.fault = once
    words, say = said()
    await lease(api, clock).acquire(say)
    assert words == [f"the API server answers 500 to GET {LEASE}: made to fail"]


async def test_a_renewal_that_fails_does_no_harm_until_the_deadline(
    api: Api, cluster: FakeCluster, clock: FakeClock
) -> None:
    async def fail(_method: str, _path: str) -> int:
        return 503

    own = await held(api, clock)
    cluster.fault = fail
    words, say = said()
    clock.moment += 1.9
    await own.renew(say)
    clock.moment += 0.1
    with pytest.raises(LostError):
        await own.renew(say)
    assert words == [f"the API server answers 503 to PUT {LEASE}: made to fail"] * 2


async def test_a_lease_that_is_taken_is_lost_at_once(api: Api, cluster: FakeCluster, clock: FakeClock) -> None:
    own = await held(api, clock)
    cluster.put(LEASE, {**cluster.objects[LEASE], "spec": {**spec(cluster), "holderIdentity": "you"}})
    with pytest.raises(LostError, match="^the lease pair is another's now$"):
        await own.renew(pytest.fail)
    await own.release()
    assert spec(cluster)["holderIdentity"] == "you"


async def test_a_renewal_whose_answer_was_lost_is_no_loss(api: Api, cluster: FakeCluster, clock: FakeClock) -> None:
    own = await held(api, clock)
    cluster.put(LEASE, cluster.objects[LEASE])
    clock.moment += 1.9
    await own.renew(pytest.fail)
    clock.moment += 1.9
    own.check()


async def test_a_lease_that_was_deleted_is_made_again(api: Api, cluster: FakeCluster, clock: FakeClock) -> None:
    own = await held(api, clock)
    del cluster.objects[LEASE]
    await own.renew(pytest.fail)
    assert spec(cluster)["holderIdentity"] == "me"


async def test_trouble_while_looking_whose_it_is_is_said(api: Api, cluster: FakeCluster, clock: FakeClock) -> None:
    async def fail(method: str, _path: str) -> int | None:
        return 500 if method == "GET" else None

    own = await held(api, clock)
    cluster.put(LEASE, cluster.objects[LEASE])
    cluster.fault = fail
    words, say = said()
    await own.renew(say)
    assert words == [f"the API server answers 500 to GET {LEASE}: made to fail"]


async def test_it_is_renewed_again_and_again(api: Api, cluster: FakeCluster, clock: FakeClock) -> None:
    own = await held(api, clock)
    keeping = asyncio.create_task(own.keep(pytest.fail))
    await until(lambda: len(cluster.writes(LEASE)) >= 2)
    keeping.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await keeping


async def test_trouble_with_giving_it_back_is_told(api: Api, cluster: FakeCluster, clock: FakeClock) -> None:
    own = await held(api, clock)
    cluster.put(LEASE, cluster.objects[LEASE])
    with pytest.raises(FailureError, match="409"):
        await own.release()
