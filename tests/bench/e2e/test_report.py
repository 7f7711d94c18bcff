"""The page: goals met, missed and not known."""

from datetime import date

import pytest

from bench.e2e.clients.orders import Outcome
from bench.e2e.creations.observation import Observation
from bench.e2e.creations.options import Options
from bench.e2e.creations.report import cpu_table, goal_table, render, rounds_table, table
from bench.e2e.creations.results import Results, results
from bench.e2e.creations.rounds import Slot
from tests.bench.e2e.sample_turn import CLIENTS, a_round

FAST = Outcome(sent=5000, ok=5000, seconds=1.0)


def found(slots: list[Slot], control: Outcome = FAST) -> Results:
    return results(Observation(slots, control, 0.07), Options())


def page(slots: list[Slot]) -> str:
    return render(found(slots), Options(), [("CPU", "fast")], date(2026, 1, 31))


def section(text: str, title: str) -> list[str]:
    return text.partition(f"## {title}\n\n")[2].partition("\n\n")[0].splitlines()


def test_every_goal_has_a_row() -> None:
    assert goal_table(found(a_round())).splitlines()[2:] == [
        "| added to the median creation, 20 clients | at most 2 ms | 3.0 (3.0 to 3.0) ms | **no** |",
        (
            "| the same, 20 clients | at most 1.5 x what a bare echo adds "
            "| 1.50 x (3.0 (3.0 to 3.0) ms against 2.0 (2.0 to 2.0) ms) | yes |"
        ),
        (
            "| creations a second, 20 clients | at least 0.93 x an echo of one constant patch "
            "| 0.97 (0.97 to 0.97) x | yes |"
        ),
        "| added to the median creation, 1 client | at most 2 ms | 1.5 (1.5 to 1.5) ms | yes |",
        (
            "| the same, 1 client | at most 1.5 x what a bare echo adds "
            "| 1.50 x (1.5 (1.5 to 1.5) ms against 1.0 (1.0 to 1.0) ms) | yes |"
        ),
        (
            "| creations a second, 1 client | at least 0.93 x an echo of one constant patch "
            "| 0.97 (0.97 to 0.97) x | yes |"
        ),
        (
            "| CPU time added to a creation | at most 1.1 x what an echo of one constant patch adds "
            "| 1.07 x (0.30 ms against 0.28 ms) | yes |"
        ),
        "| reviews of a pod that nobody changes | at most 1 a pod | 1.00 | yes |",
    ]


def test_a_missed_goal_says_by_how_much() -> None:
    assert section(page(a_round()), "Missed") == [
        "- added to the median creation, 20 clients: 3.0 (3.0 to 3.0) ms, 50% over (goal: at most 2 ms)"
    ]


def test_a_page_without_a_missed_goal_says_so() -> None:
    assert section(page(a_round(ours=5.0)), "Missed") == ["Nothing."]


@pytest.mark.parametrize(
    ("slots", "control"),
    [
        pytest.param(a_round(others=0.5), FAST, id="on a busy machine"),
        pytest.param(a_round(), Outcome(ok=500, seconds=1.0), id="with slow clients"),
    ],
)
def test_no_goal_is_known_to_be_met_or_missed(slots: list[Slot], control: Outcome) -> None:
    rows = goal_table(found(slots, control)).splitlines()[2:]
    assert {row.rpartition("| ")[2] for row in rows} == {"unknown |"}


def test_what_is_not_known_is_not_missed_in_silence() -> None:
    assert section(page(a_round(others=0.5)), "Missed")[0] == (
        "- added to the median creation, 20 clients: not known: "
        "the machine was busy, or the echo or the clients tell too little"
    )


def test_a_row_for_each_variant() -> None:
    rows = table(found(a_round()).tables[CLIENTS]).splitlines()
    assert rows[2:4] == [
        "| no webhook | 250 (250 to 250) | 1.00 (1.00 to 1.00) | 4.0 (4.0 to 4.0) | 8.0 (8.0 to 8.0) | - | 0.00 |",
        (
            "| streams-placement | 143 (143 to 143) | 0.57 (0.57 to 0.57) | 7.0 (7.0 to 7.0) | 14.0 (14.0 to 14.0) "
            "| 3.0 (3.0 to 3.0) | 1.00 |"
        ),
    ]


def test_cpu_time_adds_up() -> None:
    rows = cpu_table(found(a_round()).tables[CLIENTS]).splitlines()
    assert (rows[0], rows[3]) == ("|  | API server | webhook | all |", "| streams-placement | 4.00 | 0.70 | 4.70 |")


@pytest.mark.parametrize(
    ("first", "second", "line"),
    [
        (0.0, 0.0, "- rounds: 2"),
        (0.0, 0.5, "- rounds: 2, of which 1 count: the others were disturbed by something else"),
        (0.5, 0.5, "- rounds: 2, every one disturbed by something else: the figures show that work, too"),
    ],
    ids=["all quiet", "one disturbed", "all disturbed"],
)
def test_a_page_says_how_many_rounds_count(first: float, second: float, line: str) -> None:
    slots = [*a_round(1, others=first), *a_round(2, others=second)]
    text = page(slots)
    assert line in text.splitlines()


@pytest.mark.parametrize(
    "fact",
    [
        (
            "control: the same clients get 5,000 cheap answers a second (the API server's version), "
            "10.0 times the fastest creations"
        ),
        "the clients' process took 400 µs of CPU time a creation, 9% of a core",
        "the stand-in for kube-proxy makes a review 0.07 ms longer, asked one after the other",
        "streams-placement: 20 pods sent, 20 created, 20 patched; errors: none",
        (
            "20 clients: mean time that the API server waits for a review, ms: ours.example admit 1.00, "
            "echo.example admit 1.00, same.example admit 1.00"
        ),
        (
            "CPU time added to a creation, by all processes together: streams-placement 0.30 ms, bare echo 0.20 ms, "
            "echo of one constant patch 0.28 ms"
        ),
        "programs that are not the benchmark's took up to 0% of the machine in one turn",
    ],
)
def test_also_seen(fact: str) -> None:
    assert f"- {fact}" in section(page(a_round()), "Also seen")


def test_errors_are_told_with_an_example_of_each_kind() -> None:
    slots = a_round()
    slots[0].outcome.errors["409 AlreadyExists"] = 2
    slots[0].outcome.examples["409 AlreadyExists"] = "pods x already exists"
    told = section(page(slots), "Also seen")
    assert "errors: 2 x 409 AlreadyExists: pods x already exists" in next(
        x for x in told if x.startswith("- no webhook")
    )


def test_every_round_is_kept() -> None:
    rows = rounds_table([*a_round(), *a_round(2)]).splitlines()[2:]
    assert [row.split(" | ")[:3] for row in rows] == [
        ["| 1", "20", "250/s, 4.0 ms"],
        ["| 1", "1", "500/s, 2.0 ms"],
        ["| 2", "20", "250/s, 4.0 ms"],
        ["| 2", "1", "500/s, 2.0 ms"],
    ]
