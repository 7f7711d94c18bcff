"""Shared libraries are those that the loader of the program finds, and one that it does not find is an error."""

import shutil
import sys
from pathlib import Path

import pytest

from tools.image.shared_libraries import MissingLibraryError, loader, needed

pytestmark = [
    pytest.mark.untraced,
    pytest.mark.skipif(sys.platform != "linux", reason="other systems have other loaders"),
]

PYTHON = Path(sys.executable)


def test_the_loader_is_the_one_that_the_program_names() -> None:
    assert loader(PYTHON).name.startswith("ld-")
    assert loader(PYTHON).exists()


@pytest.mark.parametrize("data", [b"#!/bin/sh\n", b"\x7fELF\x02\x01" + bytes(58)], ids=["script", "no segments"])
def test_a_file_without_a_loader_is_no_program(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(ValueError, match="is no dynamic program for 64 bits"):
        loader(tmp_path / "file")


def test_libraries_of_a_module_come_with_those_of_the_program() -> None:
    import highspy  # noqa: PLC0415 -- its module finds its library beside itself

    folder = Path(highspy.__file__).parent
    alone = needed(PYTHON, [])
    both = needed(PYTHON, [next(folder.glob("_core*.so"))])
    assert loader(PYTHON) in alone
    assert {path.name.partition(".")[0] for path in alone} >= {"libc"}
    assert alone < both
    assert any(path.name.startswith("libhighs.so") for path in both)
    assert all(path.is_absolute() and path.exists() for path in both)


def test_a_library_that_is_not_found_is_an_error(tmp_path: Path) -> None:
    import highspy  # noqa: PLC0415 -- see above

    copy = shutil.copy(next(Path(highspy.__file__).parent.glob("_core*.so")), tmp_path)
    with pytest.raises(MissingLibraryError, match=r"_core.*\.so: error .* libhighs\.so\.1: cannot open"):
        needed(PYTHON, [Path(copy)])
    (tmp_path / "broken.so").write_bytes(b"nothing")
    with pytest.raises(MissingLibraryError, match="broken.so: "):
        needed(PYTHON, [tmp_path / "broken.so"])
