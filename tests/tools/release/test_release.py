"""A release is built from a commit alone, and is the same bytes wherever that is done."""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tests.tools.release.conftest import HOMEPAGE
from tests.tools.release.repositories import commit, git
from tests.yaml_values import loaded
from tools.release.__main__ import main, release
from tools.release.python_packages import build_wheel
from tools.release.source import ReleaseError, export, last_commit
from tools.release.version import version_of

VERSION = version_of(ROOT)
WHEEL = f"streams_placement-{VERSION}-py3-none-any.whl"
SDIST = f"streams_placement-{VERSION}.tar.gz"
CHART = f"streams-placement-{VERSION}.tgz"
SBOM = f"streams-placement-{VERSION}.cdx.json"
PROVENANCE = f"streams-placement-{VERSION}.provenance.json"
SHA256SUM, TAR = (shutil.which(name) or name for name in ("sha256sum", "tar"))

pytestmark = [pytest.mark.integration, pytest.mark.untraced]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_two_builds_are_the_same_bytes(repository: Path, released: Path, tmp_path: Path) -> None:
    """In another folder, under another umask, in another time zone, other hashes of texts, other git settings.

    Packages of before and their signature are replaced.
    """
    shutil.copytree(released, tmp_path / "made")
    (tmp_path / "made" / "SHA256SUMS.asc").write_text("signature of the packages before")
    (tmp_path / "made" / CHART).write_text("before")
    other = tmp_path / "other folder"
    git(tmp_path, "clone", "--quiet", str(repository), str(other))
    git(other, "config", "core.autocrlf", "true")
    git(other, "config", "tar.umask", "0077")
    command = (sys.executable, "-m", "tools.release", "--repository", str(other), "--output", str(tmp_path / "made"))
    environment = os.environ | {"TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "77", "SOURCE_DATE_EPOCH": "1", "LC_ALL": "C"}
    subprocess.run(command, cwd=ROOT, env=environment, umask=0o077, check=True, timeout=300)  # noqa: S603 -- ourselves
    assert contents(tmp_path / "made") == contents(released)


def test_a_release_is_these_files_and_their_checksums(released: Path) -> None:
    found = contents(released)
    lines = [f"{sha256(found[name]).hexdigest()}  {name}\n" for name in sorted((WHEEL, SDIST, CHART, SBOM, PROVENANCE))]
    assert sorted(found) == sorted((WHEEL, SDIST, CHART, SBOM, PROVENANCE, "SHA256SUMS"))
    assert found["SHA256SUMS"].decode() == "".join(lines)
    subprocess.run((SHA256SUM, "--check", "--quiet", "SHA256SUMS"), cwd=released, check=True, timeout=60)  # noqa: S603


def test_no_package_says_where_or_by_whom_it_was_made(released: Path, repository: Path) -> None:
    with tarfile.open(released / SDIST) as sdist, tarfile.open(released / CHART) as chart:
        entries = [*sdist, *chart]
        assert {(each.uid, each.gid, each.uname, each.gname) for each in entries} == {(0, 0, "", "")}
        assert len({each.mtime for each in entries}) == 1
    with zipfile.ZipFile(released / WHEEL) as wheel:
        assert len({each.date_time for each in wheel.infolist()}) == 1
        read = b"".join(wheel.read(each) for each in wheel.infolist())
    for word in (str(ROOT), str(repository), f"{Path.home()}/", tempfile.gettempdir() + "/streams-placement-"):
        assert word.encode() not in read + (released / SBOM).read_bytes() + (released / PROVENANCE).read_bytes()


def test_the_sources_are_the_commit(repository: Path, released: Path, tmp_path: Path) -> None:
    subprocess.run((TAR, "--extract", "--gzip", "--file", released / SDIST), cwd=tmp_path, check=True, timeout=60)  # noqa: S603
    found = tmp_path / SDIST.removesuffix(".tar.gz")
    tracked = git(repository, "ls-files").splitlines()
    files = [path for path in found.rglob("*") if path.is_file() or path.is_symlink()]
    assert {path.relative_to(found).as_posix() for path in files} == {*tracked, "PKG-INFO"}
    for name in tracked:
        assert (found / name).is_symlink() or (found / name).read_bytes() == (repository / name).read_bytes()
    again = build_wheel(found, last_commit(repository).seconds, tmp_path)
    assert again.read_bytes() == (released / WHEEL).read_bytes()


def test_the_wheel_has_every_file_of_the_packages(repository: Path, released: Path) -> None:
    with zipfile.ZipFile(released / WHEEL) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    tops = ("certs/", "kubeapi/", "webhook/")
    tracked = {name for name in git(repository, "ls-files").splitlines() if name.startswith(tops)}
    examples = {name for name in names if name.startswith("webhook/examples/")}
    assert names - examples == tracked - {"webhook/examples"}
    assert {name.removeprefix("webhook/") for name in examples} == {
        path.relative_to(ROOT).as_posix()
        for path in (*(ROOT / "examples").glob("*.yaml"), *(ROOT / "examples" / "cluster").glob("*.yaml"))
        if not path.name.endswith(".expected.yaml")
    }


def small_repository(folder: Path) -> Path:
    """One with two files, one of them a link."""
    folder.mkdir()
    (folder / "file").write_bytes(b"committed\r\n")
    (folder / "program").write_text("#!")
    (folder / "program").chmod(0o700)
    (folder / "link").symlink_to("file")
    commit(folder)
    return folder


def test_only_what_is_committed_is_taken(tmp_path: Path) -> None:
    small = small_repository(tmp_path / "small")
    (small / "file").write_text("changed")
    (small / "untracked").write_text("secret")
    (tmp_path / "out").mkdir()
    assert export(small, last_commit(small), tmp_path / "out") == ["file", "link", "program"]
    assert (tmp_path / "out" / "file").read_bytes() == b"committed\r\n"
    assert [(tmp_path / "out" / name).stat().st_mode & 0o777 for name in ("file", "program")] == [0o644, 0o755]
    assert (tmp_path / "out" / "link").readlink() == Path("file")


def test_outside_of_a_clone_there_is_no_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--repository", str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("packages are made of the last commit, but git says: fatal: not a git")


def test_without_git_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ReleaseError, match="git is needed: packages are made of the last commit"):
        last_commit(tmp_path)


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("")
    with pytest.raises(ReleaseError, match="holds something else than packages of a release: it has no SHA256SUMS"):
        release(ROOT, tmp_path)
    assert (tmp_path / "thesis.txt").exists()


