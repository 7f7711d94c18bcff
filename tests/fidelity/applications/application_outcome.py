"""``played_applications``: the verdicts on scenarios of applications, against what a scheduler does with their pods."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, TypeAlias

from tests.fidelity.applications.application_scenario import ApplicationScenario, Moment
from tests.fidelity.comparison import AGREED, CORNERED, FALSE_REFUSAL, HEDGED, MISPLACED, MISSED_REFUSAL, FidelityResult
from tests.fidelity.play import Case, CasePlay, SideBySide, play
from tests.placement.kinds.application_verdict import verdict_on
from tests.placement.kinds.random_applications import Case as Application
from tests.scheduling.state import Cluster
from webhook.placement.jobs.job_verdict import JobVerdict

ApplicationJudge: TypeAlias = Callable[[Application], JobVerdict]
SideBySideOf: TypeAlias = Callable[[Mapping[str, Cluster]], AbstractContextManager[SideBySide]]
"""Clusters by their marks, while they are there."""


class ApplicationEnd(NamedTuple):
    """A scenario, what was said of its object, and what came of it."""

    scenario: ApplicationScenario
    admitted: bool
    result: FidelityResult


def played_applications(
    scenarios: Sequence[ApplicationScenario], side_by_side: SideBySideOf, judge: ApplicationJudge = verdict_on
) -> list[ApplicationEnd]:
    """What comes out of the scenarios. What is admitted and waits is played again with the pods kept where they fit."""
    verdicts = [judge(one.application) for one in scenarios]
    moments = [one.moments(f"a{at}") for at, one in enumerate(scenarios)]
    plays = _played([moment.case for some in moments for moment in some], side_by_side)
    ends = [[plays[moment.case.mark] for moment in some] for some in moments]
    left = [
        moment
        for verdict, some, own in zip(verdicts, moments, ends, strict=True)
        for moment, one in zip(some, own, strict=True)
        if not verdict.refused and not one.complete
    ]
    kept = {moment.case.mark: moment.as_searched() for moment in left}
    again = _played([case for case in kept.values() if case], side_by_side)
    return [
        ApplicationEnd(scenario, not verdict.refused, _compared(verdict, some, own, again))
        for scenario, verdict, some, own in zip(scenarios, verdicts, moments, ends, strict=True)
    ]


def _played(cases: Sequence[Case], side_by_side: SideBySideOf) -> dict[str, CasePlay]:
    """What came of each case, by its mark."""
    if not cases:
        return {}
    with side_by_side({case.mark: case.preparation.cluster for case in cases}) as batch:
        return dict(zip([case.mark for case in cases], play(cases, batch), strict=True))


def _compared(
    verdict: JobVerdict, moments: Sequence[Moment], plays: Sequence[CasePlay], again: Mapping[str, CasePlay]
) -> FidelityResult:
    runs = all(one.complete for one in plays)
    wrong = [what for one in plays for what in one.broken]
    if verdict.refused:
        if not runs or wrong or any(one.undocumented for one in plays):
            return FidelityResult(AGREED)
        bound = {name: node for one in plays for name, node in one.bound.items()}
        return FidelityResult(FALSE_REFUSAL, f"bound to {bound}, although: {verdict.text}")
    if wrong:
        return FidelityResult(MISPLACED, "; ".join(wrong))
    if runs or verdict.undecided:
        return FidelityResult(AGREED if runs else HEDGED)
    told = "; ".join(_waits(one) for one in plays if not one.complete)
    marks = [moment.case.mark for moment, one in zip(moments, plays, strict=True) if not one.complete]
    if all(mark in again and again[mark].complete and not again[mark].broken for mark in marks):
        return FidelityResult(CORNERED, f"bound in another way: {told}")
    return FidelityResult(MISSED_REFUSAL, told)


def _waits(played: CasePlay) -> str:
    told = [f"{name} is refused: {why}" for name, why in played.unmade.items()]
    told += [f"{name} waits: {why}" for name, why in played.waiting.items()]
    return "; ".join(" ".join(one.split()) for one in told)
