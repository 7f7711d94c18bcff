"""Plays scenarios of applications on a control plane."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from tests.e2e.client.api import Api
from tests.e2e.fidelity.scenario_run import ScenarioEnd, ScenarioRun
from tests.e2e.scheduling.batch import Batch
from tests.fidelity.applications.application_outcome import ApplicationJudge, played_applications
from tests.fidelity.applications.application_scenario import ApplicationScenario, application_scenario
from tests.fidelity.comparison import CORNERED
from tests.fidelity.journal import Journal
from tests.placement.kinds.application_verdict import verdict_on
from tests.scheduling.state import Cluster


class ApplicationRun(ScenarioRun[ApplicationScenario]):
    """Applications of other operators, judged as a whole."""

    family: ClassVar[str] = "applications"
    side_by_side: ClassVar[int] = 64
    """As many as there are kinds, four times: some have several clusters."""
    not_again: ClassVar[frozenset[str]] = frozenset({CORNERED})
    """Another day the scheduler may take another way, which says nothing of the verdict."""

    def __init__(self, api: Api, seed: int, journal: Journal, judge: ApplicationJudge = verdict_on) -> None:
        super().__init__(seed, journal)
        self._api = api
        self._judge = judge

    def scenario(self, number: int) -> ApplicationScenario:
        """The scenario of that number."""
        return application_scenario(self._seed, number)

    def ends(self, scenarios: Sequence[ApplicationScenario]) -> list[ScenarioEnd]:
        """What comes out of some scenarios, side by side."""
        return [ScenarioEnd(*end) for end in played_applications(scenarios, self._side_by_side, self._judge)]

    def _side_by_side(self, clusters: Mapping[str, Cluster]) -> Batch:
        return Batch(self._api, clusters)
