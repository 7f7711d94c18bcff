"""Scenarios that become smaller: what is left out, and that the outcome stays."""

from collections.abc import Sequence

import pytest

from tests.fidelity.comparison import MISSED_REFUSAL
from tests.fidelity.judges import admitting
from tests.fidelity.modelled import modelled
from tests.fidelity.random_scenarios import scenarios
from tests.fidelity.scenario import FidelityScenario
from tests.fidelity.shrinking import shrunk, smaller
from tests.suite.example_count import some_of

SEED = 2026


def with_exlocation(some: Sequence[FidelityScenario]) -> list[str]:
    """``bad`` if two elements, or one pod, are to be apart."""
    return ["bad" if one.encoded().count("hostExlocation") >= 1 + (one.kind == "job") else "good" for one in some]


def test_a_job_is_shrunk_to_what_matters() -> None:
    first = next(
        one for one in scenarios(SEED, 0, 99)
        if one.kind == "job" and with_exlocation([one]) == ["bad"] and len(one.elements()) > 3 and one.pools
    )  # fmt: skip
    found = shrunk(first, "bad", with_exlocation)
    assert len(found.nodes) == 1
    assert not found.pods
    assert not found.pools
    assert not found.at_once
    assert "hostPools" not in found.subject["spec"] or not found.subject["spec"]["hostPools"]
    assert sum(len(one.get("operators", ())) for one in found.elements()) <= 2
    assert found.encoded().count("host") <= first.encoded().count("host")
    assert with_exlocation([found]) == ["bad"]


def test_a_workload_is_shrunk_to_one_pod() -> None:
    some = (one for one in scenarios(SEED, 0, 999) if one.kind == "workload" and not one.everywhere)
    first = next(one for one in some if with_exlocation([one]) == ["bad"])
    found = shrunk(first, "bad", with_exlocation)
    spec = found.subject["spec"]
    assert spec.get("replicas", spec.get("parallelism")) == 1
    assert {*spec["template"]["spec"]} <= {"containers", "nodeSelector", "restartPolicy"}


@pytest.mark.examples
def test_every_step_is_a_smaller_scenario() -> None:
    for one in scenarios(SEED, 0, some_of(60)):
        for less in smaller(one):
            assert less != one
            assert less.size <= one.size + one.at_once, less  # "false" is longer than "true"
            assert FidelityScenario.decoded(less.encoded()) == less
            assert len(less.nodes) > 0


def test_what_cannot_be_smaller_stays() -> None:
    first = next(iter(scenarios(SEED, 0, 1)))
    assert shrunk(first, "bad", lambda some: ["good" for _ in some]) is first
    assert shrunk(first, "bad", lambda some: ["bad" for _ in some], rounds=0) is first


@pytest.mark.examples
def test_what_a_wrong_judge_admits_is_shrunk_to_a_small_cluster() -> None:
    def outcomes(some: Sequence[FidelityScenario]) -> list[str]:
        return [modelled(one, admitting).outcome for one in some]

    jobs = (one for one in scenarios(SEED, 0, 99) if one.kind == "job" and len(one.elements()) > 2)
    first = next(one for one in jobs if outcomes([one]) == [MISSED_REFUSAL])
    found = shrunk(first, MISSED_REFUSAL, outcomes)
    assert outcomes([found]) == [MISSED_REFUSAL]
    assert len(found.nodes) <= 2
    assert len(found.elements()) <= 2
    assert found.size < first.size / 2
