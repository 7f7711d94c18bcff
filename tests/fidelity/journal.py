"""``Journal``: one line of JSON for each scenario that was played, so that a long run can go on where it ended."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Protocol

from tests.fidelity.comparison import WRONG, FidelityResult

AT_FIRST: Final = "at first "
"""What the reason of a scenario starts with that was wrong, and was not when it was played again by itself."""


@dataclass(frozen=True)
class JournalEntry:
    """A scenario that was played; ``manifest`` is the file with the smallest one that is wrong in the same way.

    ``seconds`` is its share of the time that it took to play it beside others.
    """

    seed: int
    number: int
    kind: str
    families: tuple[str, ...]
    admitted: bool
    outcome: str
    why: str = ""
    manifest: str = ""
    seconds: float = 0.0


class Played(Protocol):
    """A scenario, of whatever it is."""

    @property
    def number(self) -> int:
        """By which it is found again."""
        ...

    @property
    def kind(self) -> str:
        """``job``, ``workload`` or ``pod``."""
        ...

    def families(self) -> frozenset[str]:
        """What it has something of."""
        ...


def entry(seed: int, scenario: Played, result: FidelityResult, *, admitted: bool, seconds: float = 0.0) -> JournalEntry:
    """The entry of a scenario; why is only kept of what is wrong."""
    return JournalEntry(
        seed,
        scenario.number,
        scenario.kind,
        tuple(sorted(scenario.families())),
        admitted,
        result.outcome,
        result.why if result.outcome in WRONG else "",
        seconds=round(seconds, 3),
    )


class Journal:
    """The entries of a file, which may be missing; without a file they are only kept."""

    def __init__(self, file: Path | None, seed: int) -> None:
        self._file = file
        self.entries: dict[int, JournalEntry] = {}
        lines = file.read_text().splitlines() if file and file.exists() else ()
        for found in _read(lines):
            if found.seed == seed:
                self.entries[found.number] = found

    def add(self, entries: Iterable[JournalEntry]) -> None:
        """Write these down."""
        new = list(entries)
        self.entries |= {one.number: one for one in new}
        if self._file:
            with self._file.open("a") as lines:
                lines.writelines(json.dumps(asdict(one), separators=_PLAIN) + "\n" for one in new)

    @property
    def wrong(self) -> list[JournalEntry]:
        """The entries of scenarios about which verdict and play disagree, the worst first."""
        found = [one for one in self.entries.values() if one.outcome in WRONG]
        return sorted(found, key=lambda one: (WRONG.index(one.outcome), one.number))

    @property
    def passing(self) -> list[JournalEntry]:
        """The entries of scenarios that disagreed beside others, and not by themselves."""
        return sorted(
            (one for one in self.entries.values() if one.why.startswith(AT_FIRST)), key=lambda one: one.number
        )


_PLAIN: Final = (",", ":")


def _read(lines: Iterable[str]) -> Iterator[JournalEntry]:
    """The entries of the lines; the last line may have been cut off."""
    for line in lines:
        try:
            found = json.loads(line)
        except ValueError:
            continue
        yield JournalEntry(**{**found, "families": tuple(found["families"])})
