"""Plays scenarios of devices on a control plane, many side by side: devices are objects, which need no driver."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

from tests.e2e.api import Api
from tests.e2e.paths import item
from tests.e2e.progress import say
from tests.e2e.scheduling.batch import Batch
from tests.fidelity.comparison import WRONG, FidelityResult
from tests.fidelity.devices.device_scenario import DeviceScenario
from tests.fidelity.devices.device_verdict import DeviceVerdict, compared, judged
from tests.fidelity.devices.random_devices import device_scenario
from tests.fidelity.journal import AT_FIRST, Journal, entry
from tests.fidelity.report import summary

SIDE_BY_SIDE: Final = 100

DeviceJudge: TypeAlias = Callable[[DeviceScenario], DeviceVerdict]


class DeviceRun:
    """Scenarios of one seed on one control plane; ``journal`` has what came out of them."""

    def __init__(self, api: Api, seed: int, journal: Journal, judge: DeviceJudge = judged) -> None:
        self.journal = journal
        self._api = api
        self._seed = seed
        self._judge = judge

    def played(self, scenarios: Sequence[DeviceScenario]) -> list[tuple[DeviceVerdict, FidelityResult]]:
        """What comes out of some scenarios, side by side."""
        verdicts = [self._judge(one) for one in scenarios]
        clusters = {one.mark: replace(one.cluster, devices=one.devices) for one in scenarios}
        for verdict in verdicts:
            mark = verdict.scenario.mark
            clusters[mark] = replace(clusters[mark], devices=(*clusters[mark].devices, *verdict.templates))
        with Batch(self._api, clusters) as batch:
            answers = [(verdict, batch.create(verdict.pods)) for verdict in verdicts]
            expected = []
            for verdict, made in answers:
                sure = verdict.admitted and not verdict.ruling.warnings and not verdict.scenario.held
                expected += [(pod, sure) for pod, one in zip(verdict.pods, made, strict=True) if one.code == 201]
            batch.decided(expected)
            ends = [batch.pods(one.mark) for one in scenarios]
            self._emptied(scenarios, batch)
        return [(verdict, compared(verdict, one)) for verdict, one in zip(verdicts, ends, strict=True)]

    def all(self, count: int, *, loud: bool = False) -> None:
        """Play those of the first so many scenarios that are not in the journal yet."""
        left = [number for number in range(count) if number not in self.journal.entries]
        for first in range(0, len(left), SIDE_BY_SIDE):
            some = [device_scenario(self._seed, number) for number in left[first : first + SIDE_BY_SIDE]]
            start = time.monotonic()
            found = self.played(some)
            each = (time.monotonic() - start) / len(found)
            self.journal.add(
                entry(self._seed, one.scenario, result, admitted=one.admitted, seconds=each) for one, result in found
            )
            if loud:
                entries = [*self.journal.entries.values()]
                took = sum(one.seconds for one in entries)
                say(f"devices: {len(entries)} of {count}, {took:.0f} s: {summary(entries)}")

    def again(self) -> None:
        """Play what disagrees once more, by itself: on a busy machine the scheduler may be late."""
        for one in self.journal.wrong:
            [(_, result)] = self.played([device_scenario(self._seed, one.number)])
            if result.outcome not in WRONG:
                self.journal.add([replace(one, outcome=result.outcome, why=f"{AT_FIRST}{one.outcome}: {one.why}")])

    def manifests(self, folder: Path) -> None:
        """A file for each disagreement."""
        for one in self.journal.wrong:
            file = folder / f"devices-{one.outcome.replace(' ', '-')}-{one.number}.yaml"
            file.write_text(f"# {one.outcome}: {one.why!r}\n{device_scenario(self._seed, one.number).manifest()}")

    def _emptied(self, scenarios: Sequence[DeviceScenario], batch: Batch) -> None:
        """Delete pods before claims: a claim goes when no pod has it."""
        for one in scenarios:
            for pod in batch.pods(one.mark):
                self._api.delete(item({"apiVersion": "v1", "kind": "Pod", **pod}), gracePeriodSeconds="0")
