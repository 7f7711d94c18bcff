"""A scanner finds in the image which packages of Debian its files are of."""

from pathlib import Path

import pytest

from tools.image import debian
from tools.image.root import Root

pytestmark = pytest.mark.untraced

STATUS = """Package: libx
Status: install ok installed
Version: 1.2-3
Description: a library
 for nothing else

Package: unused
Status: install ok installed
Version: 1

"""


def test_packages_of_the_files_are_listed_with_their_licences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine, database = tmp_path.resolve() / "machine", tmp_path / "dpkg"
    for path in (machine / "usr" / "lib", machine / "usr" / "share", database / "info"):
        path.mkdir(parents=True)
    (machine / "lib").symlink_to("usr/lib")
    library = machine / "usr" / "lib" / "libx.so.1"
    for path in (library, machine / "usr" / "lib" / "other.so", machine / "os-release", machine / "copyright"):
        path.write_text(path.name)
    (database / "status").write_text(STATUS)
    (database / "info" / "libx:amd64.list").write_text(f"/.\n{machine}/lib\n{machine}/lib/libx.so.1\n")
    (database / "info" / "libx:amd64.md5sums").write_text("0  usr/lib/libx.so.1\n")
    (database / "info" / "unused.list").write_text(f"{machine}/usr/lib/other.so\n/libx.so.1\n")
    monkeypatch.setattr(debian, "RELEASE", machine / "os-release")
    monkeypatch.setattr(debian, "LICENCES", machine)
    (machine / "libx").mkdir()
    (machine / "copyright").rename(machine / "libx" / "copyright")
    root = Root(tmp_path / "image")
    root.add(library)
    assert debian.add_packages(root, database) == ["libx"]
    stated = root.folder / "var" / "lib" / "dpkg" / "status.d"
    assert {path.name: path.read_text() for path in stated.iterdir()} == {
        "libx": STATUS.partition("\n\n")[0] + "\n",
        "libx.md5sums": "0  usr/lib/libx.so.1\n",
    }
    assert (root.folder / machine.relative_to("/") / "os-release").read_text() == "os-release"
    assert (root.folder / machine.relative_to("/") / "libx" / "copyright").read_text() == "copyright"
