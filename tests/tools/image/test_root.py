"""Files are where they were, with the links to them, and each is there once."""

from pathlib import Path

import pytest

from tools.image.root import Root

pytestmark = pytest.mark.untraced


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder whose ``lib`` is a link to ``usr/lib``, which has a library and two links to it."""
    folder = tmp_path.resolve() / "machine"
    (folder / "usr" / "lib").mkdir(parents=True)
    (folder / "lib").symlink_to("usr/lib")
    (folder / "usr" / "lib" / "libx.so.1.2").write_text("x")
    (folder / "usr" / "lib" / "libx.so.1").symlink_to("libx.so.1.2")
    (folder / "absolute").symlink_to(folder / "lib" / "libx.so.1")
    return folder


def image(tmp_path: Path, machine: Path) -> tuple[Root, Path]:
    root = Root(tmp_path / "image")
    return root, root.folder / machine.relative_to("/")


def test_links_on_the_way_stay_links(tmp_path: Path, machine: Path) -> None:
    root, here = image(tmp_path, machine)
    copy = root.add(machine / "lib" / "libx.so.1")
    assert copy == here / "usr" / "lib" / "libx.so.1.2"
    assert ((here / "lib").readlink(), (here / "lib" / "libx.so.1").readlink()) == (
        Path("usr/lib"),
        Path("libx.so.1.2"),
    )
    assert (here / "lib" / "libx.so.1").read_text() == "x"
    assert root.sources == {machine / "usr" / "lib" / "libx.so.1.2"}


def test_an_absolute_link_stays_absolute_and_its_target_is_copied(tmp_path: Path, machine: Path) -> None:
    root, here = image(tmp_path, machine)
    root.add(machine / "absolute")
    root.add(machine / "absolute")
    assert (here / "absolute").readlink() == machine / "lib" / "libx.so.1"
    assert (here / "usr" / "lib" / "libx.so.1.2").read_text() == "x"


def test_a_tree_is_copied_without_what_is_not_wanted_and_without_links_to_nothing(
    tmp_path: Path, machine: Path
) -> None:
    root, here = image(tmp_path, machine)
    (machine / "usr" / "nothing").symlink_to("gone")
    (machine / "usr" / "skipped.py").write_text("")
    (machine / "usr" / "folder").symlink_to("lib")
    root.add_tree(machine / "usr", lambda path: path.suffix != ".py")
    names = sorted(path.name for path in (here / "usr").iterdir())
    assert (names, (here / "usr" / "folder").readlink()) == (["folder", "lib"], Path("lib"))
    assert (here / "usr" / "folder" / "libx.so.1").read_text() == "x"


def test_the_user_has_a_name_and_everybody_a_folder_for_temporary_files(tmp_path: Path) -> None:
    root = Root(tmp_path / "image")
    root.add_accounts()
    assert "nonroot:x:65532:65532:" in (root.folder / "etc" / "passwd").read_text()
    assert "nonroot:x:65532:\n" in (root.folder / "etc" / "group").read_text()
    assert (root.folder / "tmp").stat().st_mode & 0o7777 == 0o1777
