"""The package of the chart, as ``helm package`` makes it, but for times, and without helm.

``helm package`` writes the time of the day into the archive, so that no two are alike.
"""

import json
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Final

import yaml

from tools.release.archives import tar_gz
from tools.release.source import ReleaseError

CHART: Final = "charts/streams-placement"
"""The folder of the chart in the tree."""

_UNSUPPORTED: Final = "!/?[\\"
"""Characters of patterns in ``.helmignore`` that mean more here than is understood."""


def build_chart(tree: Path, names: Iterable[str], seconds: int, folder: Path, homepage: str | None = None) -> Path:
    """Write the package into the folder; ``names`` are the files of the commit.

    With a ``homepage`` the package's ``Chart.yaml`` names it as home and source, which the tree cannot know.
    """
    chart = tree / CHART
    if homepage:
        with (chart / "Chart.yaml").open("a") as file:
            file.write(f"home: {json.dumps(homepage)}\nsources: [{json.dumps(homepage)}]\n")
    about = yaml.safe_load((chart / "Chart.yaml").read_text())
    inside = [name.removeprefix(f"{CHART}/") for name in names if name.startswith(f"{CHART}/")]
    patterns = ignore_patterns((chart / ".helmignore").read_text())
    kept = [name for name in inside if not ignored(name, patterns)]
    path = folder / f"{about['name']}-{about['version']}.tgz"
    path.write_bytes(tar_gz(chart, kept, about["name"], seconds))
    return path


def ignore_patterns(text: str) -> list[str]:
    """The patterns of a ``.helmignore``: names, perhaps with ``*``, of files, or of folders if a slash follows."""
    patterns = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    for pattern in patterns:
        if any(character in pattern.removesuffix("/") for character in _UNSUPPORTED):
            raise ReleaseError(f".helmignore: {pattern} is not understood here; write a name, such as ci/ or *.bak")
    return patterns


def ignored(name: str, patterns: Sequence[str]) -> bool:
    """Whether a file, or a folder that it is in, is named by a pattern."""
    *folders, file = PurePosixPath(name).parts
    return any(
        any(fnmatchcase(each, pattern.removesuffix("/")) for each in folders)
        or (not pattern.endswith("/") and fnmatchcase(file, pattern))
        for pattern in patterns
    )
