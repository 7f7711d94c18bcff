"""Paths and time-outs out of request lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.server.http import request_target
from webhook.server.http.request_target import RequestTarget


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10s", 10.0),
        ("1m", 60.0),
        ("500ms", 0.5),
        ("1m30s", 90.0),
        ("1h2m3.5s", 3723.5),
        (".5s", 0.5),
        ("2.s", 2.0),
        ("250us", 0.00025),
        ("250\u00b5s", 0.00025),
        ("250\u03bcs", 0.00025),
        ("1000ns", 1e-06),
    ],
)
def test_gos_durations_are_seconds(text: str, seconds: float) -> None:
    assert request_target.seconds(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text", ["", "10", "s", "-1s", "+1s", "0s", "1 s", "1s ", "1d", "ten", "1e3s", "\u0661s", ".s", "1s" * 33]
)
def test_everything_else_is_not_a_duration(text: str) -> None:
    assert request_target.seconds(text) is None


@given(st.text(max_size=80))
def test_no_text_makes_a_duration_raise(text: str) -> None:
    request_target.seconds(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("/mutate?timeout=10s", RequestTarget("/mutate", 10.0), id="the API server's"),
        pytest.param("/mutate", RequestTarget("/mutate"), id="no query"),
        pytest.param("/mutate?", RequestTarget("/mutate"), id="empty query"),
        pytest.param("/mutate?a=b&timeout=1m", RequestTarget("/mutate", 60.0), id="second parameter"),
        pytest.param("/mutate?timeout=1s&timeout=2s", RequestTarget("/mutate", 1.0), id="the first one counts"),
        pytest.param("/mutate?timeout=1%6Ds", RequestTarget("/mutate", 0.001), id="percent-encoded"),
        pytest.param("/mutate?timeout=soon", RequestTarget("/mutate"), id="unreadable"),
        pytest.param("/mutate?timeouts=1s", RequestTarget("/mutate"), id="another name"),
        pytest.param("//mutate", RequestTarget("//mutate"), id="the path as it is"),
    ],
)
def test_a_request_line_names_a_path_and_maybe_a_timeout(text: str, expected: RequestTarget) -> None:
    assert request_target.parse(text) == expected
