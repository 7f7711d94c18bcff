"""Functions and folders that a reader takes in at once."""

import ast
from collections import Counter
from collections.abc import Iterator
from typing import Final

import pytest

from tests.docs.pages import ROOT
from tests.test_names import PACKAGES

LINES = 40
"""Lines of a function at most, with its signature and docstring."""

MODULES: Final = {**dict.fromkeys(PACKAGES, 19), "tests": 20}
"""Modules of a folder at most, ``__init__`` and ``conftest`` among them. Some 15 are enough for most folders.

The figures are those of the largest folders: ``webhook/app``, and four of the tests. A folder that outgrows its figure
gets subfolders; the figure stays.
"""

BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")
"""Fields of a statement with others in it."""


def statements(tree: ast.Module) -> Iterator[ast.AST]:
    """All statements in it: expressions, which are most of a tree, have no function but ``lambda``."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        yield node
        for field in BLOCKS:
            left += getattr(node, field, ())


@pytest.mark.untraced
def test_no_function_is_long() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {node.name}": node.end_lineno - node.lineno + 1
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        for node in statements(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno
    }
    assert {name: lines for name, lines in found.items() if lines > LINES} == {}


@pytest.mark.parametrize("package", MODULES)
def test_no_folder_has_many_modules(package: str) -> None:
    counts = Counter(path.parent for path in (ROOT / package).rglob("*.py"))
    assert max(counts.values()) > 10
    assert {str(folder.relative_to(ROOT)): count for folder, count in counts.items() if count > MODULES[package]} == {}
