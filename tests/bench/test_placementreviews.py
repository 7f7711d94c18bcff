"""The benchmark of PlacementReviews: that it runs, and when it says that the goal is missed."""

import pytest

from bench import placementreviews
from bench.evaluation import Times

SMALL = ["--nodes", "100", "--pods", "1000", "--rounds", "1"]


def test_answers_are_measured_for_both_users(capsys: pytest.CaptureFixture[str]) -> None:
    assert placementreviews.main(SMALL) in {0, 1}
    head, _, *rows = capsys.readouterr().out.splitlines()
    assert head == "| the user may list | answer |"
    assert [row.split(" | ")[0] for row in rows] == ["| nodes and pods", "| nothing"]
    assert all("p99" in row for row in rows)


@pytest.mark.parametrize(("p99", "code"), [(49_000.0, 0), (51_000.0, 1)])
def test_the_goal_is_for_the_slowest(p99: float, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placementreviews, "measure", lambda *_: {"a": Times(1.0, 2.0), "b": Times(1.0, p99)})
    assert placementreviews.main([]) == code
