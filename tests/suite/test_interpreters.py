"""Which Pythons ``make versions`` runs the unit tests with."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tests.suite import interpreters


@pytest.fixture
def machine(tmp_path: Path) -> dict[str, str]:
    """A machine with a command that is no Python, and with some of pyenv."""
    commands = tmp_path / "bin"
    for name in ("python3.12", "python3.14"):
        file = commands / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("#!/bin/sh\necho 'pyenv: command not found' >&2\nexit 127\n")
        file.chmod(0o755)
    for version in ("3.12.1", "3.12.0", "3.13.0", "3.10.2"):
        file = tmp_path / "pyenv" / "versions" / version / "bin" / f"python{version.rpartition('.')[0]}"
        file.parent.mkdir(parents=True)
        file.write_text(f"#!/bin/sh\necho {version.split('.')[1]}\n")
        file.chmod(0o755)
    return {"PATH": str(commands), "PYENV_ROOT": str(tmp_path / "pyenv")}


def test_one_of_each_version_is_found_that_runs(machine: dict[str, str]) -> None:
    names = [path.relative_to(machine["PYENV_ROOT"]).parts[1] for path in interpreters.found(machine)]
    assert names == [name for name in ("3.12.1", "3.13.0") if not name.startswith(f"3.{sys.version_info.minor}.")]


def test_a_command_on_the_path_comes_first(machine: dict[str, str]) -> None:
    minor = next(each for each in (12, 13) if each != sys.version_info.minor)
    Path(machine["PATH"], f"python3.{minor}").write_text(f"#!/bin/sh\necho {minor}\n")
    Path(machine["PATH"], f"python3.{minor}").chmod(0o755)
    assert Path(machine["PATH"], f"python3.{minor}") in interpreters.found(machine)


def test_without_pyenv_and_a_path_there_is_none(tmp_path: Path) -> None:
    assert list(interpreters.found({"PYENV_ROOT": str(tmp_path)})) == []


def test_the_versions_are_those_that_the_project_states() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == f">=3.{interpreters.SUPPORTED[0]}"
    page = (ROOT / "docs" / "command-line.md").read_text()
    stated = re.search(r"provides Python, 3\.(\d+) to 3\.(\d+)", page)
    assert stated is not None
    assert (int(stated[1]), int(stated[2])) == (interpreters.SUPPORTED[0], interpreters.SUPPORTED[-1])
