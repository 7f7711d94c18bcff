"""From turns to figures."""

import pytest

from bench.e2e.clients.orders import Outcome
from bench.e2e.creations import figures
from tests.bench.e2e.sample_turn import CLIENTS, a_round


def test_what_is_added_is_the_difference_to_the_same_round_without_a_webhook() -> None:
    slots = [*a_round(1), *a_round(2, none=10.0, ours=18.0)]
    added = figures.rows(slots, CLIENTS)["ours"].added
    assert (added.low, added.median, added.high) == pytest.approx((3.0, 5.5, 8.0))


def test_the_share_is_that_of_the_rate_without_a_webhook() -> None:
    assert figures.rows(a_round(), CLIENTS)["ours"].share.median == pytest.approx(4 / 7)


def test_one_client_has_figures_of_its_own() -> None:
    assert figures.rows(a_round(), 1)["ours"].p50.median == pytest.approx(3.5)


def test_the_99th_percentile_sees_the_slowest_of_ten() -> None:
    assert figures.rows(a_round(), CLIENTS)["none"].p99.median == pytest.approx(8.0)


@pytest.mark.parametrize(("variant", "reviews"), [("none", 0), ("ours", 1), ("echo", 1), ("same", 1), ("rule", 0)])
def test_reviews_are_counted_by_pod(variant: str, reviews: int) -> None:
    assert figures.rows(a_round(), CLIENTS)[variant].reviews == reviews


def test_cpu_time_is_by_pod_and_role_in_milliseconds() -> None:
    assert figures.rows(a_round(), CLIENTS)["ours"].cpu == pytest.approx({"API server": 4.0, "webhook": 0.7})


def test_a_round_that_others_disturbed_does_not_count() -> None:
    slots = [*a_round(1, others=0.3), *a_round(2, others=0.05)]
    assert {slot.round for slot in figures.quiet(slots)} == {2}


def test_what_the_webhook_adds_is_a_figure() -> None:
    figure = figures.added(a_round(), CLIENTS, sound=True)
    assert (figure.text, figure.sound) == ("3.0 (3.0 to 3.0) ms", True)


def test_it_is_compared_with_what_an_echo_adds() -> None:
    figure = figures.against(a_round(), CLIENTS, sound=True)
    assert figure.value == pytest.approx(1.5)
    assert figure.text == "1.50 x (3.0 (3.0 to 3.0) ms against 2.0 (2.0 to 2.0) ms)"


def test_against_an_echo_that_adds_nothing_there_is_no_ratio() -> None:
    figure = figures.against(a_round(echo=3.9), CLIENTS, sound=True)
    assert (figure.text, figure.sound) == ("3.0 (3.0 to 3.0) ms against nothing that could be measured", False)


def test_creations_are_compared_with_those_of_a_constant_patch() -> None:
    figure = figures.rate_against([*a_round(1), *a_round(2, ours=8.5)], CLIENTS, sound=True)
    assert figure.value == pytest.approx((6.8 / 7 + 0.8) / 2)
    assert figure.text == "0.89 (0.80 to 0.97) x"


def test_so_is_the_cpu_time_that_is_added() -> None:
    figure = figures.cpu_against(a_round(), CLIENTS, sound=True)
    assert (round(figure.value, 3), figure.text) == (1.071, "1.07 x (0.30 ms against 0.28 ms)")


def test_where_a_patch_takes_no_cpu_time_there_is_no_ratio() -> None:
    figure = figures.cpu_against(a_round(same=4.0), CLIENTS, sound=True)
    assert (figure.text, figure.sound) == ("0.30 ms against nothing that could be measured", False)


def test_reviews_are_a_figure() -> None:
    assert figures.reviews(a_round(), CLIENTS, sound=True).text == "1.00"


def test_calls_of_all_rounds_have_one_mean() -> None:
    found = figures.seconds_by_call([*a_round(1), *a_round(2)], CLIENTS)
    assert found["ours.example admit"] == pytest.approx(0.001)


def test_headroom_is_over_the_fastest_creations() -> None:
    assert figures.headroom(Outcome(ok=1000, seconds=1.0), a_round()) == pytest.approx(2.0)
