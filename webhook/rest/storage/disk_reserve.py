"""``DiskReserve``: space of a disk that is kept back, so that something can still be deleted when the disk is full.

Deleting a row takes space first: SQLite writes the changed pages to its log. The reserve is a file of zeros beside the
store, which is cut when space is needed and filled again when there is some. All processes that use the store share it.
"""

import os
from pathlib import Path
from typing import Final

SIZE: Final = 8 << 20
"""Bytes of the reserve: SQLite's log has 4 MiB before it is copied into the file, which may have to grow by as much."""

ROOM: Final = 1 << 20
"""Bytes that must be free beside the reserve for a disk not to count as full: twice the largest intent."""

_PIECE: Final = 256 << 10


class DiskReserve:
    """The reserve of the store at ``store``: a file of ``size`` bytes with the ending ``-reserve``."""

    def __init__(self, store: Path, size: int = SIZE) -> None:
        self._path = store.with_name(f"{store.name}-reserve")
        self._size = size

    def take(self) -> bool:
        """Fill the reserve as far as the disk has space; returns whether it is full and space remains beside it."""
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return False
        try:
            room = _filled(file, self._size + ROOM)
            os.ftruncate(file, min(room, self._size))
        except OSError:  # of the disk: the thread that makes all changes must go on
            return False
        finally:
            os.close(file)
        return room == self._size + ROOM

    def give(self) -> bool:
        """Give half of the reserve back to the disk; returns whether there was something to give."""
        try:
            size = self._path.stat().st_size
            if size:
                os.truncate(self._path, size // 2 if size > _PIECE else 0)
        except OSError:
            return False
        return size > 0


def _filled(file: int, size: int) -> int:
    """Write zeros behind the end of the file until it has ``size`` bytes, or cannot grow; returns how many it has."""
    end = os.fstat(file).st_size
    while end < size:
        try:
            end += os.pwrite(file, bytes(min(_PIECE, size - end)), end)
        except OSError:
            break
    return end
