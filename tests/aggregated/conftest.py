"""Every test of the aggregated API runs on the loop that serves in production, and with real certificates."""

import os
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import pytest
import uvloop

from tests.aggregated.review_client import ReviewBench, bench_running
from webhook.aggregated import review_process


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], uvloop.Loop]]:
    return {"uvloop": uvloop.new_event_loop}


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[ReviewBench]:
    async with bench_running(tmp_path) as running:
        yield running


@pytest.fixture(autouse=True)
def _no_idle_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes for reviews compete for a core: on a machine with many tests at a time none is ever idle."""
    monkeypatch.setattr(os, "sched_setscheduler", lambda *_: None)
    monkeypatch.setattr(review_process, "PATIENCE", None)
