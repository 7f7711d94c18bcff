"""Reports of workers: what fails in a test or its fixtures is told, and each test counts once."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.suite.untraced import untraced_processes

TESTS = """
import pytest

@pytest.fixture
def missing():
    raise ValueError("setup is wrong")

@pytest.fixture
def leaking():
    yield
    raise ValueError("teardown is wrong")

@pytest.fixture
def absent():
    pytest.skip("not here")

def test_passes(): pass

def test_without_its_fixture(missing): pass

def test_whose_fixture_ends_badly(leaking): pass

def test_fails(): assert 1 == 2

def test_is_skipped(absent): pass
"""


LEAKING = """
import socket

class Holder: pass

def test_leaks():
    one = Holder()
    one.itself, one.socket = one, socket.socket()

def test_is_the_last_one(): pass
"""


def said(folder: Path, tests: str, *options: str) -> list[str]:
    """The summary of a run with one worker: what was not in order, and how many of what there were."""
    (folder / "test_all.py").write_text(tests)
    command = [sys.executable, "-m", "pytest", "--quiet", "--numprocesses=1", "-p", "tests.conftest", "-ra", *options]
    command += [f"--rootdir={folder}", "--config-file=/dev/null", "--import-mode=importlib", str(folder)]
    with untraced_processes(), pytest.MonkeyPatch.context() as patch:
        patch.delenv("CI", raising=False)  # makes pytest print each report whole, on many lines
        patch.delenv("BUILD_NUMBER", raising=False)
        found = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 -- pytest
    assert found.returncode == 1, found.stderr
    *_, summary = found.stdout.partition("short test summary info")
    lines = [line.partition(" - ")[0].partition(" in ")[0] for line in summary.splitlines()[1:]]
    return [re.sub(r" \S*test_all\.py\S*::", " ", line) for line in lines]


@pytest.mark.integration
@pytest.mark.parametrize("options", [(), ("--durations=5",)], ids=["few reports", "all reports"])
def test_all_that_is_not_in_order_is_told(tmp_path: Path, options: tuple[str, ...]) -> None:
    *lines, counts = said(tmp_path, TESTS, *options)
    assert sorted(lines)[:3] == [
        "ERROR test_whose_fixture_ends_badly",
        "ERROR test_without_its_fixture",
        "FAILED test_fails",
    ]
    assert lines[0].endswith("not here")
    assert counts == "1 failed, 2 passed, 1 skipped, 2 errors"


@pytest.mark.integration
def test_what_the_last_tests_leave_open_is_told(tmp_path: Path) -> None:
    errors = ("-Werror::ResourceWarning", "-Werror::pytest.PytestUnraisableExceptionWarning")
    assert said(tmp_path, LEAKING, *errors) == ["ERROR test_is_the_last_one", "2 passed, 1 error"]
