"""Known vulnerabilities of the libraries of a release, by a database that is given as a file.

The database is what the OSV project offers for download for one ecosystem: a ZIP archive of records in its JSON schema.
Only records of the ecosystem ``PyPI`` count. ``python -m tools.release --advisories all.zip`` builds no release whose
lock file names an affected version.
"""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from tools.release.locked import LockedLibrary
from tools.release.source import ReleaseError

_ECOSYSTEM: Final = "PyPI"

_RECORD_BYTES: Final = 16 << 20
"""A record of a vulnerability has some kilobytes; a larger one than this is damaged."""


def require_no_advisory(libraries: list[LockedLibrary], database: Path) -> None:
    """Raise :class:`ReleaseError` for libraries with known vulnerabilities, and for a database without records."""
    pinned = {str(canonicalize_name(each.name)): each.version for each in libraries}
    records = 0
    affected = set()
    for record in _records(database):
        records += 1
        if "withdrawn" not in record:
            affected |= {f"{name} {pinned[name]}: {record['id']}" for name in _named(record, pinned)}
    if not records:
        raise ReleaseError(f"{database} has no records: a database of vulnerabilities has thousands")
    if affected:
        raise ReleaseError("libraries with known vulnerabilities:\n" + "\n".join(sorted(affected)))


def _records(database: Path) -> Iterator[dict[str, Any]]:
    try:
        with zipfile.ZipFile(database) as archive:
            for entry in archive.infolist():
                if entry.filename.endswith(".json"):
                    if entry.file_size > _RECORD_BYTES:
                        raise ReleaseError(f"{database}: {entry.filename} is too large for a record")
                    yield json.loads(archive.read(entry))
    except (OSError, zipfile.BadZipFile, ValueError) as error:
        raise ReleaseError(f"{database} cannot be read as a database of vulnerabilities: {error}") from None


def _named(record: dict[str, Any], pinned: dict[str, str]) -> Iterator[str]:
    """The names of pinned libraries of which the record affects the pinned version."""
    for part in record.get("affected", []):
        package = part.get("package", {})
        name = canonicalize_name(package.get("name", ""))
        if package.get("ecosystem") == _ECOSYSTEM and name in pinned and _affects(part, pinned[name]):
            yield name


def _affects(part: dict[str, Any], version: str) -> bool:
    if version in part.get("versions", []):
        return True
    ranges = (each for each in part.get("ranges", []) if each.get("type") == "ECOSYSTEM")
    return any(_inside(each.get("events", []), Version(version)) for each in ranges)


def _inside(events: list[dict[str, str]], version: Version) -> bool:
    """Whether a version is inside a range, as OSV evaluates it: the last event at or before the version decides."""
    inside = False
    for event in sorted(events, key=_at):
        reached = version > _at(event) if "last_affected" in event else version >= _at(event)
        if reached:
            inside = "introduced" in event
    return inside


def _at(event: dict[str, str]) -> Version:
    text = next(iter(event.values()))
    try:
        return Version(text)
    except InvalidVersion:
        # A version that is not of PEP 440 cannot be one that pip installs; counting it as old keeps the range open.
        return Version("0")
