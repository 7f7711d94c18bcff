"""The page of what the chart costs others."""

from bench.e2e.bystanders.page import cost_table, render, table, turns_table
from bench.e2e.bystanders.pairs import Pairs

LEASES = Pairs(rates=[(90.0, 100.0)], durations=[(1.25, 1.0)], cpu=(2.5, 2.0))
TURNS = {"without": {"Leases": [LEASES, LEASES]}, "chart": {"Leases": [LEASES]}}


def test_the_table_has_a_row_for_each_state() -> None:
    shares = "0.90 (0.90 to 0.90) | 0.80 (0.80 to 0.80) | 0.80 | 100/s / 1.00 ms / 2.00 ms |"
    assert list(table(TURNS))[2:] == [f"| Leases | without, in both | {shares}", f"| Leases | chart | {shares}"]


def test_what_conditions_cost_is_by_entry_and_kind_of_request() -> None:
    costs = {"pods": {"guard": 10.4, "created": 20.0}, "Leases": {}, "nodes": {"nodes": 30.0}}
    assert list(cost_table(costs))[2:] == [
        "| guard | 10 | - | - |",
        "| created | 20 | - | - |",
        "| nodes | - | - | 30 |",
        "| **all** | **30** | **0** | **30** |",
    ]


def test_the_page_says_how_much_was_measured() -> None:
    page = render(TURNS, {"Leases": {}}, blocks=7, singles=3).splitlines()
    assert "- size: 50 nodes; each turn 7 pairs of blocks and 3 pairs of single requests" in page


def test_every_turn_is_kept() -> None:
    turn = "90/s, without 100/s | 1.25 ms, without 1.00 ms | 0.90 (0.90 to 0.90) |"
    assert list(turns_table(TURNS))[2:] == [
        f"| Leases | without, in both | 1 | {turn}",
        f"| Leases | without, in both | 2 | {turn}",
        f"| Leases | chart | 1 | {turn}",
    ]
