"""Plays scenarios of applications on a control plane, many side by side."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from tests.e2e.api import Api
from tests.e2e.progress import say
from tests.e2e.scheduling.batch import Batch
from tests.fidelity.applications.application_outcome import ApplicationEnd, ApplicationJudge, played_applications
from tests.fidelity.applications.application_scenario import ApplicationScenario, application_scenario
from tests.fidelity.comparison import CORNERED, WRONG
from tests.fidelity.journal import AT_FIRST, Journal, entry
from tests.fidelity.report import summary
from tests.placement.kinds.application_verdict import verdict_on
from tests.scheduling.state import Cluster

SIDE_BY_SIDE: Final = 64
"""As many as there are kinds, four times: some have several clusters."""


class ApplicationRun:
    """Scenarios of one seed on one control plane; ``journal`` has what came out of them."""

    def __init__(self, api: Api, seed: int, journal: Journal, judge: ApplicationJudge = verdict_on) -> None:
        self.journal = journal
        self._api = api
        self._seed = seed
        self._judge = judge

    def played(self, scenarios: Sequence[ApplicationScenario]) -> list[ApplicationEnd]:
        """What comes out of some scenarios, side by side."""
        return played_applications(scenarios, self._side_by_side, self._judge)

    def all(self, count: int, *, loud: bool = False) -> None:
        """Play those of the first so many scenarios that are not in the journal yet."""
        left = [number for number in range(count) if number not in self.journal.entries]
        for first in range(0, len(left), SIDE_BY_SIDE):
            some = [application_scenario(self._seed, number) for number in left[first : first + SIDE_BY_SIDE]]
            began = time.monotonic()
            found = self.played(some)
            each = (time.monotonic() - began) / len(found)
            self.journal.add(
                entry(self._seed, one.scenario, one.result, admitted=one.admitted, seconds=each) for one in found
            )
            if loud:
                entries = [*self.journal.entries.values()]
                took = sum(one.seconds for one in entries)
                say(f"applications: {len(entries)} of {count}, {took:.0f} s: {summary(entries)}")

    def again(self) -> None:
        """Play what disagrees once more, by itself: on a busy machine the scheduler may be late."""
        for one in self.journal.wrong:
            if one.outcome == CORNERED:
                continue  # another day the scheduler may take another way, which says nothing of the verdict
            [end] = self.played([application_scenario(self._seed, one.number)])
            if end.result.outcome not in WRONG:
                why = f"{AT_FIRST}{one.outcome}: {one.why}"
                self.journal.add([replace(one, outcome=end.result.outcome, why=why)])

    def manifests(self, folder: Path) -> None:
        """A file for each disagreement."""
        for one in self.journal.wrong:
            file = folder / f"application-{one.outcome.replace(' ', '-')}-{one.number}.yaml"
            file.write_text(f"# {one.outcome}: {one.why!r}\n{application_scenario(self._seed, one.number).manifest()}")

    def _side_by_side(self, clusters: Mapping[str, Cluster]) -> Batch:
        return Batch(self._api, clusters)
