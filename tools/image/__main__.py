"""``python -m tools.image ROOT``: make the file system of the image in a folder that is empty or is not there.

The Python that runs it is that of the programs: its libraries, the part of the standard library that they need, the
shared libraries of both, certificates of authorities, time zones, and the packages of Debian that all this is of.
"""

import py_compile
import ssl
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Final

from tools.image import debian, shared_libraries, standard_library
from tools.image.root import Root
from tools.image.self_check import OWN

_CONTENT: Final = py_compile.PycInvalidationMode.UNCHECKED_HASH
"""Layers need not keep times of files, and nothing changes in an image."""

_SYSTEM: Final = ("/etc/nsswitch.conf", "/etc/ld.so.cache")
"""How names of hosts are looked up, and where the loader finds the library of Python."""

_ZONES: Final = Path("/usr/share/zoneinfo")
"""For selectors of devices, whose functions for time take the name of a zone."""

_LOADED: Final = "import sys; from tools.image.self_check import import_all; import_all(); print(*sys.modules)"


def main(folder: str) -> None:
    """Make the file system, and say what it takes."""
    root = Root(Path(folder))
    python = Path(sys.executable)
    packages = Path(sysconfig.get_path("purelib"))
    add_programs(root, python, packages)
    native = add_standard_library(root, packages)
    native |= {path for path in packages.rglob("*.so*") if path.is_file()}
    for library in sorted(shared_libraries.needed(python, native)):
        root.add(library)
    add_system(root)
    root.add_accounts()
    names = debian.add_packages(root)
    size = sum(path.stat().st_size for path in root.folder.rglob("*") if path.is_file() and not path.is_symlink())
    sys.stdout.write(f"{size:,} bytes; of Debian: {' '.join(names)}\n")


def add_programs(root: Root, python: Path, packages: Path) -> None:
    """Python, the programs' commands, and the libraries; those of others only compiled."""
    root.add(python)
    for name in ("streams-placement", "streams-placement-certs"):
        if (python.parent / name).exists():
            root.add(python.parent / name)
    root.add_tree(packages.parents[2], lambda path: path == packages.parents[2] / "pyvenv.cfg")
    root.add_tree(packages, lambda path: path.suffix not in {".py", ".pyc"} and path.name != "RECORD")
    for path in sorted(packages.rglob("*.py")):
        add_module(root, path, source=path.relative_to(packages).parts[0] in OWN)


def add_standard_library(root: Root, packages: Path) -> set[Path]:
    """The modules of the standard library that the programs need; returns those that are extensions."""
    folder = Path(sysconfig.get_path("stdlib"))
    library = standard_library.modules(folder) | standard_library.modules(folder / "lib-dynload")
    command = [sys.executable, "-c", _LOADED]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=600)  # noqa: S603 -- ourselves
    native = set[Path]()
    for name in standard_library.needed(library, standard_library.modules(packages), done.stdout.split()):
        path = library[name]
        if path.suffix == ".py":
            add_module(root, path, source=False)
        else:
            root.add(path)
            native.add(path)
    # By these two folders the interpreter recognizes where its library is.
    root.at(folder / "lib-dynload" / "_").parent.mkdir(parents=True, exist_ok=True)
    return native


def add_module(root: Root, path: Path, *, source: bool) -> None:
    """A compiled module, with its source or in its place. Both name the same file and line in a traceback."""
    compiled = root.at(path.with_suffix(".pyc"))
    if source:
        copy = root.add(path)
        compiled = copy.parent / "__pycache__" / f"{path.stem}.{sys.implementation.cache_tag}.pyc"
    py_compile.compile(str(path), str(compiled), str(path), doraise=True, invalidation_mode=_CONTENT)


def add_system(root: Root) -> None:
    """Certificates of authorities and settings of TLS, where the library looks for them; names of hosts; time zones."""
    paths = ssl.get_default_verify_paths()
    defaults = Path(paths.openssl_cafile).parent / "openssl.cnf"
    for path in (Path(paths.openssl_cafile), defaults, *map(Path, _SYSTEM)):
        root.add(path)
    root.add_tree(_ZONES)


if __name__ == "__main__":
    main(*sys.argv[1:])
