"""Symbols of libraries are cut; what is mapped into memory stays where it was, and what is no library as it is."""

import struct
import sys
from pathlib import Path

import pytest

from tools.image.symbols import main, without_symbols

pytestmark = pytest.mark.untraced

TEXT = b"machine code"
SYMBOLS = b"s" * 5000
NAMES = b"\0.text\0.bss\0.symtab\0.shstrtab\0"
SECTION = "IIQQQQIIQQ"


def library(order: str, symbols: bytes = SYMBOLS) -> bytes:
    """An ELF file of one segment and of sections with code, with no bytes, with symbols and with names."""
    magic = b"\x7fELF\x02" + (b"\x01" if order == "<" else b"\x02")
    head = struct.pack(order + "16sHHIQQQIHHHHHH", magic, 3, 62, 1, 0, 64, 0, 0, 64, 56, 1, 64, 5, 4)
    segment = struct.pack(order + "2I6Q", 1, 5, 0, 0, 0, 120 + len(TEXT), 120 + len(TEXT), 4096)
    symbols_at = 120 + len(TEXT)
    names_at = symbols_at + len(symbols)
    table_at = names_at + len(NAMES)
    table = (
        (0,) * 10,
        (1, 1, 2, 120, 120, len(TEXT), 0, 0, 1, 0),
        (7, 8, 2, 8192, 10**9, 4096, 0, 0, 1, 0),
        (12, 2, 0, 0, symbols_at, len(symbols), 4, 0, 8, 24),
        (20, 3, 0, 0, names_at, len(NAMES), 0, 0, 1, 0),
    )
    head = head[:40] + struct.pack(order + "Q", table_at) + head[48:]
    return head + segment + TEXT + symbols + NAMES + b"".join(struct.pack(order + SECTION, *each) for each in table)


@pytest.mark.parametrize("order", ["<", ">"])
def test_symbols_are_cut_and_what_is_mapped_stays(order: str) -> None:
    whole = library(order)
    cut = without_symbols(whole)
    assert len(cut) < len(whole) - len(SYMBOLS) + 8
    assert SYMBOLS not in cut
    assert cut[:40] == whole[:40]
    assert cut[48 : 120 + len(TEXT)] == whole[48 : 120 + len(TEXT)]
    (table_at,) = struct.unpack(order + "Q", cut[40:48])
    _, text, empty, symbols, names = struct.iter_unpack(order + SECTION, cut[table_at:])
    assert text == (1, 1, 2, 120, 120, len(TEXT), 0, 0, 1, 0)
    assert empty == (7, 8, 2, 8192, 10**9, 4096, 0, 0, 1, 0)
    assert symbols == (0,) * 10
    assert cut[names[4] : names[4] + names[5]] == NAMES
    assert without_symbols(cut) == cut


@pytest.mark.parametrize(
    "data", [b"", b"#!/bin/sh\n", b"\x7fELF\x01\x01" + bytes(200)], ids=["empty", "script", "32 bits"]
)
def test_other_files_stay_as_they_are(data: bytes) -> None:
    assert without_symbols(data) == data


def test_a_library_without_symbols_stays_as_it_is() -> None:
    assert without_symbols(library("<", b"")) == library("<", b"")


def test_the_command_cuts_all_libraries_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "deep").mkdir()
    names = {"a.so": library("<"), "deep/b.so.1": library("<"), "deep/c.so": library("<", b""), "d.txt": library("<")}
    for name, data in names.items():
        (tmp_path / name).write_bytes(data)
    main(str(tmp_path))
    left = {name: len((tmp_path / name).read_bytes()) for name in names}
    gone = {name: len(data) - left[name] for name, data in names.items()}
    assert gone["a.so"] == gone["deep/b.so.1"] >= len(SYMBOLS) - 8
    assert gone["deep/c.so"] == gone["d.txt"] == 0
    assert capsys.readouterr().out == f"symbols of {2 * gone['a.so']:,} bytes are cut\n"


@pytest.mark.skipif(sys.platform != "linux", reason="libraries of other systems have other formats")
def test_a_real_library_keeps_what_a_loader_reads() -> None:
    import uvloop.loop as real  # noqa: PLC0415 -- Windows has none

    whole = Path(real.__file__).read_bytes()
    cut = without_symbols(whole)
    assert len(cut) < len(whole) / 2
    assert whole.startswith(cut[:40])
    assert whole[48:].startswith(cut[48 : len(cut) // 2])
