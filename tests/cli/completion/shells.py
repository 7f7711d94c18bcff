"""The shells that completion is tested in: those on PATH, or Debian's, which this file as a program installs."""

import os
import shutil
import subprocess
import sys
from typing import Final

import pytest

SHELLS: Final = ("bash", "zsh", "fish")

REQUIRED: Final = "REQUIRE_SHELLS"
"""The environment variable with which a shell that is missing is a failure; without it tests are skipped."""


def missing() -> list[str]:
    """The shells that are not there."""
    return [shell for shell in SHELLS if shutil.which(shell) is None]


def needed(shell: str) -> str:
    """The shell, if it is there; else the test is skipped, or fails where shells are required."""
    if shutil.which(shell) is None:
        text = f"NOT TESTED: there is no {shell} on this machine; make shells installs it, as root"
        if os.environ.get(REQUIRED):
            pytest.fail(text)
        pytest.skip(text)
    return shell


def install() -> list[str]:
    """Install what is missing with apt-get, where there is one and it may; the shells that are missing still."""
    if missing() and shutil.which("apt-get") and os.geteuid() == 0:
        quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        for words in (("update",), ("install", "--yes", "--no-install-recommends", *missing())):
            subprocess.run(("apt-get", "-qq", *words), check=True, env=quiet)  # noqa: S603, S607 -- our own words, to root's apt-get
    return missing()


if __name__ == "__main__":
    try:
        if absent := install():
            sys.exit(f"completion cannot be tested in {', '.join(absent)}: install them, or run make shells as root")
    except subprocess.CalledProcessError as error:
        sys.exit(f"the shells cannot be installed: {error}")
