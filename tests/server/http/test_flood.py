"""Whoever can reach the port can flood it: honest pods are answered all the same, and memory is given back.

Every day other tests run on the same cores, so a flood is short and its bounds on time are wide: without turns honest
pods would wait for all others. ``make nightly`` has the machine for itself, and holds them to what users notice.
"""

import asyncio
from pathlib import Path

import pytest

from tests.server.http.flood_process import flooded, honest, p99, served
from tests.suite.example_count import EVERY_DAY

pytestmark = [pytest.mark.integration, pytest.mark.examples]

SECONDS = 1.0 if EVERY_DAY else 3.0
"""How long honest pods are asked about during a flood."""

LATENCY = 2.0 if EVERY_DAY else 0.5
"""Seconds that 99 of 100 honest reviews take at most."""

BUSY = 40 if EVERY_DAY else 10
"""How many times as long as before the flood they may take besides: milliseconds, if no other program is busy."""

GROWTH = 150.0
"""MB that a flood may take: with them a webhook that knows 15,000 nodes and 150,000 pods (210 MB) stays below the
chart's limit of 512 Mi, even where all connections are taken besides."""

LEFT = 60.0
"""MB that are left when it is over."""


@pytest.mark.parametrize(
    ("kind", "count", "size"),
    [
        pytest.param("bodies", 60, 3_400_000, id="large bodies"),
        pytest.param("spaced", 20, 3_400_000, id="bodies of another form"),
        pytest.param("dribble", 100, 7_000_000, id="large bodies that do not come"),
        pytest.param("ahead", 20, 60_000, id="requests sent ahead"),
        pytest.param("reviews", 20, 60_000, id="expensive reviews"),
    ],
)
async def test_honest_pods_are_answered_during_a_flood(kind: str, count: int, size: int, tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        usual = p99(await honest(server, 0.5))
        before = server.resident()
        async with flooded(server, kind, count, size):
            await asyncio.sleep(1)
            took = await honest(server, SECONDS)
        grown = server.highest() - before
        assert (grown < GROWTH, p99(took) < LATENCY + BUSY * usual) == (True, True), (grown, p99(took), usual)
        for _ in range(200):
            if server.resident() - before <= LEFT:
                break
            await asyncio.sleep(0.1)
        assert server.resident() - before <= LEFT