def test_checksums_of_something_else_are_no_leave_to_remove_it(tmp_path: Path) -> None:
    (tmp_path / "SHA256SUMS").write_text(f"{'0' * 64}  image.iso\n")
    (tmp_path / "image.iso").write_text("")
    (tmp_path / "thesis.txt").write_text("")
    with pytest.raises(ReleaseError, match="packages of a release: thesis.txt, which is not in SHA256SUMS: move it"):
        release(ROOT, tmp_path)
    assert (tmp_path / "thesis.txt").exists()


def test_a_file_is_not_a_folder_for_packages(tmp_path: Path) -> None:
    (tmp_path / "made").write_text("")
    with pytest.raises(ReleaseError, match="made holds something else than packages of a release"):
        release(ROOT, tmp_path / "made")


def test_the_chart_names_the_page_of_the_project(signed: Path) -> None:
    (package,) = (signed / "made").glob("streams-placement-*.tgz")
    with tarfile.open(package) as archive:
        member = archive.extractfile("streams-placement/Chart.yaml")
        assert member is not None
        about = loaded(member.read())
    assert (about["home"], about["sources"]) == (HOMEPAGE, [HOMEPAGE])


def test_the_address_for_krew_takes_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--url", "https://example.com"])
    assert "--url takes --homepage, the page that Krew sends users to" in capsys.readouterr().err


def test_a_commit_whose_versions_differ_is_not_built(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", str(repository), "other")
    chart = tmp_path / "other" / "charts" / "streams-placement" / "Chart.yaml"
    chart.write_text(chart.read_text().replace(f"appVersion: {VERSION}", "appVersion: 77.0.1"))
    git(tmp_path / "other", "commit", "--quiet", "--all", "--message", "Another version")
    with pytest.raises(ReleaseError, match=r"Chart.yaml:6 says version 77.0.1, pyproject.toml says "):
        release(tmp_path / "other", tmp_path / "made")
    assert not (tmp_path / "made").exists()
