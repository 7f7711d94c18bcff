"""Plays Jobs whose elements want devices, and HostPools by devices, on a control plane: each way to run them."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar, Final, TypeAlias

from tests.e2e.client.api import Api, Object
from tests.e2e.client.paths import item
from tests.e2e.fidelity.scenario_run import ScenarioEnd, ScenarioRun
from tests.e2e.scheduling.batch import Batch, chunks
from tests.fidelity.case_verdict import CaseVerdict
from tests.fidelity.comparison import CORNERED
from tests.fidelity.devices.device_group_verdict import Ends, WayEnd, complete, decided, group_verdict, planned
from tests.fidelity.devices.device_scenario import VERSION, DeviceScenario
from tests.fidelity.devices.device_ways import DeviceWay, every_way, planned_way
from tests.fidelity.devices.random_devices import group_scenario
from tests.fidelity.journal import Journal
from tests.fidelity.play import unschedulable

GroupJudge: TypeAlias = Callable[[DeviceScenario], CaseVerdict]

_TOGETHER: Final = 300
"""Ways that are played side by side."""

_SETTLED: Final = 2.0
"""Seconds after which the scheduler has tried a pod whose claim was made after the pod."""


class DeviceGroupRun(ScenarioRun[DeviceScenario]):
    """Jobs and HostPools."""

    family: ClassVar[str] = "device groups"
    side_by_side: ClassVar[int] = 50
    not_again: ClassVar[frozenset[str]] = frozenset({CORNERED})

    def __init__(self, api: Api, seed: int, journal: Journal, judge: GroupJudge = group_verdict) -> None:
        super().__init__(seed, journal)
        self._api = api
        self._judge = judge

    def scenario(self, number: int) -> DeviceScenario:
        """The scenario of that number."""
        return group_scenario(self._seed, number)

    def ends(self, scenarios: Sequence[DeviceScenario]) -> list[ScenarioEnd]:
        """What comes out of some scenarios: of admitted Jobs by their plans, of all others in each way."""
        verdicts = {one.mark: self._judge(one) for one in scenarios}
        plans = {
            one.mark: planned_way(one, verdicts[one.mark])
            for one in scenarios
            if one.kind == "job" and verdicts[one.mark].admitted
        }
        first = self._played([*plans.values()])
        left = [one for one in scenarios if one.mark not in plans or not complete(plans[one.mark], first)]
        ways = {one.mark: [*every_way(self._seed, one.number)] for one in left if not verdicts[one.mark].invalid}
        ends = self._played([way for some in ways.values() for way in some])
        found = []
        for one in scenarios:
            verdict, own = verdicts[one.mark], ways.get(one.mark, [])
            result = (
                planned(verdict, plans[one.mark], first, own, ends)
                if one.mark in plans
                else decided(one, verdict, own, ends)
            )
            found.append(ScenarioEnd(one, verdict.admitted, result))
        return found

    def _played(self, ways: Sequence[DeviceWay]) -> Ends:
        return {mark: end for some in chunks(ways, _TOGETHER) for mark, end in self._batch(some)}

    def _batch(self, ways: Sequence[DeviceWay]) -> Iterator[tuple[str, WayEnd]]:
        with Batch(self._api, {way.mark: way.cluster for way in ways}) as batch:
            for turn in range(max(len(way.pods) for way in ways)):
                pods = [way.pods[turn] for way in ways if turn < len(way.pods)]
                answers = batch.create(pods)
                batch.decided([(pod, False) for pod, one in zip(pods, answers, strict=True) if one.code == 201])
                time.sleep(_SETTLED)
            found = [(way.mark, self._end(batch.pods(way.mark), way)) for way in ways]
            for way in ways:  # a claim goes when no pod has it
                for pod in batch.pods(way.mark):
                    self._api.delete(item({"apiVersion": "v1", "kind": "Pod", **pod}), gracePeriodSeconds="0")
        yield from found

    def _end(self, pods: Sequence[Object], way: DeviceWay) -> WayEnd:
        bound = {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in pods if pod["spec"].get("nodeName")}
        waits = [
            f"{pod['metadata']['name']} waits: {unschedulable(pod)}" for pod in pods if not pod["spec"].get("nodeName")
        ]
        listed = self._api.get(f"/apis/{VERSION}/namespaces/{way.mark}/resourceclaims")["items"]
        allocated = {one["metadata"]["name"] for one in listed if one.get("status", {}).get("allocation")}
        devoid = [
            pod["metadata"]["name"]
            for pod in pods
            if pod["metadata"]["name"] in bound and not set(_claims(pod)) <= allocated
        ]
        return WayEnd(bound, "; ".join(waits), tuple(devoid))


def _claims(pod: Object) -> Iterator[str]:
    """The names of the claims of the pod: those that it names, and those that were made for it."""
    made = {one["name"]: one.get("resourceClaimName") for one in pod.get("status", {}).get("resourceClaimStatuses", ())}
    for claim in pod["spec"].get("resourceClaims", ()):
        yield claim.get("resourceClaimName") or made.get(claim["name"]) or ""
