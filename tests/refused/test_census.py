"""Refused random cases: every kind is counted, nothing is wrong, and what is wrong is told."""

import re
from dataclasses import dataclass
from typing import Final

import pytest

from tests.refused.__main__ import KINDS, main, number_of
from tests.refused.census import Tried, census, rounds_of, table
from tests.suite.example_count import EVERY_DAY, some_of

QUICK: Final = {"Jobs": 24, "parallel regions": 13} if EVERY_DAY else {}
"""The first cases every day, where those at the beginning take seconds each."""


@pytest.mark.examples
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_wrong_with_refusals(kind: str) -> None:
    found = census(kind, KINDS[kind], number_of(kind, some_of(60, every_day=6)), first=QUICK.get(kind, 0))
    assert not found.wrong
    assert found.late == 0
    assert found.fixes
    assert found.smallest
    assert found.rounds[1] + found.rounds[2]


def test_a_pool_that_lists_its_hosts_is_enlarged_by_listing_more() -> None:
    """They are control planes, which only a list makes hosts."""
    case = KINDS["workloads"](7305857)
    assert case.refused()
    assert case.check_fixes()


@dataclass(frozen=True)
class AdvisedNumber:
    """A number that is refused unless it is 0; its advice is to take 1 off, from 10 on there is none."""

    number: int

    def refused(self) -> bool:
        """Whether there is anything to take off."""
        return self.number > 0

    def check_fixes(self) -> bool:
        """Of 5 the advice is wrong."""
        assert self.number != 5, "it does not help"
        return self.number < 10

    def check_smallest(self) -> bool:
        """It has one part."""
        return True

    def followed(self) -> list[Tried]:
        """One less."""
        return [AdvisedNumber(self.number - 1)] if self.number < 10 else []


@pytest.mark.parametrize(
    ("number", "expected"), [(0, (0, True)), (1, (1, True)), (2, (2, True)), (3, (3, False)), (10, (0, False))]
)
def test_rounds_are_counted_until_it_is_admitted_or_more_is_needed(number: int, expected: tuple[int, bool]) -> None:
    assert rounds_of(AdvisedNumber(number)) == expected


def test_what_is_wrong_is_told_with_the_number_of_the_case() -> None:
    numbers = (0, 1, 2, 10, 5, 1)
    found = census("numbers", lambda seed: AdvisedNumber(numbers[seed]), 4)
    head, row, total, *wrong = table([found]).splitlines()
    assert re.split("  +", head) == [
        "kind", "drawn", "refused", "fixes hold", "smallest sets", "admitted", "more needed", "late", "wrong",
    ]  # fmt: skip
    assert re.split("  +", row) == ["numbers", "5", "4", "2", "4", "1 in 1, 1 in 2, 1 in 3", "2", "1", "2"]
    assert total.startswith("4 refused cases in ")
    assert wrong == ["numbers 4: fixes: it does not help", "numbers 4: rounds: 3 rounds are not enough"]


def test_the_count_ends_when_its_time_is_over() -> None:
    assert census("numbers", AdvisedNumber, 4, seconds=0).drawn == 0


def test_the_command_prints_a_line_for_each_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--count", "2", "--kind", "pods", "--kind", "HostPools"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines[:3]] == ["kind", "pods", "HostPools"]
    assert lines[3].startswith("2 refused cases in ")
