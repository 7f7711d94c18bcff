"""Verdicts compared with plays over a model of the scheduler: a wrong judge is found out, whichever way it is wrong."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from tests.example_count import some_of
from tests.fidelity import comparison
from tests.fidelity.case_verdict import CaseVerdict
from tests.fidelity.comparison import FidelityResult, compared, wrong_witness
from tests.fidelity.judges import Judge, admitting, product, refusing
from tests.fidelity.model_batch import ModelBatch
from tests.fidelity.modelled import modelled
from tests.fidelity.play import Case, CasePlay, cases, play
from tests.fidelity.preparation import Controller
from tests.fidelity.random_scenarios import scenarios
from tests.fidelity.scenario import MARK, FidelityScenario
from webhook.placement.elements.plan import PlannedLaunch

Object = dict[str, Any]

SEED = 2026


def node(name: str, labels: Object | None = None, **room: str) -> Object:
    marks = {"case": MARK, "kubernetes.io/hostname": f"{MARK}-{name}", **(labels or {})}
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "10", **room}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"{MARK}-{name}", "labels": marks},
        "spec": {"taints": []},
        "status": {"addresses": [], "allocatable": allocatable, "capacity": allocatable, "conditions": []},
    }


def element(name: str, placement: str = "", cpu: str = "", **spec: Any) -> Object:
    containers = [{"name": "main", "image": "example.invalid/main"}]
    found: Object = {"name": f"{MARK}-{name}", "template": {"spec": {"containers": containers, **spec}}}
    if placement:
        found["operators"] = [{"name": f"Op_{name}", "placement": placement}]
    return found | ({"resources": {"requests": {"cpu": cpu}}} if cpu else {})


def job(*elements: Object, nodes: int = 2, pools: tuple[Object, ...] = (), **room: str) -> FidelityScenario:
    spec = {"processingElements": list(elements), **({"hostPools": list(pools)} if pools else {})}
    metadata = {"name": f"{MARK}-j", "namespace": MARK}
    subject = {"apiVersion": "streams.ibm.com/v1", "kind": "Job", "metadata": metadata, "spec": spec}
    return FidelityScenario(0, tuple(node(f"n{at}", **room) for at in range(nodes)), subject)


def pod(**spec: Any) -> Object:
    containers = [{"name": "main", "image": "example.invalid/main"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{MARK}-p",
            "namespace": MARK,
            "uid": "uid-of-p",
            "annotations": {"streams.ibm.com/placement": f'host("{MARK}-n0")'},
        },
        "spec": {"containers": containers, "nodeSelector": {"case": MARK}, **spec},
    }


APART = [element(name, 'hostExlocation("a")') for name in ("a", "b")]


def test_what_fits_is_admitted_and_runs() -> None:
    assert modelled(job(*APART), product).outcome == comparison.AGREED


def test_what_does_not_fit_is_refused_and_does_not_run_when_it_is_tried() -> None:
    assert modelled(job(*APART, nodes=1), product).outcome == comparison.AGREED


def test_a_judge_that_refuses_what_runs() -> None:
    found = modelled(job(*APART), refusing)
    assert found.outcome == comparison.FALSE_REFUSAL
    assert "s0-n0" in found.why
    assert "s0-n1" in found.why
    assert found.why.endswith(", although: no")


def test_a_judge_that_admits_what_does_not_run() -> None:
    found = modelled(job(*APART, nodes=1), admitting)
    assert found.outcome == comparison.MISSED_REFUSAL
    assert found.why == "by the verdict's own plan no node is named for some elements; s0-b-1 waits: not tried"


@pytest.mark.examples
def test_wrong_judges_are_found_out_in_random_scenarios() -> None:
    some = list(scenarios(SEED, 0, some_of(40, every_day=20)))
    refused = Counter(modelled(one, refusing).outcome for one in some)
    admitted = Counter(modelled(one, admitting).outcome for one in some)
    assert refused[comparison.FALSE_REFUSAL] > 5
    assert admitted[comparison.MISSED_REFUSAL] > 5


@pytest.mark.examples
def test_nothing_random_is_refused_that_runs_or_misplaced() -> None:
    for one in scenarios(SEED, 0, some_of(60)):
        found = modelled(one, product)
        assert found.outcome not in {comparison.FALSE_REFUSAL, comparison.MISPLACED}, (one, found.why)


def test_a_job_whose_pool_has_no_hosts_does_not_run() -> None:
    scenario = job(element("a"), pools=({"name": "P", "hosts": [f"{MARK}-n0", "nowhere"]},))
    assert modelled(scenario, product).outcome == comparison.AGREED
    found = modelled(scenario, admitting)
    assert found.outcome == comparison.MISSED_REFUSAL
    assert found.why.endswith("; HostPool P: it lists 2 hosts and finds 1 node")


def test_a_pool_that_loses_its_host_to_another_of_the_job_has_none() -> None:
    pools = ({"name": "P", "hosts": [f"{MARK}-n0"]}, {"name": "Q", "size": 1, "mode": "Exclusive"})
    found = modelled(job(element("a"), nodes=1, pools=pools), admitting)
    assert found.why.endswith("; HostPool P: s0-n0 is exclusive to another pool")


def test_a_broken_rule_is_not_compared() -> None:
    found = modelled(job(element("a", "host(Nowhere)")), product)
    assert found.outcome == comparison.INVALID
    assert "the Job declares no HostPool" in found.why


CORNER = job(element("small", cpu="1"), element("large", cpu="4"), nodes=2)
"""The first pod may take the larger node, and then the second has none."""


def cornered(node_of_small: str) -> FidelityResult:
    [case] = cases([with_room(CORNER)], product)
    bound = {"s0-small-1": node_of_small}
    return compared(case, CasePlay(bound, {"s0-large-1": "Insufficient cpu"}))


def with_room(scenario: FidelityScenario) -> FidelityScenario:
    return FidelityScenario(0, (node("n0"), node("n1", cpu="1")), scenario.subject)


def test_who_could_run_if_others_were_elsewhere_is_cornered() -> None:
    found = cornered("s0-n0")
    assert found.outcome == comparison.CORNERED
    assert found.why == "bound in another way: s0-large-1 waits: Insufficient cpu"


def test_pods_are_steered_to_where_the_plan_has_them() -> None:
    told: dict[str, str] = {}

    def steer(made: Object, there: Mapping[str, Any] | None, _: PlannedLaunch) -> Object:
        place = there["metadata"]["name"] if there else ""
        told[made["metadata"]["name"]] = place
        return {**made, "spec": {**made["spec"], "nodeName": place}}

    assert modelled(with_room(CORNER), product, Controller(steer, planned_hosts=False)).outcome == comparison.AGREED
    assert told == {"s0-small-1": "s0-n1", "s0-large-1": "s0-n0"}


def test_pools_get_the_hosts_of_the_plan_if_the_controller_keeps_to_it() -> None:
    pools = ({"name": "P", "size": 1, "mode": "Exclusive"}, {"name": "Q", "size": 1, "mode": "Exclusive"})
    stated = job(element("a", "host(Q)", cpu="4"), element("b", "host(P)"), pools=pools)
    scenario = FidelityScenario(0, (node("n0"), node("n1", cpu="1")), stated.subject)
    assert modelled(scenario, product).outcome == comparison.CORNERED
    assert modelled(scenario, product, Controller(planned_hosts=True)).outcome == comparison.AGREED


def test_other_hosts_than_planned_are_told() -> None:
    scenario = job(element("a", "host(P)"), pools=({"name": "P", "size": 1},))
    [case] = cases([scenario], product)
    planned = {"s0-j-p": {0: "s0-n1"}}
    verdict = CaseVerdict(admitted=True, places={"s0-a": "s0-n1"}, hosts=planned)
    found = compared(case._replace(verdict=verdict), CasePlay(waiting={"s0-a-1": "no"}))
    assert found.why == "HostPools s0-j-p have other hosts than planned: s0-a-1 waits: no"


WITNESSES = {
    "nobody is anywhere": ({}, {}, "no node is named for some elements"),
    "together": ({"s0-a": "s0-n0", "s0-b": "s0-n0"}, {}, "s0-a cannot be on s0-n0: hostExlocation a"),
    "apart": ({"s0-a": "s0-n0", "s0-b": "s0-n1"}, {}, ""),
}


@pytest.mark.parametrize("name", WITNESSES)
def test_a_plan_is_checked_against_what_clauses_mean(name: str) -> None:
    places, hosts, expected = WITNESSES[name]
    [case] = cases([job(*APART)], product)
    assert wrong_witness(case.scenario, CaseVerdict(admitted=True, places=places, hosts=hosts)) == expected


def test_a_refused_pod_of_an_admitted_job_is_a_missed_refusal() -> None:
    [case] = cases([job(*APART)], product)
    found = compared(case, CasePlay({"s0-a-1": "s0-n0"}, unmade={"s0-b-1": "no\nway"}))
    assert found == FidelityResult(comparison.MISSED_REFUSAL, "s0-b-1 is refused: no way")


def test_a_broken_clause_is_told_unless_it_was_refused() -> None:
    [case] = cases([job(*APART)], product)
    played = CasePlay({"s0-a-1": "s0-n0", "s0-b-1": "s0-n0"}, broken=("a breaks b",))
    assert compared(case, played) == FidelityResult(comparison.MISPLACED, "a breaks b")
    refused = case._replace(verdict=CaseVerdict(admitted=False, text="no"))
    assert compared(refused, played).outcome == comparison.AGREED


def waits(subject: Object, *, pods: tuple[Object, ...] = (), at_once: bool = False) -> str:
    scenario = FidelityScenario(0, (node("n0", cpu="1"),), subject, pods, at_once=at_once)
    [case] = cases([scenario], admitting)
    return compared(case, CasePlay(waiting={"s0-p": "no"})).outcome


def test_a_pod_may_wait_for_others_and_not_for_nothing() -> None:
    assert waits(pod()) == comparison.MISSED_REFUSAL
    other = {**pod(nodeName=f"{MARK}-n0"), "metadata": {"name": f"{MARK}-o", "namespace": MARK, "uid": "o"}}
    assert waits(pod(), pods=(other,)) == comparison.HEDGED
    near = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
    company = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [near]}}
    assert waits(pod(affinity=company)) == comparison.HEDGED


def test_a_warning_is_enough() -> None:
    scenario = FidelityScenario(0, (node("n0"),), pod())
    hedging: Judge = lambda _: CaseVerdict(admitted=True, hedged=True)  # noqa: E731 -- a judge
    [case] = cases([scenario], hedging)
    assert compared(case, CasePlay(waiting={"s0-p": "no"})).outcome == comparison.HEDGED


def test_of_a_batch_job_one_pod_at_a_time_is_enough() -> None:
    template = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [], "restartPolicy": "Never"}}
    subject = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": f"{MARK}-w", "namespace": MARK},
        "spec": {"parallelism": 2, "completions": 2, "template": template},
    }
    played = CasePlay({"s0-w-0": "s0-n0"}, {"s0-w-1": "no"})

    def result(kind: Object) -> str:
        case = Case("s0", FidelityScenario(0, (node("n0"),), kind), CaseVerdict(admitted=True), None)  # type: ignore[arg-type]
        return compared(case, played).outcome

    assert result(subject) == comparison.AGREED
    assert result({**subject, "spec": {**subject["spec"], "completionMode": "Indexed"}}) == comparison.MISSED_REFUSAL


def test_scenarios_side_by_side_do_not_meet() -> None:
    some = list(cases([job(*APART), job(*APART, nodes=1)], product))
    plays = play(some, ModelBatch({case.mark: case.preparation.cluster for case in some}))
    assert [len(one.bound) for one in plays] == [2, 1]
    assert [{*one.bound.values()} for one in plays] == [{"s0-n0", "s0-n1"}, {"s1-n0"}]
