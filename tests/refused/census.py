"""How many random cases of a kind were refused, and what was found out about their refusals."""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

ROUNDS = 2
"""So many rounds of advice are enough."""


class Tried(Protocol):
    """A case that was made up, and is judged when it is asked about."""

    def refused(self) -> bool:
        """Whether it is refused for a lack of nodes or of room."""

    def check_fixes(self) -> bool:
        """Apply each fix that can be applied. ``AssertionError`` unless it helps as the refusal says.

        The result is whether there was one: false if the refusal says that no single change is enough.
        """

    def check_smallest(self) -> bool:
        """``AssertionError`` unless the set that is named cannot hold, and could without any one of its parts.

        The result is whether a set is named that can be checked.
        """

    def followed(self) -> list["Tried"]:
        """The case after all that is advised, in each way to do it; empty if the refusal says that more is needed."""


@dataclass
class Census:
    """What was found out about the refused cases of one kind.

    ``drawn`` are all cases, ``rounds`` how many took so many rounds. ``wrong`` are numbers of cases with what failed.
    """

    kind: str
    drawn: int = 0
    refused: int = 0
    fixes: int = 0
    smallest: int = 0
    rounds: Counter[int] = field(default_factory=Counter)
    open_ended: int = 0
    wrong: list[tuple[int, str]] = field(default_factory=list)
    seconds: float = 0

    @property
    def late(self) -> int:
        """Cases that take more rounds than are enough."""
        return sum(count for rounds, count in self.rounds.items() if rounds > ROUNDS)

    def take(self, seed: int, case: Tried) -> None:
        """Count the case of that number."""
        self.drawn += 1
        if not case.refused():
            return
        self.refused += 1
        for check in (self._fixes, self._smallest, self._rounds):
            try:
                check(case)
            except AssertionError as found:
                self.wrong.append((seed, f"{check.__name__.strip('_')}: {str(found).partition(chr(10))[0]}"))

    def _fixes(self, case: Tried) -> None:
        self.fixes += case.check_fixes()

    def _smallest(self, case: Tried) -> None:
        self.smallest += case.check_smallest()

    def _rounds(self, case: Tried) -> None:
        number, enough = rounds_of(case)
        self.rounds[number] += 1
        self.open_ended += not enough
        assert number <= ROUNDS, f"{number} rounds are not enough"


def rounds_of(case: Tried) -> tuple[int, bool]:
    """How often the advice is to be followed, and whether the case is admitted then; if not, the refusal is open-ended.

    One more than are enough stands for all larger numbers.
    """
    cases = [case]
    for number in range(ROUNDS + 1):
        if not all(one.refused() for one in cases):
            return number, True
        following = [one.followed() for one in cases]
        if not all(following):
            return number, False
        cases = [after for ways in following for after in ways]
    return ROUNDS + 1, False


def census(kind: str, made: Callable[[int], Tried], refused: int, *, first: int = 0, seconds: float = 600) -> Census:
    """The census of so many refused cases, which ``made`` makes of numbers; of fewer if processor time is over."""
    found, began = Census(kind), time.process_time()
    seed = first
    while found.refused < refused and (spent := time.process_time() - began) < seconds:
        found.take(seed, made(seed))
        found.seconds = spent
        seed += 1
    return found


def table(found: Iterable[Census]) -> str:
    """A line for each kind and one for all of them, then what was wrong."""
    found = [*found]
    head = ("kind", "drawn", "refused", "fixes hold", "smallest sets", "admitted", "more needed", "late", "wrong")
    rows = [
        (
            one.kind,
            *map(
                str,
                (
                    one.drawn,
                    one.refused,
                    one.fixes,
                    one.smallest,
                    ", ".join(f"{one.rounds[number]} in {number}" for number in sorted(one.rounds) if number),
                    one.open_ended,
                    one.late,
                    len(one.wrong),
                ),
            ),
        )
        for one in found
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in (head, *rows)
    ]
    total = f"{sum(one.refused for one in found)} refused cases in {sum(one.seconds for one in found):.0f} s"
    return "\n".join([*lines, total, *(f"{one.kind} {seed}: {what}" for one in found for seed, what in one.wrong)])
