"""The commit that a release is made of, and its files.

Packages are made of files of a commit, not of a working copy: what is not committed, or not tracked, gets into none.
"""

import io
import subprocess
import tarfile
from pathlib import Path
from typing import Final, NamedTuple

_GIT_SECONDS: Final = 60
"""Time-out for a command of git; an archive of this repository takes less than a second."""


class ReleaseError(Exception):
    """Why no release can be made, for the person who asked for it."""


class ReleasedCommit(NamedTuple):
    """A commit: its full hash, and its time in seconds since 1970, which all packages carry as theirs."""

    name: str
    seconds: int


def last_commit(repository: Path) -> ReleasedCommit:
    """The commit that is checked out; raises :class:`ReleaseError` outside of a clone."""
    name, seconds = _git(repository, "log", "-1", "--format=%H %ct").decode().split()
    return ReleasedCommit(name, int(seconds))


def uncommitted(repository: Path) -> list[str]:
    """Tracked files that differ from the commit."""
    return _git(repository, "diff", "--name-only", "HEAD").decode().splitlines()


def export(repository: Path, commit: ReleasedCommit, folder: Path) -> list[str]:
    """Write the files of the commit into the folder; returns their names, sorted.

    Modes are 0755 or 0644 as git stores them, whatever the umask: archives have them. Line ends stay as committed.
    """
    plain = _git(repository, "-c", "core.autocrlf=false", "archive", "--format=tar", commit.name)
    names = []
    with tarfile.open(fileobj=io.BytesIO(plain)) as archive:
        for entry in archive:
            target = folder / entry.name
            if entry.isdir():
                target.mkdir(parents=True, exist_ok=True)
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            names.append(entry.name)
            if entry.issym():
                target.symlink_to(entry.linkname)
            else:
                file = archive.extractfile(entry)
                target.write_bytes(file.read() if file else b"")
                target.chmod(0o755 if entry.mode & 0o100 else 0o644)
    return sorted(names)


def _git(repository: Path, *words: str) -> bytes:
    command = ("git", "-C", str(repository), *words)
    try:
        done = subprocess.run(command, capture_output=True, timeout=_GIT_SECONDS, check=False)  # noqa: S603 -- git, no shell
    except FileNotFoundError:
        raise ReleaseError("git is needed: packages are made of the last commit") from None
    if done.returncode != 0:
        raise ReleaseError(f"packages are made of the last commit, but git says: {done.stderr.decode().strip()}")
    return done.stdout
