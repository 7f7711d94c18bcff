"""The package of the chart is what helm would make of it, and installs the same."""

import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.e2e.chart.rendering import CHART, NAMESPACE, RELEASE, helm, rendered
from tools.release.chart_package import build_chart

ROOT = CHART.parents[1]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package of the chart as it is here."""
    names = [path.relative_to(ROOT).as_posix() for path in CHART.rglob("*") if path.is_file()]
    return build_chart(ROOT, names, 1767323045, tmp_path_factory.mktemp("package"))


def contents(path: Path) -> Mapping[str, bytes]:
    with tarfile.open(path) as archive:
        return {entry.name: file.read() for entry in archive if (file := archive.extractfile(entry))}


def test_helm_packs_the_same_files(package: Path, tmp_path: Path) -> None:
    """Of Chart.yaml helm writes a copy of its own, with the fields in another order and without comments."""
    done = helm("package", str(CHART), "--destination", str(tmp_path))
    assert done.returncode == 0, done.stderr
    ours, theirs = dict(contents(package)), dict(contents(tmp_path / package.name))
    assert yaml.safe_load(ours.pop(f"{RELEASE}/Chart.yaml")) == yaml.safe_load(theirs.pop(f"{RELEASE}/Chart.yaml"))
    assert ours == theirs


def test_helm_renders_the_same_from_it(package: Path) -> None:
    done = helm("template", RELEASE, str(package), "--namespace", NAMESPACE, values={})
    assert (done.returncode, done.stdout) == (0, rendered())


def test_helm_finds_nothing_wrong_with_it(package: Path) -> None:
    done = helm("lint", "--strict", str(package))
    assert done.returncode == 0, done.stdout
