"""Results as Markdown: the table, what was missed and by how much, and nothing that depends on where they were made."""

from datetime import date

import pytest

from bench.reviews.findings import Figure
from bench.reviews.goals import GOALS, scales
from bench.reviews.report import render, table

SCALES = scales(5000, 150_000)


def page(**figures: Figure) -> str:
    return render(figures, ["a fact"], SCALES, [("CPU", "fast")], date(2026, 1, 31))


@pytest.mark.parametrize(
    ("name", "figure", "row"),
    [
        pytest.param(
            "throughput",
            Figure(0.71, "0.71 x (0.69 to 0.75)"),
            "| reviews a second, 16 connections; 5,000 nodes, 10,000 pods | at least 0.65 x bare echo "
            "| 0.71 x (0.69 to 0.75) | yes |",
            id="met",
        ),
        pytest.param(
            "memory_large",
            Figure(231.0, "231 MB"),
            "| resident memory when ready; 15,000 nodes, 150,000 pods | at most 210 MB | 231 MB | **no** |",
            id="missed",
        ),
        pytest.param(
            "p99",
            Figure(1.0, "1.00 x", sound=False),
            "| 99th percentile at 500 reviews a second, open loop; 5,000 nodes, 10,000 pods | at most 2 x bare echo "
            "| 1.00 x | unknown, the machine was busy |",
            id="disturbed",
        ),
        pytest.param(
            "import", Figure(0.45, "0.45 s"), "| imports of serve | at most 0.45 s | 0.45 s | yes |", id="just met"
        ),
    ],
)
def test_a_row_of_the_table(name: str, figure: Figure, row: str) -> None:
    assert table({name: figure}, SCALES).splitlines()[2:] == [row]


def test_what_was_not_measured_has_no_row() -> None:
    assert table({}, SCALES).splitlines() == ["| what | goal | measured | met? |", "| --- | --- | --- | --- |"]


def test_rows_stand_in_the_order_of_the_goals() -> None:
    figures = {name: Figure(1.0, name) for name in reversed(GOALS)}
    assert [row.split(" | ")[2] for row in table(figures, SCALES).splitlines()[2:]] == list(GOALS)


@pytest.mark.parametrize(
    ("name", "value", "missed"),
    [
        ("throughput", 0.52, "20% short (goal: at least 0.65 x bare echo)"),
        ("memory", 175.0, "25% over (goal: at most 140 MB)"),
    ],
    ids=["too little", "too much"],
)
def test_a_missed_goal_says_by_how_much(name: str, value: float, missed: str) -> None:
    section = page(**{name: Figure(value, "so much")}).partition("## Missed\n\n")[2].partition("\n\n")[0]
    assert section.endswith(f": so much, {missed}")


def test_a_whole_page() -> None:
    assert page(**{"import": Figure(0.4, "0.40 s")}) == (
        "# Benchmark results\n\n"
        "Made by `python -m bench`. Ratios inside one run travel from machine to machine, times do not.\n"
        "Ratios are medians of interleaved rounds, with the smallest and the largest; rounds that something else on the"
        "\nmachine disturbed do not count, as long as there are others.\n\n"
        "- date: 2026-01-31\n- CPU: fast\n\n"
        "| what | goal | measured | met? |\n| --- | --- | --- | --- |\n"
        "| imports of serve | at most 0.45 s | 0.40 s | yes |\n\n"
        "## Missed\n\nNothing.\n\n"
        "## Also seen\n\n- a fact\n"
    )
