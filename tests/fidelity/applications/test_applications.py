"""Scenarios of applications: what is in them, which outcome each end has, and verdicts against a model scheduler.

The model binds pods as the scheduler does, so that every change is tried by day on what ``make fidelity`` plays on a
control plane.
"""

import random
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest

from tests.fidelity.applications.application_outcome import played_applications
from tests.fidelity.applications.application_scenario import ApplicationScenario, application_scenario
from tests.fidelity.comparison import AGREED, CORNERED, FALSE_REFUSAL, HEDGED, MISPLACED, MISSED_REFUSAL
from tests.fidelity.journal import Journal, entry
from tests.fidelity.model_batch import ModelBatch
from tests.fidelity.report import application_page
from tests.placement.kinds.random_applications import KINDS, Case, Machine, Part
from tests.scheduling.state import Cluster
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.planning.group import GroupAnswer

SEED = 11
APART = ('hostExlocation("t")',)
ADMITTED = JobVerdict()
REFUSED = JobVerdict(text="no")


def modelled(clusters: Mapping[str, Cluster]) -> AbstractContextManager[ModelBatch]:
    return nullcontext(ModelBatch(clusters))


def scenario(*parts: Part, cores: tuple[int, ...] = (4, 4)) -> ApplicationScenario:
    """Pods of these parts on nodes with so many cores."""
    machines = tuple(Machine(f"node-{'abcd'[at]}", cpu, "") for at, cpu in enumerate(cores))
    return ApplicationScenario(0, Case(machines, ("example.com", "App"), parts, {"kind": "App"}, None), at_once=False)


def outcome(one: ApplicationScenario, verdict: JobVerdict, model: Any = modelled) -> tuple[str, str]:
    [end] = played_applications([one], model, lambda _: verdict)
    return end.result.outcome, end.result.why


TWO_APART = Part(2, APART, 1, "")
THREE_APART = Part(3, APART, 1, "")
LATER = Part(2, APART, 4, "", apart=True)


@pytest.mark.parametrize(
    ("one", "verdict", "expected"),
    [
        (scenario(TWO_APART), ADMITTED, AGREED),
        (scenario(TWO_APART, LATER), ADMITTED, AGREED),
        (scenario(TWO_APART), REFUSED, FALSE_REFUSAL),
        (scenario(THREE_APART), REFUSED, AGREED),
        (scenario(THREE_APART), ADMITTED, MISSED_REFUSAL),
        (scenario(THREE_APART), JobVerdict(answer=GroupAnswer(None, decided=False)), HEDGED),
    ],
)
def test_each_end_has_its_outcome(one: ApplicationScenario, verdict: JobVerdict, expected: str) -> None:
    assert outcome(one, verdict)[0] == expected


class Careless(ModelBatch):
    """A scheduler that binds every pod to the same node, whatever it asks for."""

    def pause(self) -> None:
        for mark, waiting in self._waiting.items():
            for pod in waiting:
                self._clusters[mark] = self._clusters[mark].plus(pod, self._clusters[mark].nodes[0]["metadata"]["name"])
            waiting.clear()


def test_pods_where_their_clauses_do_not_hold_are_misplaced() -> None:
    found, why = outcome(scenario(TWO_APART), ADMITTED, lambda clusters: nullcontext(Careless(clusters)))
    assert (found, "breaks hostExlocation" in why) == (MISPLACED, True)
    assert outcome(scenario(TWO_APART), REFUSED, lambda clusters: nullcontext(Careless(clusters)))[0] == AGREED


class Last(random.Random):
    """Dice that always take the last."""

    def choice(self, seq: Any) -> Any:
        return seq[-1]


class Wasteful(ModelBatch):
    """A scheduler that binds each pod to the last node that it can have."""

    def __init__(self, clusters: Mapping[str, Cluster]) -> None:
        super().__init__(clusters)
        self._dice = Last()


def test_what_fits_in_another_way_is_cornered() -> None:
    small, large = Part(1, (), 1, ""), Part(1, (), 4, "")
    found, why = outcome(
        scenario(small, large, cores=(1, 4)), ADMITTED, lambda clusters: nullcontext(Wasteful(clusters))
    )
    assert (found, why) == (CORNERED, "bound in another way: a0m0-part-1-0 waits: not tried")


def test_a_number_is_a_scenario_and_every_kind_and_family_is_there() -> None:
    some = [application_scenario(SEED, number) for number in range(160)]
    assert repr(application_scenario(SEED, 5)) == repr(some[5]) != repr(application_scenario(SEED + 1, 5))
    assert {one.application.kind for one in some} == KINDS
    assert {one.at_once for one in some} == {True, False}
    assert {family for one in some for family in one.families()} == {
        "none", "host", "hostColocation", "hostExlocation", "hostIsolation", "one after the other",
    }  # fmt: skip


def test_verdicts_hold_in_a_model_of_the_scheduler() -> None:
    ends = played_applications([application_scenario(SEED, number) for number in range(96)], modelled)
    assert not [one for one in ends if one.result.outcome not in {AGREED, CORNERED}]
    agreed = [one.admitted for one in ends if one.result.outcome == AGREED]
    assert min(agreed.count(True), agreed.count(False)) > 96 / 5


def test_the_page_counts_ends_by_kind_and_family() -> None:
    journal = Journal(None, SEED)
    for at, (verdict, parts) in enumerate([(ADMITTED, TWO_APART), (REFUSED, THREE_APART), (ADMITTED, THREE_APART)]):
        [end] = played_applications([scenario(parts)], modelled, lambda _, said=verdict: said)  # type: ignore[misc]
        one = ApplicationScenario(at, end.scenario.application, at_once=True)
        journal.add([entry(SEED, one, end.result, admitted=end.admitted)])
    text = application_page(journal)
    assert "3 scenarios of applications" in text
    assert "| App | 1 | 1 | 0 | 0 | 0 | 1 | 0 |" in text
    assert "| hostExlocation | 2 | 0 | 0 | 0 | 1 | 0 |" in text
    assert "- missed refusal, App 2: " in text
