"""What of the standard library is needed: what is loaded, and what any code imports, wherever it does."""

import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from tools.image.standard_library import DEVELOPERS, import_statements, modules, needed

pytestmark = pytest.mark.untraced

SYSCONFIG = "_sysconfigdata__linux_x86_64-linux-gnu"
NATIVE = EXTENSION_SUFFIXES[0]


@pytest.fixture
def library(tmp_path: Path) -> dict[str, Path]:
    """A small library, some of whose modules nothing imports."""
    sources = {
        "loaded.py": "",
        "top.py": "import deep.inner",
        "late.py": "from deep import lazy",
        "deep/__init__.py": "",
        "deep/inner.py": "from . import sibling\nfrom .sibling import name",
        "deep/sibling.py": "",
        "deep/lazy.py": "",
        "deep/unused.py": "",
        "from_c.py": "",
        "unused.py": "",
        "pdb.py": "import unused",
        "encodings/__init__.py": "",
        "encodings/latin_1.py": "",
        "_sysconfigdata__linux_x86_64-linux-gnu.py": "",
        "3rd.py": "",
        "site-packages/other.py": "",
        "lib-dynload/other.py": "",
        "text.txt": "",
    }
    for name, text in sources.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / f"native{NATIVE}").write_bytes(b"\x7fELF\0from_c\0unusedly\0")
    return modules(tmp_path)


def test_modules_have_their_full_names(library: dict[str, Path]) -> None:
    assert set(library) == {
        *("loaded", "top", "late", "deep", "deep.inner", "deep.sibling", "deep.lazy", "deep.unused"),
        *("from_c", "unused", "pdb", "native", "encodings", "encodings.latin_1", SYSCONFIG),
    }


def test_what_is_loaded_or_imported_anywhere_is_needed(library: dict[str, Path], tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import top, pdb\ndef run():\n    import late\n    if run: import native.part\n")
    always = {"encodings", "encodings.latin_1", SYSCONFIG}
    assert needed(library, {"program": program}, ["loaded", "sys"]) == always | {
        *("loaded", "top", "late", "deep", "deep.inner", "deep.sibling", "deep.lazy", "native", "from_c"),
    }
    assert needed(library, {}, []) == always


def test_relative_imports_count_from_the_package(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("from . import a\nfrom .b import c\nfrom .. import d\nfrom ..e.f import g\n")
    read = list(import_statements("one.two.module", path))
    assert read == [("one.two", ("a",)), ("one.two.b", ("c",)), ("one", ("d",)), ("one.e.f", ("g",))]
    package = tmp_path / "__init__.py"
    package.write_text("from . import a\nfrom .. import b\n")
    assert list(import_statements("one.two", package)) == [("one.two", ("a",)), ("one", ("b",))]


def test_imports_are_read_in_every_block(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(
        "try:\n    import a\nexcept ImportError:\n    import b\nelse:\n    import c\nfinally:\n    import d\n"
        "match 1:\n    case 1:\n        import e\nwith open(0):\n    import f\n"
        "class A:\n    async def run(self):\n        while 0:\n            import g\n"
        "        else:\n            import h\n"
    )
    assert {name for name, _ in import_statements("module", path)} == set("abcdefgh")


def test_what_is_for_developers_is_of_the_standard_library() -> None:
    """Python does not list its own tests, and has ``_pyrepl`` since 3.13."""
    assert DEVELOPERS - sys.stdlib_module_names <= {"test", "_testcapi", "_pyrepl"}
