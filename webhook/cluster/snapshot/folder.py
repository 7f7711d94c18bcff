"""Finds and reads the files of a snapshot: every ``*.json``, ``*.yaml`` and ``*.yml`` below a folder.

Hidden files and folders are left out, so that a mounted ConfigMap is read once: its data are in hidden folders, to
which visible links point.
"""

import os
from pathlib import Path

from webhook.cluster.objects.report import SnapshotError

SUFFIXES = (".json", ".yaml", ".yml")

FILE_LIMIT = 10_000
"""Files of one snapshot: 15,000 nodes and 150,000 pods in lists of 250 are 660 files. A folder that was named by
mistake may hold any number."""

SIZE_LIMIT = 2 << 30
"""Bytes of one file: 150,000 pods in a single list of indented JSON, at up to 14 KB each."""

FolderSignature = tuple[tuple[str, int, int, int], ...]
"""Path, modification time in ns, size and inode of every file."""


def files(folder: Path) -> list[Path]:
    """The snapshot's files, sorted by path; raises :class:`SnapshotError` if the folder cannot be listed."""
    paths: list[Path] = []
    for parent, folders, names in os.walk(folder, onerror=_unlisted):
        folders[:] = (name for name in folders if not name.startswith("."))
        paths += (Path(parent, name) for name in names if name.endswith(SUFFIXES) and not name.startswith("."))
        if len(paths) > FILE_LIMIT:
            raise SnapshotError(f"the folder {folder} holds more than {FILE_LIMIT} files")
    return sorted(paths)


def read(path: Path) -> bytes:
    """The bytes of a file; raises :class:`OSError` if it cannot be read, or is not a regular file of bounded size."""
    if not path.is_file():
        raise OSError(None, "not a regular file")
    if path.stat().st_size > SIZE_LIMIT:
        raise OSError(None, f"larger than {SIZE_LIMIT >> 30} GiB")
    return path.read_bytes()


def signature(folder: Path) -> FolderSignature:
    """A value that changes when any of the folder's files changes; empty if the folder cannot be listed."""
    try:
        paths = files(folder)
    except SnapshotError:
        return ()
    entries = []
    for path in paths:
        try:
            state = path.stat()
        except OSError:
            continue  # the file was removed after it was listed; the next signature will differ
        entries.append((str(path), state.st_mtime_ns, state.st_size, state.st_ino))
    return tuple(entries)


def _unlisted(error: OSError) -> None:
    raise SnapshotError(f"the folder {error.filename} cannot be listed: {error.strerror}") from error
