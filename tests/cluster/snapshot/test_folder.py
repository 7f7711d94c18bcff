"""Which files make a snapshot, and how to see that they changed."""

import os
from pathlib import Path

import pytest

from webhook.cluster.objects.report import SnapshotError
from webhook.cluster.snapshot.folder import files, read, signature


def test_files_are_found_below_the_folder_sorted(tmp_path: Path) -> None:
    for name in (
        "b.yaml",
        "a.json",
        "sub/c.yml",
        "sub/d.txt",
        "README",
        ".hidden.yaml",
        "..data/e.yaml",
        "sub/.x/f.json",
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    assert [str(path.relative_to(tmp_path)) for path in files(tmp_path)] == ["a.json", "b.yaml", "sub/c.yml"]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError) as caught:
        files(tmp_path / "none")
    assert str(caught.value) == f"the folder {tmp_path}/none cannot be listed: No such file or directory"


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.json").touch()
    with pytest.raises(SnapshotError) as caught:
        files(tmp_path / "a.json")
    assert str(caught.value) == f"the folder {tmp_path}/a.json cannot be listed: Not a directory"


def test_ten_thousand_files_are_the_most(tmp_path: Path) -> None:
    (tmp_path / "0.json").touch()
    for number in range(1, 10_001):
        os.link(tmp_path / "0.json", tmp_path / f"{number}.json")
    with pytest.raises(SnapshotError) as caught:
        files(tmp_path)
    assert str(caught.value) == f"the folder {tmp_path} holds more than 10000 files"


def test_a_file_of_any_size_up_to_the_limit_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"{}")
    assert read(tmp_path / "a.json") == b"{}"


def test_a_file_over_the_limit_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "a.json").open("wb") as file:
        file.truncate((2 << 30) + 1)
    with pytest.raises(OSError, match=r"larger than 2 GiB"):
        read(tmp_path / "a.json")


def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.json")
    with pytest.raises(OSError, match="not a regular file"):
        read(tmp_path / "a.json")


def test_the_signature_stays_while_nothing_changes(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    assert signature(tmp_path) == signature(tmp_path)


@pytest.mark.parametrize("change", ["content", "time", "other file in its place", "new file", "gone"])
def test_the_signature_changes_with_every_change_of_a_file(tmp_path: Path, change: str) -> None:
    path = tmp_path / "a.json"
    path.write_text("{}")
    os.utime(path, ns=(1, 1))
    before = signature(tmp_path)
    if change == "content":
        path.write_text("{} ")
        os.utime(path, ns=(1, 1))
    elif change == "time":
        os.utime(path, ns=(1, 2))
    elif change == "other file in its place":
        (tmp_path / "new").write_text("{}")
        (tmp_path / "new").replace(path)
        os.utime(path, ns=(1, 1))
    elif change == "new file":
        (tmp_path / "b.json").touch()
    else:
        path.unlink()
    assert signature(tmp_path) != before


def test_a_changed_link_changes_the_signature_as_in_a_mounted_config_map(tmp_path: Path) -> None:
    for version in ("..1", "..2"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "a.json").write_text("{}")
    (tmp_path / "..data").symlink_to("..1")
    (tmp_path / "a.json").symlink_to("..data/a.json")
    before = signature(tmp_path)
    (tmp_path / "..new").symlink_to("..2")
    (tmp_path / "..new").replace(tmp_path / "..data")
    assert (len(before), signature(tmp_path) != before) == (1, True)


def test_a_file_that_is_gone_again_is_not_part_of_the_signature(tmp_path: Path) -> None:
    (tmp_path / "a.json").symlink_to("nowhere")
    assert signature(tmp_path) == ()


def test_a_folder_that_is_gone_has_an_empty_signature(tmp_path: Path) -> None:
    assert signature(tmp_path / "none") == ()
