"""Random applications with node groups: admitted now, for new nodes, or never, as every way that was tried says."""

import os
import re

import pytest

from tests.placement.kinds.random_applications import KINDS
from tests.placement.kinds.scaled_applications import ScaledApplication, random_scaled_application
from tests.placement.planning.exhaustive import Instance, can_be_placed
from tests.suite.example_count import some_of
from webhook.placement.jobs.job_verdict import JobVerdict

FIRST = int(os.environ.get("WHOLE_JOBS_FIRST", "0"))
CASES = some_of(480, every_day=48)
BATCH = 48

pytestmark = pytest.mark.examples


@pytest.mark.parametrize("first", range(FIRST, FIRST + CASES, BATCH))
def test_verdicts_are_those_of_every_way(first: int) -> None:
    for seed in range(first, min(first + BATCH, FIRST + CASES)):
        if found := random_scaled_application(seed):
            try:
                check(found)
            except AssertionError as wrong:
                raise AssertionError(f"case {seed}: {found}") from wrong


def check(found: ScaledApplication) -> None:
    verdict = found.verdict()
    assert not verdict.undecided
    short = [instance for instance in found.case.instances() if not can_be_placed(instance)]
    ways = [next(found.ways(instance), None) for instance in short]
    notices = noticed(verdict)
    if not all(ways):
        assert verdict.refused, notices
        return
    assert (verdict.refused, bool(notices)) == (False, bool(short)), verdict.text
    if len(short) == 1:
        assert len(notices) == 1
        enough(found, short[0], notices[0])


def noticed(verdict: JobVerdict) -> list[str]:
    """The warnings that something waits for new nodes."""
    return [warning for warning in verdict.warnings if warning.startswith("no room yet for")]


def enough(found: ScaledApplication, short: Instance, notice: str) -> None:
    """The nodes that a warning names are no more than the groups make, and as many as some way needs at least."""
    said = {name: int(count) for count, name in re.findall(r"(\d+) nodes? of NodePool (\w+)", notice)}
    assert said
    for maker in found.makers:
        assert said.get(maker.name, 0) <= (len(short.members) if maker.count is None else maker.count)
    used = ({node for node in places.values() if node.startswith("new")} for places in found.ways(short))
    assert sum(said.values()) >= min(map(len, used))


def test_every_kind_waits_and_is_refused() -> None:
    missing = {(kind, answer) for kind in KINDS for answer in ("now", "later", "never")}
    for found in filter(None, map(random_scaled_application, range(50 * len(KINDS)))):
        kind = found.case.kind
        if any(other == kind for other, _ in missing):
            verdict = found.verdict()
            missing.discard((kind, "never" if verdict.refused else "later" if noticed(verdict) else "now"))
    assert not missing
