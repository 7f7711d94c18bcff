"""The Chromium that the tests drive: the one on PATH, or Debian's package, which this file as a program installs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

VARIABLE: Final = "CHROMIUM"
"""The environment variable with the path of another Chromium."""

ARGUMENTS: Final = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
"""Chromium as root, without a screen, and without any connection of its own."""

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
_PACKAGES: Final = ("chromium", "fonts-dejavu-core", "fonts-liberation")
"""Debian's packages: without fonts a page has no letters, and without letters no size."""


def found() -> str | None:
    """The path of Chromium, or ``None`` if there is none."""
    named = os.environ.get(VARIABLE)
    return shutil.which(named) if named else next(filter(None, map(shutil.which, _NAMES)), None)


def path() -> str:
    """The path of Chromium; raises if there is none, since tests that are skipped would look like tests that pass."""
    chromium = found()
    if chromium is None:
        raise FileNotFoundError(
            f"no Chromium: put one on PATH, or its path into {VARIABLE}, or run make browser as root"
        )
    return chromium


def install() -> str:
    """The path of Chromium, which is installed with apt-get if there is none."""
    if found() is None and os.environ.get(VARIABLE) is None and shutil.which("apt-get") and os.geteuid() == 0:
        print("installing Debian's Chromium ...", flush=True)  # noqa: T201 -- a program that takes a minute says so
        quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        for words in (("update",), ("install", "--yes", "--no-install-recommends", *_PACKAGES)):
            subprocess.run(("apt-get", "-qq", *words), check=True, env=quiet)  # noqa: S603, S607 -- our own words, to root's apt-get
    return path()


if __name__ == "__main__":
    try:
        print(Path(install()))  # noqa: T201 -- a program
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        sys.exit(f"the tests in a browser cannot run: {error}")
