"""Random small Jobs with node groups: admitted now, for new nodes, or never, as every way that was tried says."""

import os
import re

import pytest

from tests.builders import NAMESPACE
from tests.placement.jobs.scaled_cases import ScaledCase, random_scaled_case
from tests.placement.planning.at_once import AtOnce
from tests.placement.planning.exhaustive import can_be_placed
from tests.suite.example_count import some_of
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.newnodes.scaled_job import judge_scaled_job
from webhook.placement.planning.search.solver import finished

FIRST = int(os.environ.get("WHOLE_JOBS_FIRST", "0"))
CASES = some_of(600)
BATCH = 50

pytestmark = pytest.mark.examples


@pytest.mark.parametrize("first", range(FIRST, FIRST + CASES, BATCH))
def test_verdicts_are_those_of_every_way(first: int) -> None:
    for seed in range(first, min(first + BATCH, FIRST + CASES)):
        found = random_scaled_case(seed)
        try:
            check(found)
        except AssertionError as wrong:
            raise AssertionError(f"case {seed}: {found}") from wrong


def check(found: ScaledCase) -> None:
    verdict = verdict_of(found)
    assert not verdict.undecided
    notices = [warning for warning in verdict.warnings if warning.startswith("no room yet for")]
    if can_be_placed(found.case.instance()):
        assert (verdict.refused, notices) == (False, []), verdict.text
    elif any(True for _ in found.ways()):
        assert (verdict.refused, len(notices)) == (False, 1), verdict.text
        enough(found, notices[0])
    else:
        assert verdict.refused, notices


def enough(found: ScaledCase, notice: str) -> None:
    """The nodes that a warning names are no more than the groups make, and as many as some way needs at least."""
    said = {name: int(count) for count, name in re.findall(r"(\d+) nodes? of NodePool (\w+)", notice)}
    assert said
    for maker in found.makers:
        assert said.get(maker.name, 0) <= (len(found.case.parts) if maker.count is None else maker.count)
    used = ({node for node in places.values() if node.startswith("new")} for places in found.ways())
    assert sum(said.values()) >= min(map(len, used))


def verdict_of(found: ScaledCase) -> JobVerdict:
    policy = Policy(scale_up="auto")
    judging = judge_scaled_job((NAMESPACE, "app"), found.case.spec(), found.inventory(), policy, AtOnce())
    return finished(judging)
