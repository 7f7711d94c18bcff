"""The benchmark of Jobs: its page."""

from bench.e2e.jobs import Run, render


def test_the_page_has_a_row_for_each_size() -> None:
    assert render([Run(200, 20.0, 21.0, 2.0, 5.0)]).splitlines()[-1] == (
        "| 200 | 20.0 s | 21.0 s | 100.0 ms | 10.0 ms | 5.0 s | 4.0 x |"
    )
