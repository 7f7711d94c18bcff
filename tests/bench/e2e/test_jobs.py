"""The benchmark of Jobs: its page."""

from bench.e2e.jobs import Beside, Run, render

CPU = {"API server": 2.0, "webhook": 1.0, "forwarder": 9.0}
"""CPU seconds by process; the forwarder is this benchmark's own."""


def test_the_page_has_a_row_for_each_size() -> None:
    page = render([Run(200, 20.0, 21.0, 5.0, CPU)], Beside(200, (0.1, 0.2, 0.4), (0.3, 0.5, 0.9))).splitlines()
    assert "| 200 | 20.0 s | 21.0 s | 100.0 ms | 5.0 s | 4.0 x |" in page
    assert page[page.index("| elements | API server | webhook |") + 2] == "| 200 | 10.0 ms | 5.0 ms |"


def test_small_jobs_stand_below() -> None:
    page = render([Run(200, 20.0, 21.0, 5.0, CPU)], Beside(1000, (0.1, 0.2, 0.4), (0.3, 0.5, 0.9))).splitlines()
    assert page[-2:] == [
        "| by themselves | 0.20 s | 0.40 s | 0.40 s |",
        "| beside a Job of 1,000 | 0.50 s | 0.90 s | 0.90 s |",
    ]
