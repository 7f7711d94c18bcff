"""The version, which ``pyproject.toml`` says and all other places repeat, and its section of the changelog.

``python -m tools.release.version 0.2.0`` sets it everywhere, and makes a section of it of what is unreleased.
"""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

from msgspec import Struct

from tools.release.source import ReleaseError

PROJECT: Final = "streams-placement"

SOURCE: Final = "pyproject.toml"
"""The file that says the version."""

CHANGELOG: Final = "CHANGELOG.md"

_NUMBER: Final = r"[0-9]+\.[0-9]+\.[0-9]+"
"""What pip and helm both take as a version, and order in the same way."""

_UNRELEASED: Final = "## Unreleased\n"

_PLACES: Final = (
    (SOURCE, re.compile(rf'^version = "({_NUMBER})"$', re.MULTILINE)),
    ("charts/streams-placement/Chart.yaml", re.compile(rf"^(?:v|appV)ersion: ({_NUMBER})$", re.MULTILINE)),
    *((name, re.compile(rf"streams[-_]placement[-:@/]v?({_NUMBER})")) for name in ("README.md", "docs/*.md")),
)
"""Files, and where the version stands in them."""


class VersionMention(Struct, frozen=True):
    """A place that says a version."""

    file: str
    line: int
    version: str


def mentions(root: Path) -> Iterator[VersionMention]:
    """Every place that says a version; the first is that of ``pyproject.toml``."""
    for pattern, said in _PLACES:
        for path in sorted(root.glob(pattern)):
            text = path.read_text()
            for match in said.finditer(text):
                name = path.relative_to(root).as_posix()
                yield VersionMention(name, text.count("\n", 0, match.start(1)) + 1, match[1])


def version_of(root: Path) -> str:
    """The version; raises :class:`ReleaseError` if ``pyproject.toml`` has none of the form 1.2.3."""
    first = next(mentions(root), None)
    if first is None or first.file != SOURCE:
        raise ReleaseError(f"{SOURCE} has no version of the form 1.2.3")
    return first.version


def differing(root: Path) -> list[str]:
    """What is wrong with the versions: a sentence for each place that says another than ``pyproject.toml``."""
    version = version_of(root)
    wrong = [
        f"{each.file}:{each.line} says version {each.version}, {SOURCE} says {version}"
        for each in mentions(root)
        if each.version != version
    ]
    newest = re.search(rf"^## ({_NUMBER}) - ", (root / CHANGELOG).read_text(), re.MULTILINE)
    if newest and _order(newest[1]) > _order(version):
        wrong.append(f"{CHANGELOG} begins with version {newest[1]}, {SOURCE} says {version}")
    return wrong


def has_section(changelog: str, version: str) -> bool:
    """Whether a version is released, by the changelog."""
    return re.search(rf"^## {re.escape(version)} - ", changelog, re.MULTILINE) is not None


def released(changelog: str, version: str, day: date) -> str:
    """The changelog with a section of the version and the day in place of what is unreleased."""
    if has_section(changelog, version):
        raise ReleaseError(f"{CHANGELOG} has a section {version} already: choose a later version")
    before, head, following = changelog.partition(_UNRELEASED)
    unreleased = following.partition("\n## ")[0].strip()
    if not head or not unreleased:
        raise ReleaseError(f"{CHANGELOG} says of nothing that it is unreleased: there is nothing to release")
    return f"{before}{head}\n## {version} - {day.isoformat()}\n{following}"


def set_version(root: Path, version: str, day: date) -> list[str]:
    """Write the version in all places and close the section of the changelog; returns the files that changed."""
    old = version_of(root)
    if not re.fullmatch(_NUMBER, version):
        raise ReleaseError(f"{version} is no version: write three numbers, such as {old}")
    if _order(version) < _order(old):
        raise ReleaseError(f"{version} is older than {old}, the version in {SOURCE}")
    texts = {root / CHANGELOG: released((root / CHANGELOG).read_text(), version, day)}
    for pattern, said in _PLACES:
        for path in root.glob(pattern):
            text = texts.get(path) or path.read_text()
            texts[path] = said.sub(lambda found: found[0].replace(found[1], version), text)
    changed = {path: text for path, text in texts.items() if text != path.read_text()}
    for path, text in changed.items():
        path.write_text(text)
    return sorted(path.relative_to(root).as_posix() for path in changed)


def _order(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def main(words: Sequence[str] | None = None) -> int:
    """Set the version, and say which files changed; returns 0, or 1 with an error on standard error."""
    parser = argparse.ArgumentParser(prog="python -m tools.release.version", description="Set the version.")
    parser.add_argument("version", nargs="?", help="The version, such as 0.2.0; without it the one that is there.")
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[2], help="The clone.")
    options = parser.parse_args(words)
    try:
        changed = set_version(options.root, options.version or version_of(options.root), datetime.now(UTC).date())
    except ReleaseError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write("".join(f"{name}\n" for name in changed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
