"""One version, which ``pyproject.toml`` says: whatever differs is named, and one command changes all places."""

import shutil
from collections import Counter
from datetime import date
from importlib import metadata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.docs.pages import ROOT
from tools.release.source import ReleaseError
from tools.release.version import (
    CHANGELOG,
    PROJECT,
    SOURCE,
    differing,
    has_section,
    main,
    mentions,
    released,
    set_version,
    version_of,
)

pytestmark = pytest.mark.untraced

DAY = date(2026, 1, 2)
CHART = "charts/streams-placement/Chart.yaml"


def copied(folder: Path) -> Path:
    """All files that say the version, and a changelog before the first release."""
    for name in sorted({each.file for each in mentions(ROOT)}):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    (folder / CHANGELOG).write_text("# Changelog\n\n## Unreleased\n\n### Added\n\n- A.\n")
    return folder


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    return copied(tmp_path)


def test_all_places_say_one_version() -> None:
    assert differing(ROOT) == []


def test_the_places_are_the_package_the_chart_and_what_people_type() -> None:
    places = Counter(each.file for each in mentions(ROOT))
    assert (places[SOURCE], places[CHART]) == (1, 2)
    assert {"README.md", "docs/start.md", "docs/command-line.md", "docs/releasing.md"} <= places.keys()


def test_the_installed_program_has_it() -> None:
    assert metadata.version(PROJECT) == version_of(ROOT), "make run installs it again"


@pytest.mark.parametrize("place", list(mentions(ROOT))[1:], ids=lambda place: f"{place.file}:{place.line}")
def test_a_place_with_another_version_is_named(clone: Path, place: object) -> None:
    file, line, version = place.file, place.line, place.version  # type: ignore[attr-defined]
    lines = (clone / file).read_text().splitlines(keepends=True)
    lines[line - 1] = lines[line - 1].replace(version, "77.0.1")
    (clone / file).write_text("".join(lines))
    assert set(differing(clone)) == {f"{file}:{line} says version 77.0.1, {SOURCE} says {version}"}


def test_a_changelog_with_a_later_version_is_named(clone: Path) -> None:
    (clone / CHANGELOG).write_text("## 77.0.1 - 2026-01-02\n\n- Words.\n\n## 77.0.0 - 2026-01-01\n")
    assert differing(clone) == [f"{CHANGELOG} begins with version 77.0.1, {SOURCE} says {version_of(ROOT)}"]


def test_a_project_without_a_plain_version_is_refused(clone: Path) -> None:
    (clone / SOURCE).write_text('version = "1.0rc1"\n')
    with pytest.raises(ReleaseError, match=r"pyproject.toml has no version of the form 1\.2\.3"):
        version_of(clone)


@settings(deadline=None, max_examples=20)  # each example copies and writes files
@given(st.tuples(st.integers(1, 10**6), st.integers(0, 10**6), st.integers(0, 10**6)))
def test_a_new_version_is_everywhere(tmp_path_factory: pytest.TempPathFactory, numbers: tuple[int, int, int]) -> None:
    clone = copied(tmp_path_factory.mktemp("clone"))
    version = ".".join(map(str, numbers))
    changed = set_version(clone, version, DAY)
    assert changed == sorted({each.file for each in mentions(ROOT)} | {CHANGELOG})
    assert {each.version for each in mentions(clone)} == {version}
    assert (differing(clone), has_section((clone / CHANGELOG).read_text(), version)) == ([], True)


def test_the_version_that_there_is_may_be_released_once(clone: Path) -> None:
    version = version_of(clone)
    assert set_version(clone, version, DAY) == [CHANGELOG]
    (clone / CHANGELOG).write_text(
        (clone / CHANGELOG).read_text().replace("## Unreleased\n", "## Unreleased\n\n- A.\n")
    )
    with pytest.raises(ReleaseError, match=f"CHANGELOG.md has a section {version} already: choose a later version"):
        set_version(clone, version, DAY)


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("0.0.1", "0.0.1 is older than {}, the version in pyproject.toml"),
        ("1.0", "1.0 is no version: write three numbers, such as {}"),
        ("1.0.0-rc.1", "1.0.0-rc.1 is no version: write three numbers, such as {}"),
        ("v1.0.0", "v1.0.0 is no version: write three numbers, such as {}"),
    ],
)
def test_a_version_is_refused(clone: Path, version: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.read_bytes() for path in clone.rglob("*") if path.is_file()}
    assert main([version, "--root", str(clone)]) == 1
    assert capsys.readouterr().err == message.format(version_of(clone)) + "\n"
    assert {path: path.read_bytes() for path in clone.rglob("*") if path.is_file()} == before


def test_the_command_says_what_it_changed(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["77.0.1", "--root", str(clone)]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == [CHANGELOG, "README.md"]


def test_without_a_version_that_which_is_there_is_released(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    version = version_of(clone)
    assert main(["--root", str(clone)]) == 0
    assert capsys.readouterr().out == f"{CHANGELOG}\n"
    assert has_section((clone / CHANGELOG).read_text(), version)


def test_what_is_unreleased_becomes_the_section_of_the_version() -> None:
    before = "# Changelog\n\n## Unreleased\n\n### Added\n\n- A.\n\n## 0.1.0 - 2025-01-01\n\n- B.\n"
    after = (
        "# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2026-01-02\n\n### Added\n\n- A.\n\n## 0.1.0 - 2025-01-01\n\n- B.\n"
    )
    assert released(before, "0.2.0", DAY) == after


@pytest.mark.parametrize("text", ["# Changelog\n", "## Unreleased\n\n## 0.1.0 - 2025-01-01\n\n- B.\n"])
def test_nothing_is_not_released(text: str) -> None:
    with pytest.raises(ReleaseError, match="says of nothing that it is unreleased: there is nothing to release"):
        released(text, "0.2.0", DAY)
