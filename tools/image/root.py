"""A folder that becomes the file system of an image: files get the place that they have here, with the links to it."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

USER: Final = 65532
"""The user of the image, as the Dockerfile and the chart say."""

_ACCOUNTS: Final = {
    "passwd": f"root:x:0:0:root:/:/sbin/nologin\nnonroot:x:{USER}:{USER}:nonroot:/:/sbin/nologin\n",
    "group": f"root:x:0:\nnonroot:x:{USER}:\n",
}


class Root:
    """The folder of an image that is being made. ``sources`` are the files of this machine that were copied to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sources = set[Path]()

    def at(self, path: Path) -> Path:
        """Where a file of this machine is in the folder; its folders are made, and each link on its way."""
        place, parts = Path("/"), list(path.parts[1:])
        while parts:
            place /= parts.pop(0)
            here = self.folder / place.relative_to("/")
            if place.is_symlink():
                if not here.is_symlink():
                    here.parent.mkdir(parents=True, exist_ok=True)
                    here.symlink_to(place.readlink())
                # What follows is below the target, whose own way may have links as well.
                place, parts = Path("/"), [*_joined(place).parts[1:], *parts]
        here = self.folder / place.relative_to("/")
        here.parent.mkdir(parents=True, exist_ok=True)
        return here

    def add(self, path: Path) -> Path:
        """Copy a file; a link becomes the same link, and what it points to is copied, too. Returns the copy."""
        copy, source = self.at(path), path.resolve()
        if source not in self.sources:
            shutil.copy2(source, copy)
            self.sources.add(source)
        return copy

    def add_tree(self, folder: Path, wanted: Callable[[Path], bool] = lambda _: True) -> None:
        """Copy the files in a folder, with those that links in it point to; links to folders stay links."""
        for parent, folders, names in os.walk(folder):
            for name in sorted(names + [each for each in folders if Path(parent, each).is_symlink()]):
                path = Path(parent, name)
                if not wanted(path) or not path.exists():
                    continue
                if path.is_dir():
                    self.at(path).mkdir(parents=True, exist_ok=True)
                else:
                    self.add(path)

    def write(self, path: Path, data: bytes) -> None:
        """Write a file that this machine does not have."""
        self.at(path).write_bytes(data)

    def add_accounts(self) -> None:
        """The user of the image by name, and the folder for temporary files."""
        for name, text in _ACCOUNTS.items():
            self.write(Path("/etc") / name, text.encode())
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        temporary.chmod(0o1777)


def _joined(link: Path) -> Path:
    """The target of a link as an absolute path; links on the way to it are not followed."""
    return Path(os.path.normpath(link.parent / link.readlink()))
