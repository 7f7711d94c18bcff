"""The previous version: its files, as the history of this repository has them."""

import io
import subprocess
import tarfile
from pathlib import Path
from typing import Final

import pytest

COMMIT: Final = "0b1d7e27e553368d481f6a3d3d5adb5c5da35c69"
"""What an upgrade begins with; each release puts the one before here (``docs/upgrading.md``)."""

_CLONE: Final = Path(__file__).resolve().parents[3]


def write(folder: Path) -> None:
    """Write the files of the previous version into the folder; skips the test where the history is cut off."""
    there = _git("cat-file", "-e", COMMIT)
    if there.returncode:
        pytest.skip(f"NOT TESTED: this clone has no history back to {COMMIT[:12]}; git fetch --unshallow brings it")
    packed = _git("archive", COMMIT)
    packed.check_returncode()
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")


def _git(*words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(("git", *words), cwd=_CLONE, capture_output=True, check=False, timeout=240)  # noqa: S603, S607 -- the git of who runs the tests
