"""Files of end-to-end tests that share a control plane run in one process, in which it starts once."""

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from tests.suite.untraced import untraced_processes

CONFTEST: Final = """
import os
from pathlib import Path
import pytest
from tests.e2e.shared_fixtures import GroupScheduling, put_together, tell_groups

HERE = Path(__file__).parent

def pytest_configure(config):
    config.addinivalue_line("markers", "early: begins before others")

def pytest_collection_modifyitems(config, items):
    tell_groups(config, put_together(items, HERE))

def pytest_xdist_make_scheduler(config, log):
    return GroupScheduling(config, log)

def noted(name):
    with (HERE / "log").open("a") as log:
        log.write(f"{name} {os.getpid()}\\n")

@pytest.fixture(scope="session")
def common():
    noted("common")

@pytest.fixture(scope="package")
def other():
    noted("other")

@pytest.fixture(scope="module")
def own():
    noted("own")

@pytest.fixture(autouse=True)
def _told(request):
    noted(request.path.name)
"""

TESTS: Final = {
    "a": "def test_1(own): pass\ndef test_2(tmp_path_factory): pass\n",
    "b": "def test_1(common): pass\n",
    "c": "def test_1(own): pass\n",
    "d": "def test_1(other): pass\ndef test_2(): pass\n",
    "e": "def test_1(common): pass\ndef test_2(): pass\ndef test_3(other): pass\n",
    "f": "def test_1(tmp_path_factory): pass\n",
    "g": "import pytest\npytestmark = pytest.mark.early\ndef test_1(own): pass\n",
}
"""``e`` uses what ``b`` and ``d`` use; no other files have a lasting fixture of the folder in common."""


def ran(folder: Path, *options: str) -> list[str]:
    """What began, in this order: fixtures, and the file of each test, each with its process."""
    (folder / "conftest.py").write_text(CONFTEST)
    for name, text in TESTS.items():
        (folder / f"test_{name}.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "--quiet", *options, "--import-mode=importlib", f"--rootdir={folder}"]
    with untraced_processes():
        done = subprocess.run(  # noqa: S603 -- pytest
            [*command, "--config-file=/dev/null", str(folder)], capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stdout
    return (folder / "log").read_text().splitlines()


@pytest.mark.integration
def test_what_files_share_is_made_once_and_by_one_process(tmp_path: Path) -> None:
    lines = ran(tmp_path, "--numprocesses=2", "--dist=loadfile", "--no-loadscope-reorder")
    assert Counter(line.split()[0] for line in lines) == Counter(
        {"common": 1, "other": 1, "own": 3, "test_e.py": 3, "test_a.py": 2, "test_d.py": 2}
        | dict.fromkeys(("test_b.py", "test_c.py", "test_f.py", "test_g.py"), 1)
    )
    processes = {
        name: {line.split()[1] for line in lines if line.startswith(f"test_{name}.py")} for name in ("b", "d", "e")
    }
    assert len({process for name in "bde" for process in processes[name]}) == 1


@pytest.mark.integration
def test_the_largest_group_begins_then_early_files_and_files_that_make_nothing_end(tmp_path: Path) -> None:
    files = [name for line in ran(tmp_path) if (name := line.split()[0]).startswith("test_")]
    assert list(dict.fromkeys(files)) == [f"test_{name}.py" for name in "bdegacf"]


@pytest.mark.integration
def test_without_a_cache_all_files_run_as_well(tmp_path: Path) -> None:
    lines = ran(tmp_path, "--numprocesses=2", "--dist=loadfile", "-p", "no:cacheprovider")
    assert sum(line.startswith("test_") for line in lines) == 11
