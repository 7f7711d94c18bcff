"""How long a review may take."""

import pytest

from webhook.server.http.limits import HEALTH, REVIEWS


@pytest.mark.parametrize(
    ("asked", "allowed"),
    [
        pytest.param(None, 9.8, id="not said"),
        pytest.param(30.0, 9.8, id="longer than we take"),
        pytest.param(3.0, 2.8, id="the API server's"),
        pytest.param(0.2, 0.1, id="very short"),
    ],
)
def test_we_give_up_before_the_caller_does(asked: float | None, allowed: float) -> None:
    assert REVIEWS.allowance(asked) == pytest.approx(allowed)


def test_idle_connections_outlive_those_of_the_api_server() -> None:
    assert REVIEWS.keep_alive_seconds > 120


def test_the_port_for_health_takes_no_body_and_few_connections() -> None:
    assert (HEALTH.body, HEALTH.connections) == (0, 100)
