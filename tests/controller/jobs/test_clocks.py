"""What lasts a while in the memory of a leader lasts as long, whatever the wall clock says meanwhile."""

from typing import Final

import pytest
from msgspec import Raw

from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.controller.jobs.reservations import SECONDS, Reservations
from webhook.controller.jobs.submission_times import SubmissionTimes
from webhook.controller.jobstore.records import StoredJob, read_job
from webhook.controller.jobstore.store import JobStore
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.objects.pool import Pool

YEAR: Final = 365 * 86_400.0
JOB: Final = ("default", "app")
OTHER: Final = ("default", "web")


class Clocks:
    """A clock of durations, and a wall clock that somebody sets."""

    def __init__(self) -> None:
        self.passed = 1000.0
        self.offset = 1_767_225_600.0

    def __call__(self) -> float:
        return self.passed

    def now(self) -> float:
        return self.passed + self.offset


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.fixture
def times(clocks: Clocks) -> SubmissionTimes:
    return SubmissionTimes(clocks, clocks.now)


def job(uid: str = "u-1") -> StoredJob:
    metadata = (
        b'"metadata": {"name": "app", "namespace": "default", "uid": "%s", "resourceVersion": "1"}' % uid.encode()
    )
    return read_job(Raw(b"{%s}" % metadata))


@pytest.mark.parametrize("jump", [-YEAR, -1.0, 0.0, 1.0, YEAR])
def test_a_submission_takes_as_long_as_it_may(times: SubmissionTimes, clocks: Clocks, jump: float) -> None:
    since = clocks.now() - 5
    assert times.left(job(), since, 20) == 15
    clocks.offset += jump
    clocks.passed += 10
    assert times.left(job(), since, 20) == 5
    assert times.left(job(), since, 300) == 285


def test_a_submission_that_began_in_the_future_begins_when_it_is_seen(times: SubmissionTimes, clocks: Clocks) -> None:
    since = clocks.now() + YEAR
    assert times.left(job(), since, 20) == 20
    clocks.passed += 19
    assert times.left(job(), since, 20) == 1


def test_one_of_unknown_beginning_does_so_too(times: SubmissionTimes, clocks: Clocks) -> None:
    assert times.left(job(), None, 20) == 20
    clocks.passed += 30
    assert times.left(job(), None, 20) == -10


def test_a_second_submission_and_another_job_of_the_name_are_counted_anew(
    times: SubmissionTimes, clocks: Clocks
) -> None:
    since = clocks.now()
    times.left(job(), since, 20)
    clocks.passed += 10
    assert times.left(job(), clocks.now(), 20) == 20
    assert times.left(job("u-2"), clocks.now(), 20) == 20
    clocks.passed += 10
    assert times.left(job("u-2"), clocks.now() - 10, 20) == 10


def test_a_job_that_is_gone_is_forgotten(times: SubmissionTimes, clocks: Clocks) -> None:
    since = clocks.now() + YEAR
    times.left(job(), since, 20)
    clocks.passed += 10
    times.forget(JOB)
    times.forget(OTHER)
    assert times.left(job(), since, 20) == 20


@pytest.mark.parametrize("jump", [-YEAR, 0.0, YEAR])
def test_room_is_kept_for_a_minute(clocks: Clocks, jump: float) -> None:
    kept = Reservations(ObservedInventory(Inventory()), JobStore(), (clocks, clocks.now))
    pool = Pool("default", "p", "P")
    kept.hold(JOB, [], [pool], clocks.now())
    clocks.offset += jump
    clocks.passed += SECONDS - 1
    kept.expire()
    assert [*kept.pools_but(OTHER)] == [pool]
    clocks.passed += 1
    kept.expire()
    assert [*kept.pools_but(OTHER)] == []


@pytest.mark.parametrize(
    ("ago", "lasts"), [(YEAR, False), (61, False), (60, False), (59, True), (0, True), (-60, True), (-61, False)]
)
def test_another_leader_keeps_what_was_promised_within_a_minute(clocks: Clocks, ago: float, lasts: object) -> None:
    kept = Reservations(ObservedInventory(Inventory()), JobStore(), (clocks, clocks.now))
    assert kept.lasts(clocks.now() - ago) is lasts


def test_what_another_leader_promised_before_lasts_for_the_rest_of_the_minute(clocks: Clocks) -> None:
    kept = Reservations(ObservedInventory(Inventory()), JobStore(), (clocks, clocks.now))
    kept.hold(JOB, [], [Pool("default", "p", "P")], clocks.now() - 50)
    clocks.passed += 10
    kept.expire()
    assert [*kept.pools_but(OTHER)] == []
