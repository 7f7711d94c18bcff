"""A stream cut into lines."""

from typing import Final

LIMIT: Final = 4 << 20
"""Bytes of a line: an object has at most 1.5 MiB in etcd, and its JSON may be longer than what is stored."""


class TooLongError(Exception):
    """A line has more than :data:`LIMIT` bytes."""


class Lines:
    """Chunks go in, whole lines come out; a chunk may begin and end anywhere."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that are whole now, without their ends; empty ones are left out."""
        *ended, rest = chunk.split(b"\n")
        found = []
        for piece in ended:
            self._take(piece)
            found.append(b"".join(self._parts))
            self._parts.clear()
            self._size = 0
        self._take(rest)
        return [line for line in found if line]

    def _take(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            raise TooLongError(f"a line is longer than {self._limit} bytes")
        if piece:
            self._parts.append(piece)
