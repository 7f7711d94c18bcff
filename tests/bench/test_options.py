"""The command line of the benchmark: where results go, and what is not a number of nodes."""

from pathlib import Path

import pytest

from bench.reviews.options import RESULTS, Options, read


@pytest.mark.parametrize(
    ("argv", "results"),
    [
        pytest.param([], RESULTS, id="a whole run"),
        pytest.param(["--quick"], None, id="a quick run"),
        pytest.param(["--only", "memory"], None, id="a part"),
        pytest.param(["--quick", "--results", "here.md"], Path("here.md"), id="named"),
    ],
)
def test_only_a_whole_run_replaces_the_results(argv: list[str], results: Path | None) -> None:
    assert read(argv).results == results


def test_flags_win_over_the_defaults_of_a_quick_run() -> None:
    found = read(["--quick", "--nodes", "700"])
    assert (found.nodes, found.pods) == (700, 5000)


@pytest.mark.parametrize("text", ["99", "1000001", "many"])
def test_a_number_of_nodes_that_is_none_is_wrong_use(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        read(["--nodes", text])
    assert leaving.value.code == 2
    assert "argument --nodes: " in capsys.readouterr().err


@pytest.mark.parametrize(("only", "wanted"), [("", True), ("memory", True), ("latency", False)])
def test_a_part_is_wanted_if_it_is_named_or_none_is(only: str, wanted: bool) -> None:  # noqa: FBT001 - a column of the table
    assert Options(only=only).wants("memory") is wanted
