"""The files of end-to-end tests that run once more are those in which a test failed."""

import json
from pathlib import Path

import pytest

from tests.e2e.failed_files import failed_files, main


def test_each_file_with_a_failure_is_named_once_and_no_file_of_other_suites(tmp_path: Path) -> None:
    failed = ("tests/e2e/live/test_a.py::test_1", "tests/e2e/chart/test_b.py::test_x[y::z]", "tests/test_c.py::test_q")
    cache = tmp_path / "lastfailed"
    cache.write_text(json.dumps(dict.fromkeys((*failed, "tests/e2e/chart/test_b.py::test_other"), True)))
    assert failed_files(cache) == ["tests/e2e/chart/test_b.py", "tests/e2e/live/test_a.py"]


def test_without_a_known_failure_nothing_runs_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (main(), capsys.readouterr().out) == (1, "\n")


def test_the_files_are_printed_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cache = tmp_path / ".pytest_cache" / "v" / "cache" / "lastfailed"
    cache.parent.mkdir(parents=True)
    cache.write_text('{"tests/e2e/test_b.py": true, "tests/e2e/test_a.py::test_one": true}')
    monkeypatch.chdir(tmp_path)
    assert (main(), capsys.readouterr().out) == (0, "tests/e2e/test_a.py tests/e2e/test_b.py\n")
