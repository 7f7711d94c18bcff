"""Scenarios of Jobs and HostPools with devices: what is in them, all ways to play them, and which end means what."""

from collections import Counter
from collections.abc import Sequence

import pytest

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
from tests.fidelity.devices.device_group_verdict import WayEnd, decided, group_verdict, planned
from tests.fidelity.devices.device_scenario import DeviceScenario
from tests.fidelity.devices.device_ways import DeviceWay, every_way, planned_way
from tests.fidelity.devices.random_devices import group_scenario
from tests.fidelity.journal import Journal, entry
from tests.fidelity.report import device_group_page
from webhook.placement.text import keys

SEED = 11
YES, NO = CaseVerdict(admitted=True), CaseVerdict(admitted=False, text="no")
HEDGE, RULE = CaseVerdict(admitted=True, hedged=True), CaseVerdict(admitted=False, text="a rule", invalid=True)


def first(kind: str, elements: int = 0, nodes: int = 0) -> DeviceScenario:
    """The first scenario of that kind and size."""
    some = (group_scenario(SEED, number) for number in range(200))
    return next(
        one for one in some if one.kind == kind and elements in {0, len(one.pods)} and nodes in {0, len(one.nodes)}
    )


JOB, POOL = first("job"), first("pool", nodes=3)


def end(way: DeviceWay, *, runs: bool, devoid: Sequence[str] = ()) -> WayEnd:
    """The end of a way all pods of which run, or none."""
    bound = {pod["metadata"]["name"]: "n" for pod in way.pods} if runs else {}
    return WayEnd(bound, "" if runs else "p waits: no room", tuple(devoid))


def of(
    verdict: CaseVerdict, *running: int, scenario: DeviceScenario = JOB, devoid: Sequence[str] = ()
) -> FidelityResult:
    """What the verdict is worth if these of all ways run."""
    ways = [*every_way(SEED, scenario.number)]
    ends = {way.mark: end(way, runs=at in running, devoid=devoid) for at, way in enumerate(ways)}
    return decided(scenario, verdict, ways, ends)


def test_a_number_is_a_scenario_and_every_kind_is_there() -> None:
    some = [group_scenario(SEED, number) for number in range(60)]
    assert group_scenario(SEED, 5) == some[5] != group_scenario(SEED + 1, 5)
    assert group_scenario(SEED, 5, "other").mark == "other"
    assert {(one.kind, len(one.pods)) for one in some} == {("job", 2), ("job", 3), ("pool", 0)}
    assert {family for one in some for family in one.families()} >= {
        "a job", "a pool", "claims by name", "described devices", "mapped resources", "same attribute", "partitions",
    }  # fmt: skip


def test_verdicts_on_groups_are_of_all_kinds() -> None:
    some = [group_scenario(SEED, number) for number in range(40)]
    counts = Counter((one.kind, group_verdict(one).admitted) for one in some)
    assert min(counts[kind, admitted] for kind in ("job", "pool") for admitted in (True, False)) > 1
    assert not any(group_verdict(one).invalid for one in some)


