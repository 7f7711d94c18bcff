"""The command line of the benchmark through an API server."""

from itertools import pairwise
from pathlib import Path

import pytest

from bench.e2e.clients.variants import VARIANTS
from bench.e2e.creations.options import RESULTS, read
from bench.e2e.creations.rounds import turns, warm_ups


@pytest.mark.parametrize(
    ("argv", "results"),
    [
        pytest.param([], RESULTS, id="a whole run"),
        pytest.param(["--quick"], None, id="a quick run"),
        pytest.param(["--quick", "--results", "here.md"], Path("here.md"), id="named"),
    ],
)
def test_only_a_whole_run_replaces_the_results(argv: list[str], results: Path | None) -> None:
    assert read(argv).results == results


def test_flags_win_over_the_defaults_of_a_quick_run() -> None:
    found = read(["--quick", "--pods", "7"])
    assert (found.pods, found.rounds) == (7, 1)


@pytest.mark.parametrize(
    ("argv", "error"),
    [
        (["--nodes", "19"], "argument --nodes: 19 is not between 20 and 100000"),
        (["--rounds", "0"], "argument --rounds: 0 is not between 1 and 1000"),
        (["--clients", "1"], "argument --clients: 1 is not between 2 and 1000"),
        (["--clients", "1001"], "argument --clients: 1001 is not between 2 and 1000"),
    ],
)
def test_a_number_out_of_bounds_is_wrong_use(argv: list[str], error: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        read(argv)
    assert leaving.value.code == 2
    assert error in capsys.readouterr().err


def test_every_variant_has_one_turn_in_a_round() -> None:
    assert all({each.name for each in turns(number)} == VARIANTS.keys() for number in range(1, 11))


def test_every_variant_is_the_first_of_a_round_at_some_time() -> None:
    assert {turns(number)[0].name for number in range(1, 11)} == VARIANTS.keys()


def test_the_chart_comes_or_goes_once_in_a_round() -> None:
    there = [each.chart for number in range(1, 11) for each in turns(number)]
    assert sum(one is not other for one, other in pairwise(there)) == 10


def test_warm_ups_have_numbers_of_their_own_however_few_pods_there_are() -> None:
    assert warm_ups(read(["--pods", "3"])) == 40
