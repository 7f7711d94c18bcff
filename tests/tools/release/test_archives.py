"""Archives depend on names, contents and the right to execute, and on nothing else."""

import io
import os
import tarfile
from pathlib import Path

import pytest

from tools.release.archives import tar_gz
from tools.release.chart_package import ignore_patterns, ignored
from tools.release.source import ReleaseError

pytestmark = pytest.mark.untraced

NAMES = ("a", "folder/b", "link")


def tree(folder: Path) -> Path:
    (folder / "folder").mkdir(parents=True)
    (folder / "a").write_text("a")
    (folder / "folder" / "b").write_text("b")
    (folder / "link").symlink_to("folder/b")
    return folder


def test_order_times_and_modes_of_the_machine_do_not_matter(tmp_path: Path) -> None:
    one, two = tree(tmp_path / "one"), tree(tmp_path / "two")
    os.utime(two / "a", (1, 1))
    (two / "a").chmod(0o600)
    assert tar_gz(one, NAMES, "p", 7) == tar_gz(two, NAMES[::-1], "p", 7)


@pytest.mark.parametrize("change", ["content", "name", "mode", "target", "time", "prefix"])
def test_all_else_does(tmp_path: Path, change: str) -> None:
    folder = tree(tmp_path / "tree")
    before = tar_gz(folder, NAMES, "p", 7)
    names, prefix, seconds = list(NAMES), "p", 7
    match change:
        case "content":
            (folder / "a").write_text("A")
        case "name":
            (folder / "a").rename(folder / "z")
            names[0] = "z"
        case "mode":
            (folder / "a").chmod(0o755)
        case "target":
            (folder / "link").unlink()
            (folder / "link").symlink_to("a")
        case "time":
            seconds = 8
        case "prefix":
            prefix = "q"
    assert tar_gz(folder, names, prefix, seconds) != before


def test_an_archive_is_read_as_it_was_written(tmp_path: Path) -> None:
    packed = tar_gz(tree(tmp_path / "tree"), NAMES, "p", 7)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        entries = {each.name: (each.mode, each.mtime, each.linkname) for each in archive}
        assert archive.extractfile("p/link").read() == b"b"  # type: ignore[union-attr]
    assert entries == {"p/a": (0o644, 7, ""), "p/folder/b": (0o644, 7, ""), "p/link": (0o777, 7, "folder/b")}


@pytest.mark.parametrize(
    ("name", "is_ignored"),
    [
        ("Chart.yaml", False),
        ("ci/values.yaml", True),
        ("templates/ci/x.yaml", True),
        ("templates/ci", False),
        ("notes.bak", True),
        ("templates/notes.bak", True),
        ("notes.bak.txt", False),
        ("secret", True),
        ("secret/file", True),
    ],
)
def test_a_pattern_names_files_or_folders(name: str, is_ignored: bool) -> None:  # noqa: FBT001 -- a column of the table
    patterns = ignore_patterns("# Words.\n\nci/\n*.bak\nsecret\n")
    assert ignored(name, patterns) is is_ignored


@pytest.mark.parametrize("pattern", ["!values.yaml", "/ci", "templates/x", "a?", "[ab]", "a\\b"])
def test_a_pattern_that_is_more_than_a_name_is_refused(pattern: str) -> None:
    with pytest.raises(ReleaseError, match="is not understood here; write a name, such as ci/ or"):
        ignore_patterns(f"{pattern}\n")
