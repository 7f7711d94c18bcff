"""``python -m tools.image.self_check``: whether an image has all that its programs need, asked in the image itself.

Every module of the programs is imported, whatever else their code imports, and every compiled extension. The commands
run, and the tour asks a real server. An image with a shell or a package manager fails as well.
"""

import importlib
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tools.image.standard_library import import_statements, modules

OWN: Final = ("certs", "kubeapi", "webhook")
"""The packages of the programs. Their sources are in the image, so that tracebacks and profiles show lines."""

OPTIONAL: Final = frozenset({"mcp", "mcp_types"})
"""The modules of the extra ``mcp``, which the image does not have."""

_ABSENT: Final = ("sh", "bash", "dash", "busybox", "apt", "apt-get", "dpkg", "apk", "pip", "ld.so", "perl")
"""What an attacker would look for first."""

_COMMANDS: Final = (
    ("streams-placement", "--version"),
    ("streams-placement-certs", "--help"),
    ("streams-placement", "tour", "--all"),
)


def import_all() -> set[str]:
    """Import the programs' modules and what they import in functions; returns the names that were asked for."""
    asked = set[str]()
    for package in OWN:
        (folder,) = importlib.import_module(package).__path__
        for below, path in modules(Path(folder)).items():
            if not below.endswith("__main__"):
                name = f"{package}.{below}".removesuffix(".")
                asked |= {name, *(base for base, _ in import_statements(name, path))}
    import_each(asked)
    return asked


def import_each(names: Iterable[str]) -> None:
    """Import these modules in the order of their names; of those that are missing only optional ones are allowed."""
    for name in sorted(names):
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if str(error.name).partition(".")[0] not in OPTIONAL:
                raise


def import_extensions() -> list[str]:
    """Import every compiled extension on the search path, which loads its shared libraries; returns their names."""
    names = list[str]()
    for folder in map(Path, sys.path):
        for name, path in (modules(folder) if folder.is_dir() else {}).items():
            if path.suffix != ".py":
                importlib.import_module(name)
                names.append(name)
    return names


def shells(path: str | None = None) -> list[str]:
    """The programs on the search path that an image should not have."""
    return [name for name in _ABSENT if shutil.which(name, path=path)]


def main() -> None:
    """Check it all; raises the first error."""
    if found := shells():
        raise SystemExit(f"the image has {', '.join(found)}")
    count = len(import_all()) + len(import_extensions())
    for command in _COMMANDS:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=300)  # noqa: S603 -- ourselves
    sys.stdout.write(f"{count} modules are imported, {len(_COMMANDS)} commands run\n")


if __name__ == "__main__":
    main()
