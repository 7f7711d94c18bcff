"""What a target of fuzzing is, and the bounds on time and memory that each of its inputs has to keep."""

import dataclasses
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

FOUND: Final = Path(__file__).with_name("found")
"""Inputs that once showed a defect, in a folder for each target."""

_PUMPED_OF: Final = 64
"""One input of so many is tried once more with a part of it repeated, and its memory is measured."""

_BASE_SECONDS: Final = 0.5
"""Processor time that any input may take, on a slow machine and with the code under measurement."""
_BASE_BYTES: Final = 16 * 1024 * 1024
_BYTES_PER_BYTE: Final = 2048
"""Memory for each byte of an input: a YAML list of empty lists takes some hundred bytes for each of its brackets."""
_TRIES: Final = 3
"""The shortest of so many times counts: a busy machine makes some of them longer."""


class TooMuchError(AssertionError):
    """An input takes more time or memory than its length allows."""


@dataclasses.dataclass(frozen=True, slots=True)
class Target:
    """One parser.

    ``check`` raises for an input of which something does not hold. ``seeds`` are inputs to begin with, ``words`` parts
    that inputs are made of. ``size`` is the most bytes of an input, ``pumped`` to how many bytes parts are repeated,
    ``micros`` the microseconds of processor time that each byte may take.
    ``changed`` changes an input as bytes alone would hardly change: it gets the most bytes, and a number to choose by.
    """

    name: str
    check: Callable[[bytes], None]
    seeds: Callable[[], Iterable[bytes]]
    words: tuple[str, ...] = ()
    size: int = 4096
    pumped: int = 8 * 1024
    micros: float = 50.0
    changed: Callable[[bytes, int, int], bytes | None] | None = None

    @property
    def found(self) -> list[Path]:
        """Inputs that once showed a defect."""
        return sorted((FOUND / self.name).glob("*"))

    def tried(self, data: bytes) -> None:
        """Check the input, its time and, of some inputs, also memory and an input with a part repeated."""
        self._timed(data)
        mark = zlib.crc32(data)
        if mark % _PUMPED_OF == 0:
            self._measured(data)
            self._timed(pumped(data, mark, self.pumped))

    def _timed(self, data: bytes) -> None:
        allowed = _BASE_SECONDS + self.micros * len(data) / 1e6
        seconds = float("inf")
        for _ in range(_TRIES):
            started = time.process_time()
            try:
                self.check(data)
            except AssertionError as error:
                error.add_note(f"input: {data[:400]!r}")
                raise
            seconds = min(seconds, time.process_time() - started)
            if seconds <= allowed:
                return
        raise TooMuchError(f"{self.name}: {len(data)} bytes take {seconds:.2f} s, allowed are {allowed:.2f} s")

    def _measured(self, data: bytes) -> None:
        allowed = _BASE_BYTES + _BYTES_PER_BYTE * len(data)
        tracemalloc.start()
        try:
            self.check(data)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        if peak > allowed:
            raise TooMuchError(f"{self.name}: {len(data)} bytes take {peak} bytes of memory, allowed are {allowed}")


def pumped(data: bytes, mark: int, size: int) -> bytes:
    """The input with one part repeated until it has ``size`` bytes; ``mark`` says which part."""
    if not data or len(data) >= size:
        return data
    begin = (mark >> 8) % len(data)
    part = data[begin : begin + 1 + (mark >> 20) % 12]
    return data[:begin] + part * ((size - len(data)) // len(part)) + data[begin:]
