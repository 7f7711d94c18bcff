"""``hpa-api`` and the clusters that it answers ``hpa-placement`` from."""

from pathlib import Path

import pytest

from webhook.cli import main


def test_clusters_are_folders_or_contexts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["hpa-api", "--store", str(tmp_path / "s"), "--clusters", str(tmp_path), "--contexts", "a"])
    said = "--clusters and --contexts are both given: clusters are read from one of them"
    assert (code, capsys.readouterr().err) == (2, f"streams-placement: {said}\n")


@pytest.mark.usefixtures("own_logs")
def test_there_must_be_clusters_when_it_starts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["hpa-api", "--store", str(tmp_path / "s"), "--clusters", str(tmp_path)])
    assert code == 3
    assert f"the folder {tmp_path} has no folders" in capsys.readouterr().err
