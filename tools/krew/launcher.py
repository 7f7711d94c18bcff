#!/usr/bin/env python3
"""Runs streams-placement as a plugin of kubectl, with the libraries beside this file.

Those with compiled parts are there for certain versions of Python, each in a folder such as ``lib/cp312``. If the
Python that runs this file is none of them, one on the PATH is looked for. Any Python 3 can read this file.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

LIBRARIES = Path(__file__).resolve().parent / "lib"
"""Krew makes a link to this file; the libraries are where the file is."""

COMPILED_FOR_IT = sys.implementation.name == "cpython" and "t" not in getattr(sys, "abiflags", "")
"""Whether compiled parts fit this Python: they are for CPython, and not for its builds without the global lock."""

CHECK = """\
import sys
flags = getattr(sys, "abiflags", "")
sys.exit((sys.implementation.name, sys.version_info[:2], "t" in flags) != ("cpython", (3, {}), False))
"""
"""What a Python must be to run this file: an unsuitable one would look for a Python again, forever."""

NEEDED = "streams-placement: a Python of version {} is needed, and {} is {}: put one of them on the PATH\n"


def main() -> int:
    """Run the program; returns its exit code."""
    own = LIBRARIES / "cp{}{}".format(*sys.version_info[:2])
    if not own.is_dir() or not COMPILED_FOR_IT:
        return use_another()
    sys.path[:0] = [str(own), str(LIBRARIES / "common")]
    from webhook.cli import main as run  # noqa: PLC0415 -- it is found on the new path only

    return run()


def use_another() -> int:
    """Run this file again with another Python; returns 3 if there is none that fits."""
    versions = sorted((int(path.name[3:]) for path in LIBRARIES.glob("cp3*")), reverse=True)
    for minor in versions:
        program = shutil.which(f"python3.{minor}")
        if program is not None and is_python(program, minor):
            os.execv(program, [program, *sys.argv])  # noqa: S606 -- Python, without a shell
    listed = ", ".join(f"3.{minor}" for minor in versions[::-1])
    here = "{}.{}".format(*sys.version_info[:2])
    kind = "" if COMPILED_FOR_IT else ", but not CPython with the global lock"
    sys.stderr.write(NEEDED.format(listed, sys.executable, f"{here}{kind}"))
    return 3


def is_python(program: str, minor: int) -> bool:
    """Whether the program is that Python: pyenv has one for each version, most of which only say what to install."""
    nothing = subprocess.DEVNULL
    command = [program, "-c", CHECK.format(minor)]
    return subprocess.call(command, stdin=nothing, stdout=nothing, stderr=nothing) == 0  # noqa: S603 -- Python


if __name__ == "__main__":
    sys.exit(main())
