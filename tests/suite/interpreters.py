"""``python -m tests.suite.interpreters``: the paths of the other supported Pythons, one a line, for ``make versions``.

A Python counts if it runs: pyenv puts commands on the path that only say which version to choose.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

SUPPORTED: Final = range(11, 15)
"""Minor versions of Python 3: the oldest of ``requires-python``, to the newest that the libraries have wheels for."""


def runs(python: Path, minor: int) -> bool:
    """Whether this is a Python of that minor version."""
    text = "import sys; print(sys.version_info[1])"
    done = subprocess.run([python, "-c", text], capture_output=True, text=True, check=False, timeout=60)  # noqa: S603
    return done.stdout.strip() == str(minor)


def candidates(minor: int, environment: Mapping[str, str]) -> Iterator[Path]:
    """Where a Python of that minor version can be: on the path, then pyenv's, the newest first."""
    name = f"python3.{minor}"
    if (command := shutil.which(name, path=environment.get("PATH", ""))) is not None:
        yield Path(command)
    root = Path(environment.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(root.glob(f"versions/3.{minor}.*/bin/{name}"), reverse=True)


def found(environment: Mapping[str, str], running: Callable[[Path, int], bool] = runs) -> Iterator[Path]:
    """One Python of each supported version but the one that this runs with."""
    for minor in SUPPORTED:
        if minor != sys.version_info.minor:
            yield from [path for path in candidates(minor, environment) if running(path, minor)][:1]


if __name__ == "__main__":
    for python in found(os.environ):
        print(python)  # noqa: T201 -- a program
