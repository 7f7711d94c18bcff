"""The wheel, and the archive of sources.

The archive of sources holds every file of the commit, so that tests, the chart and the image can be made from it, and
``PKG-INFO``, which is what makes it an sdist for pip.
"""

import os
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tools.release.archives import tar_gz
from tools.release.source import ReleaseError

_BUILD_SECONDS: Final = 300
"""Time-out for the wheel, which takes some seconds."""

_BUILD: Final = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
"""The build backend that ``pyproject.toml`` names, in the pinned version that is installed here."""


def build_wheel(tree: Path, seconds: int, folder: Path) -> Path:
    """Build the wheel of the tree, which gets folders of its own by that; all of the wheel's files have one time."""
    done = subprocess.run(  # noqa: S603 -- this Python, no shell
        (sys.executable, "-I", "-c", _BUILD, str(folder)),
        cwd=tree,
        env=os.environ | {"SOURCE_DATE_EPOCH": str(seconds)},
        umask=0o022,
        capture_output=True,
        text=True,
        timeout=_BUILD_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise ReleaseError(f"the wheel could not be built:\n{done.stdout}{done.stderr}")
    return next(folder.glob("*.whl"))


def build_sdist(tree: Path, names: Sequence[str], wheel: Path, seconds: int) -> Path:
    """Write the archive of sources beside the wheel, whose metadata it has; ``names`` are the files of the commit."""
    stem = "-".join(wheel.name.split("-")[:2])
    with zipfile.ZipFile(wheel) as archive:
        (tree / "PKG-INFO").write_bytes(archive.read(f"{stem}.dist-info/METADATA"))
    path = wheel.with_name(f"{stem}.tar.gz")
    path.write_bytes(tar_gz(tree, [*names, "PKG-INFO"], stem, seconds))
    return path
