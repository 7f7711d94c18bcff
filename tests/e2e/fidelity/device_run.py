"""Plays scenarios of devices on a control plane: devices are objects, which need no driver."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar, TypeAlias

from tests.e2e.client.api import Api
from tests.e2e.client.paths import item
from tests.e2e.fidelity.scenario_run import ScenarioEnd, ScenarioRun
from tests.e2e.scheduling.batch import Batch
from tests.fidelity.devices.device_scenario import DeviceScenario
from tests.fidelity.devices.device_verdict import DeviceVerdict, compared, judged
from tests.fidelity.devices.random_devices import device_scenario
from tests.fidelity.journal import Journal

DeviceJudge: TypeAlias = Callable[[DeviceScenario], DeviceVerdict]


class DeviceRun(ScenarioRun[DeviceScenario]):
    """Pods that claim devices."""

    family: ClassVar[str] = "devices"

    def __init__(self, api: Api, seed: int, journal: Journal, judge: DeviceJudge = judged) -> None:
        super().__init__(seed, journal)
        self._api = api
        self._judge = judge

    def scenario(self, number: int) -> DeviceScenario:
        """The scenario of that number."""
        return device_scenario(self._seed, number)

    def ends(self, scenarios: Sequence[DeviceScenario]) -> list[ScenarioEnd]:
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
        return [
            ScenarioEnd(verdict.scenario, verdict.admitted, compared(verdict, one))
            for verdict, one in zip(verdicts, ends, strict=True)
        ]

    def _emptied(self, scenarios: Sequence[DeviceScenario], batch: Batch) -> None:
        """Delete pods before claims: a claim goes when no pod has it."""
        for one in scenarios:
            for pod in batch.pods(one.mark):
                self._api.delete(item({"apiVersion": "v1", "kind": "Pod", **pod}), gracePeriodSeconds="0")
