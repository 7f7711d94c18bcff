"""Of a test its function and its fixtures are traced, with the ends of these; what has a marker against it is not."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.suite.untraced import untraced_processes

PLUGIN = """
import sys
from tests.suite.traced_calls import TracedCalls

TRACED = []

def trace(frame, event, _of):
    if frame.f_code.co_filename.endswith("test_all.py"):
        TRACED.append(frame.f_code.co_name)

def pytest_configure(config):
    config.pluginmanager.register(TracedCalls(trace))
    config.addinivalue_line("markers", "examples: not traced")
    config.addinivalue_line("markers", "untraced: not traced")

def pytest_runtest_logfinish(nodeid):
    print(f"\\n=", nodeid.rpartition("::")[2], *TRACED, sys.gettrace())
    TRACED.clear()
"""
"""Prints each test with the functions that were traced, and what traces afterwards."""

TESTS = """
import pytest

def of_the_end(): pass

def of_a_fixture(): pass

def of_a_test(): pass

@pytest.fixture(scope="module")
def shared():
    of_a_fixture()
    yield
    of_the_end()

@pytest.fixture(params=[1, 2])
def one(shared, request):
    of_a_fixture()
    request.addfinalizer(of_the_end)

@pytest.fixture
def broken():
    of_a_fixture()
    raise ValueError

@pytest.fixture
def late(request):
    return request.getfixturevalue("shared")

def test_with_fixtures(one): of_a_test()

def test_that_asks_late(request):
    request.getfixturevalue("late")
    of_a_test()

def test_without_its_fixture(broken): of_a_test()

@pytest.mark.examples
def test_of_examples(late): of_a_test()

@pytest.mark.untraced
def test_that_is_dear(): of_a_test()

def test_that_fails(tmp_path, monkeypatch):
    of_a_test()
    raise ValueError
"""


@pytest.mark.integration
def test_calls_of_a_test_and_of_its_fixtures_are_traced(tmp_path: Path) -> None:
    (tmp_path / "test_all.py").write_text(TESTS)
    (tmp_path / "traces.py").write_text(PLUGIN)
    command = [sys.executable, "-m", "pytest", "-qs", "-p", "traces", "-p", "no:asyncio", "-p", "no:cacheprovider"]
    command += [f"--rootdir={tmp_path}", "--config-file=/dev/null", str(tmp_path)]
    with untraced_processes(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{tmp_path}:{Path(__file__).parents[2]}")
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 -- pytest
    assert (done.returncode, done.stderr) == (1, "")
    traced = [line.removeprefix("= ").split() for line in done.stdout.splitlines() if line.startswith("= ")]
    with_fixture = ["one", "of_a_fixture", "test_with_fixtures", "of_a_test", "of_the_end", "None"]
    assert traced == [
        ["test_with_fixtures[1]", "shared", "of_a_fixture", *with_fixture],
        ["test_with_fixtures[2]", *with_fixture],
        ["test_that_asks_late", "test_that_asks_late", "late", "of_a_test", "None"],
        ["test_without_its_fixture", "broken", "of_a_fixture", "None"],
        ["test_of_examples", "late", "None"],
        ["test_that_is_dear", "None"],
        ["test_that_fails", "test_that_fails", "of_a_test", "shared", "of_the_end", "None"],
    ]
