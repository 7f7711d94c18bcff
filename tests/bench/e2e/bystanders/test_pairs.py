"""Shares of one plane in another, from pairs of measurements."""

import random

import pytest

from bench.e2e.bystanders.pairs import Pairs, Share, combined, cpu_share, duration_share, median_share, rate_share


def test_a_share_is_the_median_of_pairs() -> None:
    turn = Pairs(rates=[(90.0, 100.0), (45.0, 50.0), (10.0, 100.0)], durations=[(5.0, 4.0)], cpu=(2.0, 1.0))
    assert rate_share([turn]).middle == pytest.approx(0.9)  # a slow moment of one block moves nothing
    assert duration_share([turn]) == Share(0.8, 0.8, 0.8)
    assert cpu_share([turn]) == pytest.approx(0.5)


def test_planes_that_differ_for_another_reason_change_nothing_once_they_have_changed_their_parts() -> None:
    faster = Pairs(rates=[(180.0, 100.0)], durations=[(2.0, 3.6)], cpu=(1.0, 1.8))
    slower = Pairs(rates=[(45.0, 100.0)], durations=[(4.0, 1.8)], cpu=(4.0, 1.8))
    assert rate_share([faster, slower]).middle == pytest.approx(0.9)
    assert duration_share([faster, slower]).middle == pytest.approx(0.9)
    assert cpu_share([faster, slower]) == pytest.approx(0.9)


def test_a_single_pair_is_its_own_interval_and_many_narrow_it() -> None:
    assert median_share([0.5]) == Share(0.5, 0.5, 0.5)
    assert median_share([number / 100 for number in range(1, 101)]) == Share(0.505, 0.41, 0.60)


def test_the_interval_has_the_true_median_about_19_times_in_20() -> None:
    chance = random.Random(7)  # noqa: S311 -- no secret
    samples = ([chance.lognormvariate(0, 0.4) for _ in range(40)] for _ in range(1000))
    hits = sum(share.low <= 1 <= share.high for share in map(median_share, samples))
    assert 930 <= hits <= 985


def test_a_share_is_printed_with_its_interval() -> None:
    assert str(combined([Share(0.8, 0.7, 0.9), Share(0.8, 0.7, 0.9)])) == "0.80 (0.70 to 0.90)"
