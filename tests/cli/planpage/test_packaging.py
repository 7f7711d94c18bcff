"""The wheel has the parts of the page that are not Python."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.docs.pages import ROOT


@pytest.mark.integration
def test_the_wheel_has_the_parts_of_the_page(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("webhook", "certs", "kubeapi"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    build = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", ".")
    subprocess.run(build, cwd=tmp_path, check=True)  # noqa: S603 -- the build of this repository
    (wheel,) = tmp_path.glob("*.whl")
    parts = {path.name for path in (ROOT / "webhook/cli/planpage").iterdir() if path.suffix not in {".py", ""}}
    with zipfile.ZipFile(wheel) as archive:
        packed = {Path(name).name for name in archive.namelist() if name.startswith("webhook/cli/planpage/")}
    assert len(parts) >= 6
    assert parts - packed == set()
