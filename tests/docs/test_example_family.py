"""The constraint family that ``docs/architecture.md`` adds really is a file, its line in the list, and a word."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.commands import SECONDS, commands, pattern
from tests.docs.pages import ROOT, Block, blocks

pytestmark = pytest.mark.integration

PAGE = (ROOT / "docs" / "architecture.md",)


def python(folder: Path, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run a Python program on the copy of the code; what it does there is not the coverage of the original."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("STREAMS_", "COV", "FORCE"))}
    return subprocess.run(  # noqa: S603 - our own programs, no shell
        (sys.executable, *arguments),
        cwd=folder,
        env=inherited | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        input=text,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def edited(code: str, diff: list[str]) -> str:
    """The code with the added lines put behind the lines that stand before them in the difference."""
    anchor = ""
    for line in diff:
        if line.startswith("+"):
            assert code.count(f"{anchor}\n") == 1, anchor
            code = code.replace(f"{anchor}\n", f"{anchor}\n{line[1:]}\n")
        anchor = line[1:]
    return code


def differences() -> Iterator[tuple[str, list[str]]]:
    """Each file that the page changes, and how."""
    for block in blocks("diff", PAGE):
        first, *diff = block.text.splitlines()
        yield first.removeprefix("--- "), diff


def source() -> Block:
    """The new file."""
    (found,) = blocks("python", PAGE)
    return found


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("family")
    shutil.copytree(ROOT / "webhook", folder / "webhook", ignore=shutil.ignore_patterns("__pycache__"))
    first, code = source().text.split("\n", 1)
    (folder / first.removeprefix("# ")).write_text(code)
    for name, diff in differences():
        file = folder / name
        file.write_text(edited(file.read_text(), diff))
    return folder


def test_the_family_changes_two_files_by_three_lines() -> None:
    added = {name: sum(line.startswith("+") for line in diff) for name, diff in differences()}
    assert added == {"webhook/placement/constraints/families.py": 2, "webhook/placement/spl/clauses.py": 1}


def test_a_pod_is_refused_as_the_page_shows(copy: Path) -> None:
    (shown,) = (block for block in blocks("text", PAGE) if block.text.startswith("$ "))
    (command,) = commands(shown)
    pod = (ROOT / "examples" / "pool-tagged.yaml").read_text().replace("host(MyPool)", 'host(MyPool), zone("wdc04")')
    snapshot = ROOT / "examples" / "cluster"
    done = python(copy, "-m", "webhook", "explain", "-f", "/dev/stdin", "--snapshot", str(snapshot), text=pod)
    assert done.stderr == ""
    assert pattern(command.shown).fullmatch(done.stdout), done.stdout


def test_a_pod_is_given_the_zone(copy: Path) -> None:
    pod = (ROOT / "examples" / "pool-tagged.yaml").read_text().replace("host(MyPool)", 'zone("dal10")')
    snapshot = ROOT / "examples" / "cluster"
    done = python(copy, "-m", "webhook", "explain", "-f", "/dev/stdin", "--snapshot", str(snapshot), text=pod)
    added = [line.strip() for line in done.stdout.splitlines() if line.startswith("  +")]
    assert added[-4:] == [
        "+          - key: topology.kubernetes.io/zone",
        "+            operator: In",
        "+            values:",
        "+            - dal10",
    ]


def test_the_code_passes_the_type_checker(copy: Path) -> None:
    files = ("webhook/placement/constraints/zone.py", "webhook/placement/constraints/families.py")
    done = python(copy, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), *files)
    assert done.stdout == "Success: no issues found in 2 source files\n"


def test_the_code_passes_the_linter(copy: Path) -> None:
    file = copy / "webhook" / "placement" / "constraints" / "zone.py"
    configuration = ("--config", str(ROOT / "pyproject.toml"), "--no-cache")
    done = python(copy, "-m", "ruff", "check", *configuration, str(file))
    assert done.stdout == "All checks passed!\n"
