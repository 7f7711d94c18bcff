"""Every test of the aggregated API runs on the loop that serves in production, and with real certificates."""

from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import pytest
import uvloop

from tests.aggregated.review_client import ReviewBench, bench_running


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], uvloop.Loop]]:
    return {"uvloop": uvloop.new_event_loop}


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[ReviewBench]:
    async with bench_running(tmp_path) as running:
        yield running
