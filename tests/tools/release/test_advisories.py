"""A release with a library of known vulnerability is not built."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tools.release.__main__ import main
from tools.release.advisories import require_no_advisory
from tools.release.locked import LockedLibrary
from tools.release.source import ReleaseError

pytestmark = pytest.mark.untraced

LISTED = {"affected": [{"package": {"name": "Left.Pad", "ecosystem": "PyPI"}, "versions": ["2.5"]}]}
PINNED = [LockedLibrary(name, "2.5", "", (), ()) for name in ("left-pad", "Right_Pad")]
FIXED: list[dict[str, str]] = [{"introduced": "0"}, {"fixed": "2.6"}]


def database(folder: Path, *records: dict[str, Any]) -> Path:
    path = folder / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("README", "of no interest")
        for number, record in enumerate(records):
            archive.writestr(f"OSV-{number}.json", json.dumps({"id": f"OSV-{number}", **record}))
    return path


def of(
    *events: dict[str, str], name: str = "left-pad", ecosystem: str = "PyPI", kind: str = "ECOSYSTEM"
) -> dict[str, Any]:
    package = {"name": name, "ecosystem": ecosystem}
    return {"affected": [{"package": package, "ranges": [{"type": kind, "events": list(events)}]}]}


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(of(*FIXED), id="before the fix"),
        pytest.param(of({"introduced": "2.5"}), id="since this version, not fixed"),
        pytest.param(of({"introduced": "1"}, {"last_affected": "2.5"}), id="the last one that is affected"),
        pytest.param(of({"fixed": "1.2"}, {"introduced": "0"}, {"introduced": "2"}), id="introduced again"),
        pytest.param(of({"introduced": "not-a-version"}), id="a version that pip does not know"),
        pytest.param(LISTED, id="listed"),
    ],
)
def test_an_affected_version_is_refused(record: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ReleaseError) as refused:
        require_no_advisory(PINNED, database(tmp_path, record))
    assert str(refused.value) == "libraries with known vulnerabilities:\nleft-pad 2.5: OSV-0"


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(of({"introduced": "0"}, {"fixed": "2.5"}), id="fixed in this version"),
        pytest.param(of({"introduced": "2.5.1"}), id="introduced later"),
        pytest.param(of({"introduced": "0"}, {"last_affected": "2.4"}), id="no longer affected"),
        pytest.param(of(*FIXED, name="other"), id="another library"),
        pytest.param(of(*FIXED, ecosystem="npm"), id="another ecosystem"),
        pytest.param(of(*FIXED, kind="GIT"), id="a range of commits"),
        pytest.param({**of(*FIXED), "withdrawn": "2026-01-01T00:00:00Z"}, id="withdrawn"),
        pytest.param({}, id="about nothing"),
    ],
)
def test_any_other_record_is_not_about_the_release(record: dict[str, Any], tmp_path: Path) -> None:
    require_no_advisory(PINNED, database(tmp_path, record))


def test_all_vulnerabilities_are_named_in_order(tmp_path: Path) -> None:
    records = [of(*FIXED, name="right-pad"), of(*FIXED), of(*FIXED)]
    with pytest.raises(ReleaseError) as refused:
        require_no_advisory(PINNED, database(tmp_path, *records))
    assert str(refused.value).splitlines()[1:] == ["left-pad 2.5: OSV-1", "left-pad 2.5: OSV-2", "right-pad 2.5: OSV-0"]


def test_a_database_without_records_proves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"all\.zip has no records: a database of vulnerabilities has thousands"):
        require_no_advisory(PINNED, database(tmp_path))


def test_a_file_that_is_not_a_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "all.zip").write_text("no archive")
    with pytest.raises(ReleaseError, match=r"all\.zip cannot be read as a database of vulnerabilities: "):
        require_no_advisory(PINNED, tmp_path / "all.zip")


def test_a_record_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"OSV-0\.json is too large for a record"):
        require_no_advisory(PINNED, database(tmp_path, {"details": " " * (16 << 20)}))


@pytest.mark.integration
def test_nothing_is_built(repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = of({"introduced": "0"}, name="aiohttp")
    words = ["--repository", str(repository), "--output", str(tmp_path / "made")]
    assert main([*words, "--advisories", str(database(tmp_path, record))]) == 1
    assert "\nlibraries with known vulnerabilities:\naiohttp " in capsys.readouterr().err
    assert not (tmp_path / "made").exists()