def test_a_job_is_played_on_all_combinations_of_nodes_and_in_several_orders() -> None:
    for elements, nodes, count in ((2, 1, 2), (2, 2, 2 * 5), (3, 2, 3 * 9), (2, 3, 2 * 10)):
        scenario = first("job", elements, nodes)
        ways = [*every_way(SEED, scenario.number)]
        assert len({way.mark for way in ways}) == len(ways) == count
        orders = {tuple(pod["metadata"]["labels"][keys.PE].rpartition("-")[2] for pod in way.pods) for way in ways}
        assert len(orders) == elements
        places = {
            tuple(pod["spec"]["nodeSelector"].get(keys.HOSTNAME, "").rpartition("-")[2] for pod in way.pods)
            for way in ways
        }
        assert len(places) == (count // elements)
        assert all(name.startswith(way.mark) for way in ways for name in way.cluster.by_name)


def test_a_pool_is_tried_on_each_node_with_a_pod_for_each_entry() -> None:
    ways = [*every_way(SEED, POOL.number)]
    entries = len(POOL.subject["spec"]["devices"])
    assert [way.node for way in ways] == [0, 1, 2] * entries
    assert all(len(way.pods) == 1 and way.pods[0]["spec"]["resourceClaims"] for way in ways)
    assert all(any(one["kind"] == "ResourceClaimTemplate" for one in way.cluster.devices) for way in ways)


def test_an_admitted_job_is_played_by_its_plan() -> None:
    some = [group_scenario(SEED, number) for number in range(40)]
    verdicts = [(one, group_verdict(one)) for one in some if one.kind == "job"]
    planned_jobs = [(scenario, verdict) for scenario, verdict in verdicts if verdict.places]
    assert len(planned_jobs) > len(some) / 8
    for scenario, verdict in planned_jobs:
        way = planned_way(scenario, verdict)
        assert (len(way.pods), way.unmade, way.mark) == (len(scenario.pods), "", scenario.mark)
        for pod in way.pods:
            assert verdict.places[pod["metadata"]["labels"][keys.PE]] in str(pod["spec"]["affinity"])


def test_refusals_against_all_ways() -> None:
    assert of(NO).outcome == AGREED
    assert of(NO, 1) == FidelityResult(FALSE_REFUSAL, f"bound to {of_names(1)}, although: no")
    assert of(RULE).outcome == INVALID
    assert of(NO, 0, devoid=["p"]) == FidelityResult(MISPLACED, "bound without devices: p")


def of_names(at: int) -> dict[str, str]:
    return {pod["metadata"]["name"]: "n" for pod in [*every_way(SEED, JOB.number)][at].pods}


def test_a_pool_has_as_many_hosts_as_nodes_run_all_of_its_pods() -> None:
    ways = [*every_way(SEED, POOL.number)]
    size = POOL.subject["spec"]["size"]
    enough = [at for at, way in enumerate(ways) if way.node < size]
    few = [at for at, way in enumerate(ways) if way.node < size - 1]
    assert of(YES, *enough, scenario=POOL).outcome == of(NO, *few, scenario=POOL).outcome == AGREED
    assert of(NO, *enough, scenario=POOL).outcome == FALSE_REFUSAL
    assert of(YES, *few, scenario=POOL) == FidelityResult(MISSED_REFUSAL, "p waits: no room")
    assert of(HEDGE, *few, scenario=POOL).outcome == HEDGED


@pytest.mark.parametrize(
    ("verdict", "runs", "elsewhere", "outcome"),
    [
        (YES, True, False, AGREED),
        (YES, False, True, CORNERED),
        (YES, False, False, MISSED_REFUSAL),
        (HEDGE, False, False, HEDGED),
    ],
)
def test_what_becomes_of_a_plan(verdict: CaseVerdict, outcome: str, *, runs: bool, elsewhere: bool) -> None:
    way, *others = every_way(SEED, JOB.number)
    ends = {one.mark: end(one, runs=elsewhere) for one in others}
    assert planned(verdict, way, {way.mark: end(way, runs=runs)}, others, ends).outcome == outcome


def test_a_pod_without_its_devices_is_misplaced() -> None:
    way = next(every_way(SEED, JOB.number))
    assert planned(YES, way, {way.mark: end(way, runs=True, devoid=["p"])}, [], {}).outcome == MISPLACED


def test_the_page_about_jobs_and_pools_with_devices() -> None:
    journal = Journal(None, SEED)
    journal.add([entry(SEED, POOL, of(YES, scenario=POOL), admitted=True, seconds=1.5)])
    page = device_group_page(journal)
    assert "# Fidelity of Jobs and HostPools with devices" in page
    assert f"- missed refusal, pool {POOL.number}: p waits: no room" in page
