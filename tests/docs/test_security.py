"""The threat model and the table of faults name, for every line, a test that is there."""

import ast
import functools
import re
from pathlib import Path
from typing import Final

import pytest

from tests.docs.pages import ROOT, page

TESTS: Final = ROOT / "tests"
HEAD: Final = "| attack | by | met by | test |\n|---|---|---|---|\n"

ROWS: Final = [
    [cell.strip() for cell in row.strip("|").split(" | ")]
    for table in page("security.md").split(HEAD)[1:]
    for row in table.partition("\n\n")[0].splitlines()
]
FAULTS: Final = [
    [cell.strip() for cell in row.strip("|").split(" | ")]
    for table in page("reliability.md").split("| fault | what happens | measured | test |\n|---|---|---|---|\n")[1:]
    for row in table.partition("\n\n")[0].splitlines()
]
NAMED: Final = sorted({name for row in [*ROWS, *FAULTS] for name in re.findall(r"`([\w/]+\.py::\w+)`", row[-1])})


@functools.cache
def functions(path: Path) -> frozenset[str]:
    """The names of all functions of a file."""
    found = ast.walk(ast.parse(path.read_text()))
    return frozenset(one.name for one in found if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))


def test_every_attack_and_every_fault_is_tried_by_a_test() -> None:
    tried = re.compile(r"`[\w/]+\.py::test_\w+`(, `[\w/]+\.py::test_\w+`)*")
    assert [row for row in [*ROWS, *FAULTS] if len(row) != 4 or not tried.fullmatch(row[3])] == []


def test_a_test_that_is_named_is_there() -> None:
    named = [(TESTS / path, function) for path, _, function in (name.partition("::") for name in NAMED)]
    assert [path for path, _ in named if not path.is_file()] == []
    assert [(path, function) for path, function in named if function not in functions(path)] == []


def test_there_are_attacks_and_faults() -> None:
    assert (len(ROWS) > 30, len(FAULTS) > 20) == (True, True)


@pytest.mark.parametrize(("name", "rows"), [("security.md", ROWS), ("reliability.md", FAULTS)])
def test_every_row_with_a_test_stands_in_a_table(name: str, rows: list[list[str]]) -> None:
    assert len(re.findall(r"^\|.*\.py::test_", page(name), re.MULTILINE)) == len(rows)
