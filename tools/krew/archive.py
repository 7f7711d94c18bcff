"""Archives of the plugin: the program, its libraries for several versions of Python, the launcher and the licence.

The same inputs give the same bytes: entries are sorted, and have no times and no owners of the machine.
"""

import gzip
import io
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from email.parser import HeaderParser
from pathlib import Path
from typing import Final, NamedTuple

REPOSITORY: Final = Path(__file__).parents[2]
LOCK: Final = REPOSITORY / "requirements.lock"

PROGRAM: Final = "kubectl-streams_placement"
"""The name of the launcher in the archive."""

PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")
"""The versions of Python that an archive has libraries for."""

_INSTALL_SECONDS: Final = 900
"""Time-out for one version: some 40 MB are downloaded."""

_LEVEL: Final = 6
"""Of the compression: 9 takes four times as long, and makes an archive 0.7 % smaller."""

_UNUSED: Final = frozenset({"setuptools"})
"""What builds wheels, and is in the lock file for that alone."""


class Platform(NamedTuple):
    """A platform by its names in Krew and in uv; libraries of Linux need glibc 2.28, those of macOS version 13."""

    os: str
    arch: str
    target: str

    @property
    def name(self) -> str:
        """As people write it, such as ``linux/amd64``."""
        return f"{self.os}/{self.arch}"

    def file(self, version: str) -> str:
        """The name of its archive."""
        return f"streams-placement-{version}-{self.os}-{self.arch}.tar.gz"


PLATFORMS: Final = (
    Platform("linux", "amd64", "x86_64-manylinux_2_28"),
    Platform("linux", "arm64", "aarch64-manylinux_2_28"),
    Platform("darwin", "arm64", "aarch64-apple-darwin"),
)
"""The platforms that there are archives for."""


def make_archive(folder: Path, platform: Platform, wheel: Path, path: Path, pythons: Sequence[str] = PYTHONS) -> None:
    """Write the archive to ``path``; ``folder``, which is empty, gets what is in it."""
    for version in pythons:
        install(folder / "lib" / tag(version), platform, version, wheel)
    share(folder / "lib", [tag(version) for version in pythons])
    launcher = folder / PROGRAM
    shutil.copyfile(Path(__file__).with_name("launcher.py"), launcher)
    shutil.copyfile(REPOSITORY / "LICENSE", folder / "LICENSE")
    path.write_bytes(packed(folder))


def tag(version: str) -> str:
    """The name of the folder of a version: ``cp312`` for 3.12."""
    return f"cp{version.replace('.', '')}"


def install(folder: Path, platform: Platform, version: str, wheel: Path) -> None:
    """Install the libraries of the lock file, and the wheel, for that version of Python on that platform."""
    uv = Path(sys.executable).with_name("uv")
    where = ("--target", str(folder), "--python-version", version, "--python-platform", platform.target)
    how = ("--quiet", "--only-binary", ":all:", "--no-deps", "--link-mode", "copy")
    for what in (("--require-hashes", "--requirement", str(LOCK)), (str(wheel),)):
        command = (str(uv), "pip", "install", *where, *how, *what)
        subprocess.run(command, check=True, timeout=_INSTALL_SECONDS)  # noqa: S603 -- uv, without a shell
    for name in ("bin", ".lock"):
        target = folder / name
        shutil.rmtree(target) if target.is_dir() else target.unlink(missing_ok=True)


class Distribution(NamedTuple):
    """A library in a folder: its name and version, its files, and whether any version of Python can use it."""

    name: str
    files: tuple[str, ...]
    any_python: bool


def distributions(folder: Path) -> Iterator[Distribution]:
    """The libraries that are installed in a folder."""
    for info in sorted(folder.glob("*.dist-info")):
        tags = HeaderParser().parsestr((info / "WHEEL").read_text()).get_all("Tag", [])
        recorded = (line.rsplit(",", 2)[0].strip('"') for line in (info / "RECORD").read_text().splitlines())
        files = tuple(sorted(name for name in recorded if (folder / name).is_file() and not name.startswith("..")))
        usable = any(python == "py3" or abi == "abi3" for python, abi, _ in (each.split("-", 2) for each in tags))
        yield Distribution(info.name.removesuffix(".dist-info"), files, usable)


def share(libraries: Path, tags: Sequence[str]) -> None:
    """Keep what any version of Python can use once, in ``common``; forget what is not used."""
    shared = {
        library.name
        for library in distributions(libraries / tags[0])
        if library.any_python and len({_wheel(libraries / each, library.name) for each in tags}) == 1
    }
    for folder in (libraries / each for each in tags):
        for library in list(distributions(folder)):
            if library.name.rpartition("-")[0] in _UNUSED:
                _remove(folder, library.files)
            elif library.name in shared:
                _move(folder, libraries / "common", library.files)
    for path in sorted(libraries.rglob("*"), reverse=True):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def _wheel(folder: Path, name: str) -> str:
    """What the library in the folder was made from; empty if it is not there."""
    path = folder / f"{name}.dist-info" / "WHEEL"
    return path.read_text() if path.exists() else ""


def _move(folder: Path, target: Path, files: Iterable[str]) -> None:
    for file in files:
        (target / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).replace(target / file)


def _remove(folder: Path, files: Iterable[str]) -> None:
    for file in files:
        (folder / file).unlink()


def packed(folder: Path) -> bytes:
    """The folder as a ``.tar.gz``."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
            entry = tarfile.TarInfo(path.relative_to(folder).as_posix())
            entry.size = path.stat().st_size
            entry.mode = 0o755 if path.name == PROGRAM else 0o644
            with path.open("rb") as file:
                archive.addfile(entry, file)
    return gzip.compress(plain.getvalue(), _LEVEL, mtime=0)
