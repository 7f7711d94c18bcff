"""The verdict on a Job whose elements want devices, or a HostPool by devices, against all ways to play it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tests.fidelity.case_verdict import CaseVerdict
from tests.fidelity.comparison import (
    AGREED,
    CORNERED,
    FALSE_REFUSAL,
    HEDGED,
    INVALID,
    MISPLACED,
    MISSED_REFUSAL,
    FidelityResult,
)
from tests.fidelity.devices.device_scenario import DeviceScenario
from tests.fidelity.devices.device_ways import DeviceWay
from tests.fidelity.judges import of_whole_job
from tests.scheduling import product_answers

_INVALID = 422


class WayEnd(NamedTuple):
    """Where the pods of a way were bound, by name; why others wait, and which are bound without devices."""

    bound: Mapping[str, str]
    waits: str = ""
    devoid: tuple[str, ...] = ()


Ends = Mapping[str, WayEnd]
"""By the marks of ways, what came of them."""


def group_verdict(scenario: DeviceScenario) -> CaseVerdict:
    """The product's verdict."""
    if scenario.kind == "job":
        return of_whole_job(scenario.subject, scenario.mark, scenario.cluster)
    ruling = product_answers.submitted(scenario.subject, scenario.cluster)
    return CaseVerdict(ruling.pod is not None, ruling.message, bool(ruling.warnings), ruling.code == _INVALID)


def complete(way: DeviceWay, ends: Ends) -> bool:
    """Whether all pods of the way run, with devices."""
    end = ends[way.mark]
    return not way.unmade and len(end.bound) == len(way.pods) and not end.devoid


def decided(scenario: DeviceScenario, verdict: CaseVerdict, ways: Sequence[DeviceWay], ends: Ends) -> FidelityResult:
    """The verdict against all ways to play the scenario."""
    if verdict.invalid:
        return FidelityResult(INVALID, verdict.text)
    for way in ways:
        if ends[way.mark].devoid:
            return FidelityResult(MISPLACED, f"bound without devices: {', '.join(ends[way.mark].devoid)}")
    running = [way for way in ways if complete(way, ends)]
    runs = _hosts(ways, ends) >= scenario.subject["spec"]["size"] if scenario.kind == "pool" else bool(running)
    if runs and not verdict.admitted:
        return FidelityResult(FALSE_REFUSAL, f"bound to {_bound(running, ends)}, although: {verdict.text}")
    if runs is verdict.admitted:
        return FidelityResult(AGREED)
    return FidelityResult(HEDGED if verdict.hedged else MISSED_REFUSAL, _waits(ways, ends))


def planned(
    verdict: CaseVerdict, way: DeviceWay, ends: Ends, others: Sequence[DeviceWay], other_ends: Ends
) -> FidelityResult:
    """The verdict on an admitted Job against its pods by its plan, and against ``others`` if some of these wait."""
    if ends[way.mark].devoid:
        return FidelityResult(MISPLACED, f"bound without devices: {', '.join(ends[way.mark].devoid)}")
    if complete(way, ends):
        return FidelityResult(AGREED)
    if verdict.hedged:
        return FidelityResult(HEDGED)
    told = way.unmade or ends[way.mark].waits
    if any(complete(one, other_ends) for one in others):
        return FidelityResult(CORNERED, told)
    return FidelityResult(MISSED_REFUSAL, told)


def _hosts(ways: Sequence[DeviceWay], ends: Ends) -> int:
    """How many nodes run the pods of all entries of a HostPool."""
    nodes = {way.node for way in ways}
    return len(nodes - {way.node for way in ways if not complete(way, ends)})


def _bound(ways: Sequence[DeviceWay], ends: Ends) -> dict[str, str]:
    return {name: node for way in ways[:1] for name, node in ends[way.mark].bound.items()}


def _waits(ways: Sequence[DeviceWay], ends: Ends) -> str:
    return next((way.unmade or ends[way.mark].waits for way in ways if not complete(way, ends)), "")
