"""Whatever happens to a cluster and its controllers: no node is given twice, and in the end all is as it should be."""

import asyncio

import pytest

from tests.controller.histories.convergence import at_rest
from tests.controller.histories.lived_histories import live_each, telling
from tests.controller.histories.random_history import History
from tests.controller.histories.safety import SafetyMonitor
from tests.suite.example_count import some_of

pytestmark = pytest.mark.examples

BATCH = 20
"""Histories of one test: a second or so."""

HISTORIES = some_of(300)

SOON = 40.0
"""Seconds in which everything is put right: bars of ten seconds, orphans of three, caches that are late."""

OVERLOOKED = 700.0
"""Seconds after which everything has been read again, whether or not something was heard."""


async def lived(seed: int) -> History:
    """A history, and what becomes of it."""
    history = History(seed)
    safety_monitor = SafetyMonitor(history)
    try:
        await history.run()
        await asyncio.sleep(SOON)
        violations = [*safety_monitor.violations, *at_rest(history.kube)]
        assert not violations, telling(history, violations)
        await asyncio.sleep(OVERLOOKED)
        violations = [*safety_monitor.violations, *at_rest(history.kube, long=True)]
        assert not violations, telling(history, violations)
        await stays_calm(history)
    finally:
        await history.end()
    return history


async def stays_calm(history: History) -> None:
    """No controller writes anything any more, or reads more than every pool in ten minutes; not even a new leader."""
    leader = history.leader
    assert leader is not None
    written, read = len(leader.line.writes), leader.line.requests
    await asyncio.sleep(OVERLOOKED)
    assert leader.line.writes[written:] == [], telling(history, leader.line.writes[written:])
    assert leader.line.requests - read <= 2 * len(history.kube.objects), telling(history, [])
    leader.depose()
    history.new_leader()
    await asyncio.sleep(OVERLOOKED)
    assert history.candidates[-1].line.writes == [], telling(history, history.candidates[-1].line.writes)


@pytest.mark.parametrize("first", range(0, HISTORIES, BATCH))
def test_all_is_well_in_the_end(first: int) -> None:
    live_each(lived, range(first, min(first + BATCH, HISTORIES)))
