"""Each test that tries fewer examples every day tries all of them in a nightly run, or in ``make e2e-long``."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

REPOSITORY: Final = Path(__file__).parents[2]

SHORTENED: Final = frozenset({"some_of", "EVERY_DAY"})
"""Names of ``tests/suite/example_count.py`` by which a test tries a part of its examples."""

WHOLE: Final = re.compile(r"mark\.examples|\bgiven\(|^examples\(")
"""Decorators and marks of tests that ``make nightly`` selects: its own, and those of hypothesis."""


def named(makefile: str) -> list[Path]:
    """Files and folders of tests that a recipe runs with the number of examples in ``PROPERTY_TIMES``."""
    recipes = makefile.replace("\\\n", " ").splitlines()
    words = [word for line in recipes if "PROPERTY_TIMES=" in line for word in line.split()]
    return [Path(word) for word in words if word.startswith("tests/")]


def names(node: ast.AST) -> set[str]:
    """All names that the code uses."""
    return {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}


def marks(node: ast.stmt) -> str:
    """The decorators of a test as text, one a line."""
    return "\n".join(ast.unparse(mark) for mark in getattr(node, "decorator_list", ()))


def defined(node: ast.stmt) -> Iterator[str]:
    """Names that a statement of a module defines."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        yield from (
            name.id for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        )


def never_whole(text: str) -> list[str]:
    """Tests of a module that try fewer examples every day, and that ``make nightly`` does not select."""
    body = ast.parse(text).body
    if any("pytestmark" in defined(node) and WHOLE.search(ast.unparse(node)) for node in body):
        return []
    shortened, before = set(SHORTENED), 0
    while before != len(shortened):
        before = len(shortened)
        shortened.update(name for node in body if shortened & names(node) for name in defined(node))
    tests = [node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [
        test.name
        for test in tests
        if test.name.startswith("test_") and shortened & (names(test) | _fixtures(test)) and not _is_whole(test)
    ]


def _fixtures(test: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Names of the fixtures that a test asks for."""
    return {argument.arg for argument in (*test.args.args, *test.args.kwonlyargs)}


def _is_whole(test: ast.stmt) -> bool:
    return any(WHOLE.search(mark) for mark in marks(test).splitlines())


def test_every_shortened_test_runs_whole_somewhere() -> None:
    runs = named((REPOSITORY / "Makefile").read_text())
    missing = [
        f"{file.relative_to(REPOSITORY)}: {name}"
        for file in sorted((REPOSITORY / "tests").rglob("test_*.py"))
        if not any(file.relative_to(REPOSITORY).is_relative_to(path) for path in runs)
        if any(name in (text := file.read_text()) for name in SHORTENED)
        for name in never_whole(text)
    ]
    assert not missing, "mark these tests as examples, or name their files in make nightly"


def test_the_makefile_names_files_that_exist() -> None:
    runs = named((REPOSITORY / "Makefile").read_text())
    assert runs
    assert not [path for path in runs if not (REPOSITORY / path).exists()]


@pytest.mark.parametrize(
    ("text", "missed"),
    [
        ("def test_a(): some_of(3)", ["test_a"]),
        ("COUNT = some_of(3)\nMOST = COUNT\ndef test_a(): MOST\ndef test_b(): ...", ["test_a"]),
        ("def cases(): return EVERY_DAY\n@pytest.mark.parametrize('c', cases())\ndef test_a(c): ...", ["test_a"]),
        ("@pytest.fixture\ndef world(): return some_of(3)\nasync def test_a(world): ...", ["test_a"]),
        ("@pytest.mark.examples\ndef test_a(): some_of(3)", []),
        ("@given(integers())\ndef test_a(n): some_of(3)", []),
        ("pytestmark = [pytest.mark.examples]\ndef test_a(): some_of(3)", []),
        ("pytestmark = pytest.mark.slow\ndef test_a(): some_of(3)", ["test_a"]),
    ],
    ids=["call", "constant", "parameters", "fixture", "marked", "of hypothesis", "file is marked", "other mark"],
)
def test_a_test_is_reported_if_it_never_tries_all(text: str, missed: list[str]) -> None:
    assert never_whole(text) == missed
