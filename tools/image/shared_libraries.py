"""Which shared libraries a program and its extension modules load, by the loader that the program itself names."""

import struct
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tools.image.symbols import is_library

_INTERPRETER: Final = 3
"""The type of the segment that names the loader (``PT_INTERP``)."""


class MissingLibraryError(Exception):
    """A shared library is not found by the loader, so what needs it cannot be imported."""


def loader(program: Path) -> Path:
    """The loader that a program for 64 bits names; raises :class:`ValueError` for a program without one."""
    data = program.read_bytes()
    if is_library(data):
        order = "<" if data[5] == 1 else ">"
        (first,) = struct.unpack_from(order + "Q", data, 32)
        size, count = struct.unpack_from(order + "2H", data, 54)
        for number in range(count):
            kind, _, offset, _, _, length = struct.unpack_from(order + "2I4Q", data, first + number * size)
            if kind == _INTERPRETER:
                return Path(data[offset : offset + length].rstrip(b"\0").decode())
    raise ValueError(f"{program} is no dynamic program for 64 bits")


def needed(program: Path, modules: Iterable[Path]) -> set[Path]:
    """The loader and all libraries that it would load for the program and for each module, by the loader's own rules.

    Raises :class:`MissingLibraryError`, which names each file and what it misses.
    """
    ld, libraries, missing = loader(program), set[Path](), list[str]()
    libraries.add(ld)
    for path in (program, *sorted(modules)):
        done = subprocess.run([ld, "--list", path], capture_output=True, text=True, check=False, timeout=60)  # noqa: S603 -- the loader
        if done.returncode:
            missing.append(done.stderr.strip())
        for line in done.stdout.splitlines():
            name, arrow, target = (part.strip() for part in line.partition("=>"))
            if arrow or name.startswith("/"):
                libraries.add(Path((target or name).rpartition(" (")[0]))
    if missing:
        raise MissingLibraryError("\n".join(missing))
    return libraries
