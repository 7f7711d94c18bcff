"""Pauses after failures grow, differ, and end somewhere."""

import pytest

from kubeapi.client.errors import ApiError, Cause
from webhook.cluster.watch.backoff import Pace, RelistBackoff, between

MANY = 200
PACE = Pace()


def pauses(cause: Cause, failures: int, *, wait: float = 0.0) -> list[float]:
    """The pause after so many failures in a row, many times."""
    found = []
    for _ in range(MANY):
        backoff = RelistBackoff(PACE)
        found.append([backoff.pause(ApiError(cause, "", wait=wait)) for _ in range(failures)][-1])
    return found


@pytest.mark.parametrize(
    ("failures", "highest"),
    [pytest.param(1, 1.0, id="first"), pytest.param(2, 2.0, id="second"), pytest.param(4, 8.0, id="fourth"),
     pytest.param(7, 30.0, id="seventh"), pytest.param(20, 30.0, id="twentieth")],
)  # fmt: skip
def test_the_range_of_pauses_doubles_up_to_thirty_seconds(failures: int, highest: float) -> None:
    found = pauses(Cause.GONE, failures)
    assert min(found) >= 0.5
    assert highest * 0.8 < max(found) <= highest


def test_a_pause_stays_in_its_range_for_ever() -> None:
    backoff = RelistBackoff(PACE)
    assert max(backoff.pause(ApiError(Cause.GONE, "")) for _ in range(2000)) <= 30.0


def test_pauses_take_their_whole_range() -> None:
    assert min(pauses(Cause.GONE, 7)) < 30 / 8


@pytest.mark.parametrize("cause", [Cause.UNREACHABLE, Cause.BROKEN])
def test_an_api_server_that_is_away_is_asked_again_within_five_seconds(cause: Cause) -> None:
    assert 4.0 < max(pauses(cause, 50)) <= 5.0


def test_another_cause_begins_again() -> None:
    backoff = RelistBackoff(PACE)
    for _ in range(10):
        backoff.pause(ApiError(Cause.UNREACHABLE, ""))
    assert (backoff.pause(ApiError(Cause.FORBIDDEN, "")) <= 1.0, backoff.streak) == (True, 1)


def test_success_begins_again() -> None:
    backoff = RelistBackoff(PACE)
    for _ in range(10):
        backoff.pause(ApiError(Cause.GONE, ""))
    backoff.reset()
    assert backoff.pause(ApiError(Cause.GONE, "")) <= 1.0


@pytest.mark.parametrize(("asked", "least"), [(7.0, 7.0), (3600.0, 30.0)], ids=["as asked", "within bounds"])
def test_what_the_api_server_asks_for_counts(asked: float, least: float) -> None:
    assert min(pauses(Cause.BUSY, 1, wait=asked)) == least


def test_about_is_a_tenth_more_or_less() -> None:
    found = [RelistBackoff(PACE).about(10.0) for _ in range(MANY)]
    assert (9.0 <= min(found) < 9.5, 10.5 < max(found) <= 11.0) == (True, True)


def test_between_is_in_between() -> None:
    assert all(40.0 <= between(*PACE.watch) <= 50.0 for _ in range(MANY))


def test_a_dead_connection_is_noticed_within_a_minute_and_later_than_any_watch_ends() -> None:
    assert PACE.watch[1] < PACE.silence < 60.0
