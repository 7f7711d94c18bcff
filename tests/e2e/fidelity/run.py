"""Plays scenarios on a control plane, many side by side, and shrinks those about which it disagrees."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from tests.e2e.api import Api
from tests.e2e.progress import say
from tests.e2e.scheduling.batch import Batch
from tests.fidelity.comparison import WRONG, FidelityResult, compared
from tests.fidelity.journal import AT_FIRST, Journal, JournalEntry, entry
from tests.fidelity.judges import Judge, product
from tests.fidelity.modelled import modelled
from tests.fidelity.play import Case, cases, play
from tests.fidelity.preparation import Controller
from tests.fidelity.random_scenarios import random_scenario
from tests.fidelity.report import summary
from tests.fidelity.scenario import FidelityScenario
from tests.fidelity.shrinking import shrunk

SIDE_BY_SIDE: Final = 100

SHRUNK: Final = 5
"""Disagreements of each kind that are made smaller."""

ROUNDS_OF_THE_REAL: Final = 8
"""Steps that are made with the real scheduler, which takes seconds for each."""


class FidelityRun:
    """Scenarios of one seed on one control plane; ``journal`` has what came out of them.

    ``judge`` gives the verdicts, ``controller`` says what is made of a Job's plan.
    """

    def __init__(
        self, api: Api, seed: int, journal: Journal, judge: Judge = product, controller: Controller | None = None
    ) -> None:
        self.journal = journal
        self._api = api
        self._seed = seed
        self._judge = judge
        self._controller = controller or Controller()

    def played(self, scenarios: Sequence[FidelityScenario]) -> list[tuple[Case, FidelityResult]]:
        """What comes out of some scenarios, side by side."""
        some = list(cases(scenarios, self._judge, self._controller))
        with Batch(self._api, {case.mark: case.preparation.cluster for case in some}) as batch:
            plays = play(some, batch)
        return [(case, compared(case, one)) for case, one in zip(some, plays, strict=True)]

    def all(self, count: int, *, loud: bool = False) -> None:
        """Play those of the first so many scenarios that are not in the journal yet."""
        left = [number for number in range(count) if number not in self.journal.entries]
        for first in range(0, len(left), SIDE_BY_SIDE):
            some = [random_scenario(self._seed, number) for number in left[first : first + SIDE_BY_SIDE]]
            began = time.monotonic()
            found = self.played(some)
            each = (time.monotonic() - began) / len(found)
            self.journal.add(
                entry(self._seed, case.scenario, result, admitted=case.verdict.admitted, seconds=each)
                for case, result in found
            )
            if loud:
                entries = [*self.journal.entries.values()]
                say(f"{len(entries)} of {count}, {sum(one.seconds for one in entries):.0f} s: {summary(entries)}")

    def again(self) -> None:
        """Play what disagrees once more, by itself: on a busy machine the scheduler may be later than a play waits."""
        for one in self.journal.wrong:
            [(_, result)] = self.played([random_scenario(self._seed, one.number)])
            if result.outcome not in WRONG:
                self.journal.add([replace(one, outcome=result.outcome, why=f"{AT_FIRST}{one.outcome}: {one.why}")])

    def manifests(self, folder: Path) -> Iterator[tuple[JournalEntry, Path]]:
        """Files with small scenarios for some disagreements of each kind."""
        for outcome in WRONG:
            for one in [one for one in self.journal.wrong if one.outcome == outcome][:SHRUNK]:
                found = self._shrunk(random_scenario(self._seed, one.number), outcome)
                file = folder / f"{outcome.replace(' ', '-')}-{one.number}.yaml"
                [(case, result)] = self.played([found])
                said = " ".join(result.why.split())
                file.write_text(f"# {result.outcome}: {said}\n# verdict: {case.verdict}\n{found.manifest()}")
                yield one, file

    def _shrunk(self, scenario: FidelityScenario, outcome: str) -> FidelityScenario:
        """The scenario made smaller with a model of the scheduler, where that agrees about it, or with the real one."""
        if modelled(scenario, self._judge, self._controller).outcome == outcome:
            return shrunk(scenario, outcome, self._modelled)
        return shrunk(scenario, outcome, self._outcomes, ROUNDS_OF_THE_REAL)

    def _modelled(self, scenarios: Sequence[FidelityScenario]) -> list[str]:
        return [modelled(one, self._judge, self._controller).outcome for one in scenarios]

    def _outcomes(self, scenarios: Sequence[FidelityScenario]) -> list[str]:
        return [result.outcome for _, result in self.played(scenarios)]
