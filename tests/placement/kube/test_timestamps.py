"""Timestamps of Kubernetes objects: how times are written, and what is read of a text."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.placement.kube.timestamps import seconds_of, time_of, timestamp


@pytest.mark.parametrize(
    "at",
    [
        pytest.param(1769990400.9, id="seconds since 1970"),
        pytest.param(datetime(2026, 2, 2, tzinfo=UTC), id="in UTC"),
        pytest.param(datetime(2026, 2, 2, 1, tzinfo=timezone(timedelta(hours=1))), id="in another zone"),
        pytest.param(datetime(2026, 2, 2, 0, 0, 0, 999_999, tzinfo=UTC), id="with a part of a second"),
    ],
)
def test_a_time_is_written_in_utc_to_the_second(at: float | datetime) -> None:
    assert timestamp(at) == "2026-02-02T00:00:00Z"


def test_a_year_is_written_with_four_digits() -> None:
    assert timestamp(datetime(26, 2, 2, tzinfo=UTC)) == "0026-02-02T00:00:00Z"


@given(st.integers(0, 4_000_000_000))
def test_what_is_written_is_read(seconds: int) -> None:
    assert seconds_of(timestamp(seconds)) == seconds


@pytest.mark.parametrize(
    "text", ["2026-02-02T00:00:00Z", "2026-02-02T01:00:00+01:00", "2026-02-02T00:00:00", "2026-02-02T00:00:00.000000Z"]
)
def test_a_timestamp_without_a_zone_is_in_utc(text: str) -> None:
    assert time_of(text) == datetime(2026, 2, 2, tzinfo=UTC)
    assert seconds_of(text) == 1769990400.0


@pytest.mark.parametrize(
    "text",
    [
        "noon", "", "2026-02-30T00:00:00Z", None, 7, ["2026-02-02T00:00:00Z"],
        "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00",
    ],
)  # fmt: skip
def test_anything_else_is_not_a_time(text: object) -> None:
    assert time_of(text) is None
    assert seconds_of(text) is None
