"""Plays scenarios on a control plane, and shrinks those about which it disagrees."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final

from tests.e2e.client.api import Api
from tests.e2e.fidelity.scenario_run import ScenarioEnd, ScenarioRun
from tests.e2e.scheduling.batch import Batch
from tests.fidelity.comparison import WRONG, FidelityResult, compared
from tests.fidelity.journal import Journal, JournalEntry
from tests.fidelity.judges import Judge, product
from tests.fidelity.modelled import modelled
from tests.fidelity.play import Case, cases, play
from tests.fidelity.preparation import Controller
from tests.fidelity.random_scenarios import random_scenario
from tests.fidelity.scenario import FidelityScenario
from tests.fidelity.shrinking import shrunk

SHRUNK: Final = 5
"""Disagreements of each kind that are made smaller."""

ROUNDS_OF_THE_REAL: Final = 8
"""Steps that are made with the real scheduler, which takes seconds for each."""


class FidelityRun(ScenarioRun[FidelityScenario]):
    """Pods, workloads and Jobs.

    ``judge`` gives the verdicts, ``controller`` says what is made of a Job's plan.
    """

    family: ClassVar[str] = "placement"

    def __init__(
        self, api: Api, seed: int, journal: Journal, judge: Judge = product, controller: Controller | None = None
    ) -> None:
        super().__init__(seed, journal)
        self._api = api
        self._judge = judge
        self._controller = controller or Controller()

    def played(self, scenarios: Sequence[FidelityScenario]) -> list[tuple[Case, FidelityResult]]:
        """What comes out of some scenarios, side by side."""
        some = list(cases(scenarios, self._judge, self._controller))
        with Batch(self._api, {case.mark: case.preparation.cluster for case in some}) as batch:
            plays = play(some, batch)
        return [(case, compared(case, one)) for case, one in zip(some, plays, strict=True)]

    def scenario(self, number: int) -> FidelityScenario:
        """The scenario of that number."""
        return random_scenario(self._seed, number)

    def ends(self, scenarios: Sequence[FidelityScenario]) -> list[ScenarioEnd]:
        """What comes out of some scenarios, side by side."""
        return [ScenarioEnd(case.scenario, case.verdict.admitted, result) for case, result in self.played(scenarios)]

    def manifests(self, folder: Path) -> list[tuple[JournalEntry, Path]]:
        """Files with small scenarios for some disagreements of each kind."""
        files = []
        for outcome in WRONG:
            for one in [one for one in self.journal.wrong if one.outcome == outcome][:SHRUNK]:
                small = self._shrunk(self.scenario(one.number), outcome)
                file = folder / f"{outcome.replace(' ', '-')}-{one.number}.yaml"
                [(case, result)] = self.played([small])
                said = " ".join(result.why.split())
                file.write_text(f"# {result.outcome}: {said}\n# verdict: {case.verdict}\n{small.manifest()}")
                files.append((one, file))
        return files

    def _shrunk(self, scenario: FidelityScenario, outcome: str) -> FidelityScenario:
        """The scenario made smaller with a model of the scheduler, where that agrees about it, or with the real one."""
        if modelled(scenario, self._judge, self._controller).outcome == outcome:
            return shrunk(scenario, outcome, self._modelled)
        return shrunk(scenario, outcome, self._outcomes, ROUNDS_OF_THE_REAL)

    def _modelled(self, scenarios: Sequence[FidelityScenario]) -> list[str]:
        return [modelled(one, self._judge, self._controller).outcome for one in scenarios]

    def _outcomes(self, scenarios: Sequence[FidelityScenario]) -> list[str]:
        return [result.outcome for _, result in self.played(scenarios)]
