"""Pods that say as much as can be of one kind: each answer is cheap (``worst_pods.LIMIT``)."""

from functools import partial

import pytest

from tests.admission.costs.large_cluster import large_cluster
from tests.admission.costs.worst_pods import CLAUSES, ENTRIES, KINDS, LIMIT, SIZES, bodies
from tests.suite.example_count import EVERY_DAY
from tests.work import excess

pytestmark = pytest.mark.examples

PAIRS = [
    pytest.param(kind, clause, SIZES[at % 2 :][:1] if EVERY_DAY else SIZES, id=f"{kind}-{name}")
    for at, kind in enumerate(KINDS)
    for other, (name, clause) in enumerate(CLAUSES.items())
    if not EVERY_DAY or other == at % len(CLAUSES)
]
"""Every kind in every size, with each of the clauses, at night; with one of them, in one size, every day."""


@pytest.mark.parametrize(("kind", "clause", "sizes"), PAIRS)
def test_no_pod_is_expensive_however_much_it_says(kind: str, clause: str, sizes: tuple[str, ...]) -> None:
    found = bodies(kind, clause, sizes)
    there = large_cluster()
    costs = {(entry, size): excess(partial(ENTRIES[entry], body, there), LIMIT) for entry, size, body in found}
    assert {what: cost for what, cost in costs.items() if cost} == {}
