"""Which packages of Debian the copied files are of, stated in the image as scanners of images look for it.

An image without a package manager has one file a package in ``/var/lib/dpkg/status.d``, as the distroless images do.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Final

from tools.image.root import Root

DATABASE: Final = Path("/var/lib/dpkg")
RELEASE: Final = Path("/etc/os-release")
LICENCES: Final = Path("/usr/share/doc")


def add_packages(root: Root, database: Path = DATABASE) -> list[str]:
    """Add the entries of all packages that a copied file is of, with their licences; returns the packages' names.

    The release of Debian is copied first, by which a scanner chooses its list of vulnerabilities.
    """
    root.add(RELEASE)
    owners = _owners(database, frozenset(root.sources))
    entries = dict(_entries((database / "status").read_text()))
    for name in sorted(owners):
        package = name.partition(":")[0]
        root.write(DATABASE / "status.d" / package, entries[package].encode())
        root.write(DATABASE / "status.d" / f"{package}.md5sums", (database / "info" / f"{name}.md5sums").read_bytes())
        root.add(LICENCES / package / "copyright")
    return sorted(name.partition(":")[0] for name in owners)


def _owners(database: Path, files: Collection[Path]) -> set[str]:
    """Names as in the database: ``libc6:amd64``. Its paths may go through links, such as ``/lib``."""
    names = {path.name for path in files}
    return {
        listing.name.removesuffix(".list")
        for listing in (database / "info").glob("*.list")
        for line in listing.read_text().splitlines()
        if line.rpartition("/")[2] in names and Path(line).resolve() in files
    }


def _entries(status: str) -> list[tuple[str, str]]:
    return [
        (entry.partition("\n")[0].removeprefix("Package: "), entry.strip() + "\n")
        for entry in status.split("\n\n")
        if entry.strip()
    ]
