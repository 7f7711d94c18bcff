"""A cluster for each test."""

from collections.abc import AsyncIterator

import pytest

from tests.controller.provisioningrequests.asking_cluster import AskingCluster


@pytest.fixture
async def asking() -> AsyncIterator[AskingCluster]:
    """Nobody leads yet."""
    asking = AskingCluster()
    yield asking
    await asking.end()
