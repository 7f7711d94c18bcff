"""Expected results of ``examples/convert``, computed by the product; ``python -m tests.golden`` writes them.

Beside ``examples/convert/NAME`` stands ``NAME.expected.yaml`` with the manifests, or ``NAME.expected.txt`` with what is
said where there are none.
"""

import contextlib
import functools
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.golden.examples import EXAMPLES
from webhook.cli import main

INPUTS: Final = EXAMPLES / "convert"

ONTO: Final = {
    "onto/pods.yaml": ("isolation.spl",),
    "onto/deployment.yaml": ("mapping.yaml",),
    "onto/statefulset.yaml": ("fwall.txt", "--partial"),
}
"""Manifests that annotations are put on, with the other words of the command."""

FOLDERS: Final = ("toolkit",)
"""Folders of programs that are converted together."""

BESIDE: Final = {"overlay.json": ("--partial", "regions.spl")}
"""Inputs that say nothing by themselves, with the other words of the command."""


def inputs() -> list[Path]:
    """Every input, in the order of their names."""
    return sorted(path for path in INPUTS.iterdir() if path.is_file() and ".expected." not in path.name)


def written(words: Sequence[str]) -> tuple[int, str, str]:
    """What ``convert`` with these words makes of the examples: exit code, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(INPUTS), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["convert", *words])
    return code, out.getvalue(), err.getvalue()


def conversions() -> list[tuple[str, tuple[str, ...]]]:
    """Every example: the name of its file, and the words of the command."""
    plain = [(path.name, (*BESIDE.get(path.name, ()), path.name)) for path in inputs()]
    onto = [(name, (*words, "--onto", name)) for name, words in ONTO.items()]
    return [*plain, *((name, ("-f", name)) for name in FOLDERS), *onto]


@functools.cache
def expected_result(name: str, words: Sequence[str]) -> tuple[Path, str]:
    """The file of the expected result of an example, and what should be in it."""
    _, out, err = written(words)
    if out:
        return INPUTS / f"{name}.expected.yaml", out
    return INPUTS / f"{name}.expected.txt", err


def write_conversions() -> list[Path]:
    """Write every file of expected results; those that changed."""
    changed = []
    for name, words in conversions():
        path, text = expected_result(name, words)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            changed.append(path)
    return changed
