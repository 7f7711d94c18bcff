"""``python -m tools.release``: build what a release consists of, from the last commit, into one folder.

The same commit, Python and zlib give the same bytes, in whatever folder and at whatever time. The archives for Krew
are large, and their manifest names the address that they will be at, so they are built only if that is given.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tools.release.advisories import require_no_advisory
from tools.release.chart_package import build_chart
from tools.release.locked import libraries
from tools.release.provenance import ENVELOPE, STATEMENT, envelope, private_key, statement
from tools.release.python_packages import build_sdist, build_wheel
from tools.release.sbom import write_sbom
from tools.release.source import ReleasedCommit, ReleaseError, export, last_commit, uncommitted
from tools.release.version import PROJECT, differing, has_section, version_of

REPOSITORY: Final = Path(__file__).parents[2]

SUMS: Final = "SHA256SUMS"
"""The file of checksums, by which a folder is known as one of ours, too."""


_KREW_SECONDS: Final = 3600
"""Time-out for the archives for Krew; some 400 MB of libraries are downloaded."""


class Extras(NamedTuple):
    """What a release may have beside its packages.

    ``homepage`` is the page that the chart and Krew send users to; ``archives`` the address of the archives for Krew,
    which are built only if it is given; ``key`` signs the provenance; ``advisories`` is a database of vulnerabilities,
    none of which may affect a library of the release.
    """

    homepage: str | None = None
    archives: str | None = None
    key: Path | None = None
    advisories: Path | None = None


def main(words: Sequence[str] | None = None) -> int:
    """Build into the folder; returns 0, or 1 with an error on standard error."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description="Build what a release consists of.")
    parser.add_argument("--repository", type=Path, default=REPOSITORY, help="The clone whose last commit is built.")
    parser.add_argument("--output", type=Path, default=None, help="The folder, which is replaced; dist in the clone.")
    parser.add_argument("--key", type=Path, help="Sign the provenance with this private key (PEM).")
    parser.add_argument("--advisories", type=Path, help="Fail for libraries with a record in this file of OSV (ZIP).")
    parser.add_argument("--url", help="Where the archives for Krew will be; without it none are built.")
    parser.add_argument("--homepage", help="The page that the chart and Krew send users to.")
    options = parser.parse_args(words)
    if options.url and not options.homepage:
        parser.error("--url takes --homepage, the page that Krew sends users to")
    folder = options.output or options.repository / "dist"
    try:
        extras = Extras(options.homepage, options.url, options.key, options.advisories)
        release(options.repository, folder, extras)
    except ReleaseError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write((folder / SUMS).read_text())
    return 0


def release(repository: Path, folder: Path, extras: Extras = Extras()) -> None:  # noqa: B008 -- it is frozen
    """Build the packages of the last commit, and put them in place of what is in the folder."""
    _replaceable(folder)
    commit = last_commit(repository)
    for name in uncommitted(repository):
        sys.stderr.write(f"note: {name} is changed since the last commit; the commit is built\n")
    with tempfile.TemporaryDirectory(prefix="streams-placement-") as name:
        tree, made = Path(name) / "tree", Path(name) / "made"
        tree.mkdir()
        made.mkdir()
        names = export(repository, commit, tree)
        _check(tree)
        lock = (tree / "requirements.lock").read_text()
        if extras.advisories:
            require_no_advisory(list(libraries(lock)), extras.advisories)
        wheel = build_wheel(tree, commit.seconds, made)
        build_sdist(tree, names, wheel, commit.seconds)
        build_chart(tree, names, commit.seconds, made, extras.homepage)
        write_sbom(lock, PROJECT, wheel, commit.seconds)
        if extras.archives and extras.homepage:
            _build_krew(tree, wheel, extras.archives, extras.homepage)
        _write_provenance(commit, lock, wheel, extras.key)
        (made / SUMS).write_text(sums(made))
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(made, folder)


def _replaceable(folder: Path) -> None:
    """Raise :class:`ReleaseError` unless the folder holds nothing, or only what is listed in its checksums.

    Other projects name their checksums in the same way, so the name alone does not tell what may be removed.
    """
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not folder.is_dir() or not (folder / SUMS).is_file():
        raise ReleaseError(f"{folder} holds something else than packages of a release: it has no {SUMS}")
    listed = {line.partition("  ")[2] for line in (folder / SUMS).read_text().splitlines()}
    ours = listed | {SUMS, f"{SUMS}.asc"}
    others = sorted(path.name for path in folder.iterdir() if path.name not in ours)
    if others:
        what = f"{others[0]}, which is not in {SUMS}: move it, or remove the folder"
        raise ReleaseError(f"{folder} holds something else than packages of a release: {what}")


def _build_krew(tree: Path, wheel: Path, url: str, homepage: str) -> None:
    """Build the archives for Krew beside the wheel, with the lock file and the launcher of the commit."""
    where = ("--wheel", str(wheel), "--url", url, "--homepage", homepage, "--out", str(wheel.parent))
    command = (sys.executable, "-m", "tools.krew", *where)
    done = subprocess.run(command, cwd=tree, timeout=_KREW_SECONDS, check=False)  # noqa: S603 -- this Python, no shell
    if done.returncode != 0:
        raise ReleaseError("the archives for Krew could not be built; what was said stands above")


def _write_provenance(commit: ReleasedCommit, lock: str, wheel: Path, key: Path | None) -> None:
    """Write the statement about all files beside the wheel, and with a key the signed one."""
    prefix = f"{PROJECT}-{wheel.name.split('-')[1]}"
    text = statement(commit, lock, list(wheel.parent.iterdir()))
    wheel.with_name(f"{prefix}.{STATEMENT}").write_text(text)
    if key:
        wheel.with_name(f"{prefix}.{ENVELOPE}").write_text(envelope(text, private_key(key)))


def _check(tree: Path) -> None:
    """Compare the versions; raises :class:`ReleaseError` if they differ."""
    wrong = differing(tree)
    if wrong:
        raise ReleaseError("\n".join(wrong))
    version = version_of(tree)
    if not has_section((tree / "CHANGELOG.md").read_text(), version):
        sys.stderr.write(f"note: CHANGELOG.md has no section {version}: good for a trial, but not for a release\n")


def sums(folder: Path) -> str:
    """The checksums of the files in the folder, as ``sha256sum --check`` reads them."""
    files = sorted(path for path in folder.iterdir() if path.name != SUMS)
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)


if __name__ == "__main__":
    sys.exit(main())
