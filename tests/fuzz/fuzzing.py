"""Fuzzes one target under atheris: ``python -m tests.fuzz.fuzzing NAME CORPUS FOUND``, and flags of libFuzzer.

An input that shows a defect is kept in the folder FOUND, once for each place in the code, and fuzzing goes on.
"""

import hashlib
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Final

import atheris

from tests.fuzz import second_opinion

with atheris.instrument_imports(include=["webhook", "kubeapi"]):
    from tests.fuzz.target import Target
    from tests.fuzz.targets import TARGETS

PROGRAM: Final = "SECOND_OPINION"
"""The variable with the path of the program that gives second opinions; without it there is none."""

_TRIALS: Final = 2000
"""Shorter inputs that are tried to make a finding small."""


class _Finder:
    """Checks inputs, and keeps those of which something does not hold."""

    def __init__(self, target: Target, folder: Path) -> None:
        self.target = target
        self.folder = folder
        self.known: set[str] = set()

    def __call__(self, data: bytes) -> None:
        place = self._fault(data)
        if place is None or place in self.known:
            return
        self.known.add(place)
        small = self._smaller(data, place)
        path = self.folder / hashlib.sha256(small).hexdigest()[:12]
        path.write_bytes(small)
        try:
            self.target.tried(small)
        except Exception:  # noqa: BLE001 -- whatever it is, it is shown
            trace = "".join(traceback.format_exc().splitlines(keepends=True)[-14:])
            sys.stderr.write(f"\nFOUND {self.target.name} {path}\n{small[:600]!r}\n{trace}\n")

    def _fault(self, data: bytes) -> str | None:
        """Where in the code an input shows a defect; ``None`` if it shows none."""
        try:
            self.target.tried(data)
        except Exception as error:  # noqa: BLE001 -- nothing that a stranger sends may raise
            frame = traceback.extract_tb(error.__traceback__)[-1]
            return f"{type(error).__name__} {frame.filename}:{frame.lineno}"
        return None

    def _smaller(self, data: bytes, place: str) -> bytes:
        """A part of the input that shows the same."""
        size, trials = max(1, len(data) // 2), _TRIALS
        while size and trials > 0:
            begin = 0
            while begin < len(data) and trials > 0:
                trials -= 1
                rest = data[:begin] + data[begin + size :]
                if self._fault(rest) == place:
                    data = rest
                else:
                    begin += size
            size //= 2
        return data


def main(name: str, corpus: str, found: str, *flags: str) -> None:
    """Fuzz the target until the flags say stop; does not return."""
    target = TARGETS[name]
    if program := os.environ.get(PROGRAM):
        second_opinion.begin(Path(program))
    atheris.Setup(
        [sys.argv[0], *flags, f"-max_len={target.size}", corpus],
        _Finder(target, Path(found)),
        **({} if target.changed is None else {"custom_mutator": _mutator(target)}),
    )
    atheris.Fuzz()


def _mutator(target: Target) -> Callable[[bytes, int, int], bytes]:
    """Changes inputs by the target's own means, and one in four as bytes."""

    def mutated(data: bytes, most: int, seed: int) -> bytes:
        changed = target.changed(data, most, seed) if target.changed and seed % 4 else None
        return atheris.Mutate(data, most) if changed is None else changed

    return mutated


if __name__ == "__main__":
    main(*sys.argv[1:])
