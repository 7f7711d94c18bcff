"""CPU time as the kernel counts it."""

import os

import pytest

from bench.e2e.usage import Usage, between, now


def test_a_process_that_has_ended_counts_nothing() -> None:
    assert now({"gone": [2**22 + 1]}).roles == {"gone": 0}  # beyond the largest process id of Linux


def test_this_process_has_used_some() -> None:
    assert now({"me": [os.getpid()]}).roles["me"] > 0


def test_between_two_moments_everything_is_a_difference() -> None:
    assert between(Usage({"a": 1.0}, 10.0, 100.0), Usage({"a": 1.5}, 12.0, 104.0)) == Usage({"a": 0.5}, 2.0, 4.0)


def test_others_are_what_the_machine_did_besides() -> None:
    cores = os.cpu_count() or 1
    assert Usage({"a": 1.0}, 1.0 + cores, 4.0).others == pytest.approx(0.25)


@pytest.mark.parametrize(
    "seen", [Usage({"a": 1.0}, 0.5, 4.0), Usage({}, 0.0, 0.0)], ids=["ticks that were rounded", "no time at all"]
)
def test_others_never_take_less_than_nothing(seen: Usage) -> None:
    assert seen.others == 0
