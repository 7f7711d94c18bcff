"""Plays scenarios of one family on a control plane, many side by side."""

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Generic, NamedTuple, Protocol, TypeVar

from tests.e2e.progress import say
from tests.fidelity.comparison import WRONG, FidelityResult
from tests.fidelity.journal import AT_FIRST, Journal, JournalEntry, Played, entry
from tests.fidelity.report import summary


class ManifestedScenario(Played, Protocol):
    """A scenario that can be written as a file."""

    def manifest(self) -> str:
        """YAML of everything that it creates."""
        ...


class ScenarioEnd(NamedTuple):
    """A scenario, whether its object was admitted, and how that compares with what the scheduler did."""

    scenario: Played
    admitted: bool
    result: FidelityResult


Scenario = TypeVar("Scenario", bound=ManifestedScenario)


class ScenarioRun(ABC, Generic[Scenario]):
    """Scenarios of one seed on one control plane; ``journal`` has what came out of them."""

    family: ClassVar[str]
    """What progress calls the scenarios."""
    side_by_side: ClassVar[int] = 100
    """Scenarios that are played at a time."""
    not_again: ClassVar[frozenset[str]] = frozenset()
    """Outcomes of which another play says nothing."""

    def __init__(self, seed: int, journal: Journal) -> None:
        self.journal = journal
        self._seed = seed

    @abstractmethod
    def scenario(self, number: int) -> Scenario:
        """The scenario of that number."""

    @abstractmethod
    def ends(self, scenarios: Sequence[Scenario]) -> list[ScenarioEnd]:
        """What comes out of some scenarios, side by side."""

    def all(self, count: int, *, loud: bool = False) -> None:
        """Play those of the first so many scenarios that are not in the journal yet."""
        left = [number for number in range(count) if number not in self.journal.entries]
        for first in range(0, len(left), self.side_by_side):
            some = [self.scenario(number) for number in left[first : first + self.side_by_side]]
            began = time.monotonic()
            ends = self.ends(some)
            each = (time.monotonic() - began) / len(ends)
            self.journal.add(
                entry(self._seed, end.scenario, end.result, admitted=end.admitted, seconds=each) for end in ends
            )
            if loud:
                entries = [*self.journal.entries.values()]
                took = sum(one.seconds for one in entries)
                say(f"{self.family}: {len(entries)} of {count}, {took:.0f} s: {summary(entries)}")

    def again(self) -> None:
        """Play what disagrees once more, by itself: on a busy machine the scheduler may be later than a play waits."""
        for one in self.journal.wrong:
            if one.outcome in self.not_again:
                continue
            [end] = self.ends([self.scenario(one.number)])
            if end.result.outcome not in WRONG:
                why = f"{AT_FIRST}{one.outcome}: {one.why}"
                self.journal.add([replace(one, outcome=end.result.outcome, why=why)])

    def manifests(self, folder: Path) -> list[tuple[JournalEntry, Path]]:
        """A file for each disagreement."""
        files = []
        for one in self.journal.wrong:
            file = folder / f"{self.family}-{one.outcome.replace(' ', '-')}-{one.number}.yaml"
            file.write_text(f"# {one.outcome}: {one.why!r}\n{self.scenario(one.number).manifest()}")
            files.append((one, file))
        return files
