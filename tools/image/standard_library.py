"""Which modules of the standard library the programs need: what is loaded, and what is imported anywhere in the code.

An import inside a function counts, and so does a name in a compiled extension that is a module's: C code imports
when it needs something. Codecs are imported by their names, so all are needed.
"""

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Final

DEVELOPERS: Final = frozenset(
    {
        "_curses",
        "_pyrepl",
        "_testcapi",
        "code",
        "curses",
        "doctest",
        "ensurepip",
        "idlelib",
        "pdb",
        "pydoc",
        "pydoc_data",
        "readline",
        "rlcompleter",
        "test",
        "tkinter",
        "turtle",
        "turtledemo",
        "unittest",
        "venv",
        "webbrowser",
    }
)
"""What the library has for who develops or sits at a prompt: parts of it import each other, as ``help()`` does."""

_ALWAYS: Final = frozenset(
    {
        "_pylong",  # arithmetic of the interpreter with very large numbers
        "_strptime",  # time.strptime
        "collections.abc",
        "encodings",
        "io",
        "linecache",  # tracebacks
        "runpy",  # python -m
        "site",
        "threading",  # the end of the interpreter
        "traceback",
        "warnings",
    }
)
"""What the interpreter imports from C, whichever program it runs."""

_DATA: Final = re.compile(r"_sysconfigdata_.*|encodings\..*")
"""Modules that are imported by a name that is put together: how Python was built, and codecs."""

_BLOCKS: Final = ("body", "orelse", "handlers", "finalbody", "cases")
"""Fields of a statement, an ``except`` or a ``case`` with statements in them."""

_C_STRING: Final = re.compile(rb"(?<=\0)[A-Za-z_][\w.]{2,60}(?=\0)", re.ASCII)


def modules(folder: Path) -> dict[str, Path]:
    """The modules below a folder of the search path, by their full names; libraries in ``site-packages`` are none."""
    named = dict[str, Path]()
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        name = _module_name(path)
        if name and not {"site-packages", "lib-dynload"} & set(parts):
            package = parts[:-1] if name == "__init__" else (*parts[:-1], name)
            # What Python keeps of its own build has hyphens in its name.
            if all(part.replace("-", "_").isidentifier() for part in package):
                named[".".join(package)] = path
    return named


def _module_name(path: Path) -> str:
    for suffix in (".py", *EXTENSION_SUFFIXES):
        if path.name.endswith(suffix):
            return path.name.removesuffix(suffix)
    return ""


def needed(library: Mapping[str, Path], programs: Mapping[str, Path], loaded: Collection[str]) -> set[str]:
    """The names out of ``library`` that the modules of ``programs`` need, with what those modules need in turn.

    ``loaded`` are modules that are there once everything is imported. Nothing that is for developers is among them.
    """
    start = {name for name in library if name in _ALWAYS or name in loaded or _DATA.fullmatch(name)}
    known = set[str]()
    waiting = list(start)
    for name, path in programs.items():
        waiting += _imports(name, path)
    while waiting:
        for name in _with_packages(waiting.pop()):
            if name in library and name not in known and name.partition(".")[0] not in DEVELOPERS:
                known.add(name)
                waiting += _imports(name, library[name])
    return known


def _with_packages(name: str) -> Iterator[str]:
    while name:
        yield name
        name = name.rpartition(".")[0]


def _imports(name: str, path: Path) -> Iterable[str]:
    """Every name that the code of a module may import; most are names in a module, and few of them modules."""
    if path.suffix != ".py":
        return {each.decode() for each in _C_STRING.findall(path.read_bytes())}
    return {
        each
        for base, names in import_statements(name, path)
        for each in (base, *(f"{base}.{member}" for member in names))
    }


def import_statements(name: str, path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The modules that the source of a module imports from, anywhere in it, by their full names, and what of them."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in _statements(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from ((each.name, ()) for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*parents, *([node.module] if node.module else [])])
            yield base, tuple(each.name for each in node.names)


def _statements(module: ast.Module) -> Iterator[ast.AST]:
    """All statements of a module, without their expressions, in which nothing is imported."""
    level: list[ast.AST] = [module]
    while level:
        yield from level
        level = [inner for node in level for field in _BLOCKS for inner in getattr(node, field, ())]
