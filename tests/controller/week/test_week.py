"""Over a simulated week and more the laws hold: 200 events every day, a million with ``make week``."""

import random
from typing import Final

import pytest

from tests.controller.histories.convergence import at_rest
from tests.controller.histories.safety import SafetyMonitor
from tests.controller.jobs.histories.job_safety import at_rest as jobs_at_rest
from tests.controller.virtual_time import clock, in_virtual_time
from tests.controller.week.life import lived
from tests.controller.week.lives import JobLife, PoolLife
from tests.controller.week.wall_clock import WallClock
from tests.suite.example_count import EVERY_DAY, some_of
from webhook.controller.hostpools import claims

pytestmark = pytest.mark.examples

LIVES: Final = 4
SEEDS: Final = range(2 if EVERY_DAY else LIVES)
POOL_EVENTS: Final = some_of(4500) // LIVES
JOB_EVENTS: Final = some_of(1500, every_day=100) // LIVES
"""Events of one life. An event of a Job takes ten times as long as one of a pool, so there are fewer."""

SOON: Final = 700.0
"""Seconds after which all pools have been read again."""

JOBS_SOON: Final = 900.0
"""Submissions that time out, and back-offs of five minutes."""


@pytest.fixture(autouse=True)
def _repeatable_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses after conflicts are the same in each run, so that everything follows from the seed."""
    monkeypatch.setattr(claims, "_random", random.Random(0))  # noqa: S311 -- repeatable, not secret


async def of_pools(seed: int) -> float:
    life, began = PoolLife(seed, WallClock()), clock()
    monitor = SafetyMonitor(life)
    try:
        await lived(
            life,
            life.random_cluster.random,
            POOL_EVENTS,
            soon=SOON,
            violations=lambda: [*monitor.violations, *at_rest(life.kube, long=True)],
        )
    finally:
        await life.end()
    return clock() - began


async def of_jobs(seed: int) -> float:
    life, began = JobLife(seed, WallClock()), clock()
    try:
        await lived(
            life,
            life.dice,
            JOB_EVENTS,
            soon=JOBS_SOON,
            violations=lambda: [*life.monitor.violations, *jobs_at_rest(life.kube)],
        )
    finally:
        await life.end()
    return clock() - began


@pytest.mark.parametrize("seed", SEEDS)
def test_pools_live_long(seed: int) -> None:
    assert in_virtual_time(of_pools(seed)) > POOL_EVENTS


@pytest.mark.parametrize("seed", SEEDS)
def test_jobs_live_long(seed: int) -> None:
    assert in_virtual_time(of_jobs(seed)) > JOB_EVENTS
