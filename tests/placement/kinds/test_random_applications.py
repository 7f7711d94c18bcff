"""Random objects of all kinds: refused if, and only if, the pods that they are written from cannot all be placed."""

import pytest

from tests.placement.kinds.application_verdict import verdict_on
from tests.placement.kinds.random_applications import KINDS, random_application
from tests.placement.planning.exhaustive import can_be_placed
from tests.suite.example_count import some_of
from webhook.app.application_kinds import application_kinds

CASES = some_of(320)
BATCH = 64

pytestmark = pytest.mark.examples


@pytest.mark.parametrize("first", range(0, CASES, BATCH))
def test_verdicts_are_those_of_the_exhaustive_search(first: int) -> None:
    for seed in range(first, min(first + BATCH, CASES)):
        case = random_application(seed)
        verdict = verdict_on(case)
        fits = all(can_be_placed(instance) for instance in case.instances())
        assert verdict.refused is not fits, (seed, case, verdict.text)
        assert not verdict.undecided, (seed, case)


def test_an_application_is_written_the_same_of_the_parts_that_it_has() -> None:
    for case in map(random_application, range(4 * len(KINDS))):
        assert case.with_parts(case.parts) == case


def test_every_kind_has_its_turn_and_both_verdicts() -> None:
    assert application_kinds().keys() == KINDS
    missing = {(kind, refused) for kind in KINDS for refused in (True, False)}
    for case in map(random_application, range(12 * len(KINDS))):
        if any(kind == case.kind for kind, _ in missing):
            missing.discard((case.kind, verdict_on(case).refused))
    assert not missing
