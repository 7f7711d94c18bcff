"""What the benchmark of changes of leaders says."""

from signal import SIGKILL, SIGTERM

from bench.e2e.leaders import table


def test_a_row_for_each_kind_of_end_and_one_for_all() -> None:
    assert list(table({SIGKILL: [11.0, 12.5, 10.0], SIGTERM: [0.25, 0.5]})) == [
        "| the leader is | ends | median, s | least | most |",
        "|---|---|---|---|---|",
        "| killed | 3 | 11.0 | 10.0 | 12.5 |",
        "| asked to stop | 2 | 0.4 | 0.2 | 0.5 |",
        "| either | 5 | 10.0 | 0.2 | 12.5 |",
    ]
