"""Every flag that a command declares is read by what the command does: parsers and commands are in files apart."""

import argparse
import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import webhook
from webhook.cli import COMMANDS, parser_of

PACKAGE: Final = Path(webhook.__file__).parent


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def file_of(module: str) -> Path | None:
    """The file of a module of the command line, None for anything else."""
    file = PACKAGE.parent.joinpath(*module.split(".")).with_suffix(".py")
    return file if module.startswith("webhook.cli.") and file.exists() else None


def imported(file: Path) -> Iterator[Path]:
    """The modules of the command line that the file imports, or takes something from."""
    for found in ast.walk(tree(file)):
        if isinstance(found, ast.ImportFrom) and found.module:
            names = [found.module, *(f"{found.module}.{one.name}" for one in found.names)]
            yield from filter(None, map(file_of, names))


def read(file: Path, *names: str) -> set[str]:
    """The attributes that the file reads of the variables of these names."""
    if not any(f"{name}." in file.read_text() for name in names):
        return set()  # most files are not parsed
    found = (one for one in ast.walk(tree(file)) if isinstance(one, ast.Attribute))
    return {one.attr for one in found if isinstance(one.value, ast.Name) and one.value.id in names}


def command_file(name: str) -> Path:
    return PACKAGE / "cli" / "commands" / f"{name.replace('-', '_')}.py"


def read_by(name: str) -> set[str]:
    """The arguments that a command reads, itself or in what it imports of the command line."""
    files, left = set[Path](), [command_file(name)]
    while left:
        if (file := left.pop()) not in files:
            files.add(file)
            left += imported(file)
    return set[str]().union(*(read(file, "arguments") for file in files))


def declared_by(name: str, *, settings: bool) -> set[str]:
    """The arguments that a command declares: those of settings (no value unless one is given), or all others."""
    actions = [one for one in parser_of(name)._actions if one.dest != "help"]  # noqa: SLF001 -- argparse has no public list
    return {one.dest for one in actions if (one.default is argparse.SUPPRESS) is settings}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_reads_what_its_parser_declares(name: str) -> None:
    assert declared_by(name, settings=False) - read_by(name) == set()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_reads_nothing_else(name: str) -> None:
    assert read(command_file(name), "arguments") - declared_by(name, settings=False) == set()


def test_every_setting_that_has_a_flag_is_read() -> None:
    """By whatever part of the product it is for."""
    known = set[str]().union(*(read(file, "settings", "chosen") for file in PACKAGE.rglob("*.py")))
    assert set[str]().union(*(declared_by(name, settings=True) for name in COMMANDS)) - known == set()
