"""The benchmark of PlacementReviews: that it runs, and when it says that the goal is missed."""

import pytest

from bench import placementreviews
from bench.generated.topology import Scale
from bench.review_flood import FloodFigures
from bench.reviews.evaluation import Times

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


@pytest.mark.parametrize(("beside", "code", "ratio"), [(2.2, 0, "1.10"), (2.3, 1, "1.15")])
def test_the_goal_of_admission_beside_a_flood(
    beside: float, code: int, ratio: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[object] = []

    def measured(*words: object) -> FloodFigures:
        asked.append(words)
        return FloodFigures(2.0, beside, 7)

    monkeypatch.setattr(placementreviews, "measure_flood", measured)
    assert placementreviews.main(["--flood", "--nodes", "5", "--pods", "6", "--seconds", "3"]) == code
    assert asked == [(Scale(nodes=5, pods=6), 3)]
    row = capsys.readouterr().out.splitlines()[-1]
    assert row == f"| 2.00 ms | {beside:.2f} ms | {ratio}, goal at most 1.1 | 7 |"
