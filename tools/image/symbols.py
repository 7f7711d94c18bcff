"""Cut from compiled libraries what only debuggers read: their tables of symbols, and lines of sources.

``python -m tools.image.symbols FOLDER`` does it to all in the folder and says how many bytes are gone. The Dockerfile
runs it, since the base of the image has no ``strip``. What a loader maps into memory stays where it is, with the
headers of its sections.
"""

import struct
import sys
from pathlib import Path
from typing import Final, NamedTuple

_MAGIC: Final = b"\x7fELF\x02"
"""An ELF file of 64 bits, which all libraries of the image are."""
_ORDERS: Final = {1: "<", 2: ">"}
"""The order of bytes, by the sixth byte of the file."""
_OFFSETS: Final = slice(32, 48)
"""Where a file says at which bytes the headers of its segments and of its sections are."""
_COUNTS: Final = slice(54, 64)
"""Where it says of both how long each is and how many there are, and which section has the names of sections."""
_SECTION: Final = "IIQQQQIIQQ"
"""Name, type, flags, address, offset, size, and four that stay as they are."""
_ALLOCATED: Final = 2
"""The flag of sections that are mapped into memory."""
_NO_BITS: Final = 8
"""The type of sections that have no bytes in the file."""


class _Headers(NamedTuple):
    order: str
    segments: int
    sections: int
    segment_size: int
    segment_count: int
    section_size: int
    section_count: int
    names: int


def is_library(data: bytes) -> bool:
    """Whether these are the bytes of an ELF file of 64 bits: a library, an extension or a program."""
    return data.startswith(_MAGIC)


def without_symbols(data: bytes) -> bytes:
    """The library without its symbols; the same bytes if it is no ELF file of 64 bits, or has none to cut."""
    if not is_library(data):
        return data
    order = _ORDERS[data[5]]
    counts = struct.unpack(order + "5H", data[_COUNTS])
    headers = _Headers(order, *struct.unpack(order + "2Q", data[_OFFSETS]), *counts)
    sections = _sections(data, headers)
    end = max([_segments_end(data, headers), *(_end(each) for each in sections if each[2] & _ALLOCATED)])
    kept = bytearray(data[:end])
    names = sections[headers.names]
    table = [each if each[2] & _ALLOCATED else (0,) * len(each) for each in sections]
    table[headers.names] = (*names[:4], len(kept), *names[5:])
    kept += data[names[4] : _end(names)]
    kept += bytes(-len(kept) % 8)
    kept[40:48] = struct.pack(order + "Q", len(kept))
    for each in table:
        kept += struct.pack(order + _SECTION, *each)
    return bytes(kept) if len(kept) < len(data) else data


def _sections(data: bytes, headers: _Headers) -> list[tuple[int, ...]]:
    size = headers.section_size * headers.section_count
    return list(struct.iter_unpack(headers.order + _SECTION, data[headers.sections : headers.sections + size]))


def _end(section: tuple[int, ...]) -> int:
    return 0 if section[1] == _NO_BITS else section[4] + section[5]


def _segments_end(data: bytes, headers: _Headers) -> int:
    """Behind the last byte of the file that a loader reads, the headers of segments among them."""
    size = headers.segment_size * headers.segment_count
    table = data[headers.segments : headers.segments + size]
    ends: list[int] = [
        offset + length for _, _, offset, _, _, length, _, _ in struct.iter_unpack(headers.order + "2I6Q", table)
    ]
    return max(headers.segments + size, *ends)


def main(folder: str) -> None:
    """Cut the symbols of every library in the folder."""
    gone = 0
    for path in sorted(Path(folder).rglob("*.so*")):
        data = path.read_bytes()
        cut = without_symbols(data)
        if len(cut) < len(data):
            path.write_bytes(cut)
            gone += len(data) - len(cut)
    sys.stdout.write(f"symbols of {gone:,} bytes are cut\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
