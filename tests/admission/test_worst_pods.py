"""Pods that say as much as can be of one kind: each answer costs at most 50 ms of one core."""

import gc
from collections.abc import Iterator

import pytest

from tests.admission.worst_pods import CLAUSES, KINDS, LIMIT, bodies, cost

BUSY = 1.5
"""How much more of its cores' time a program takes where others use the same caches."""


@pytest.fixture(autouse=True, scope="module")
def _frozen() -> Iterator[None]:
    """What all the other tests hold is not looked through with every collection."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize("clause", CLAUSES.values(), ids=CLAUSES.keys())
@pytest.mark.parametrize("kind", KINDS)
def test_no_pod_is_expensive_however_much_it_says(kind: str, clause: str) -> None:
    costs = {(entry, size): cost(entry, body) for entry, size, body in bodies(kind, clause)}
    assert {what: seconds for what, seconds in costs.items() if seconds > LIMIT * BUSY} == {}
