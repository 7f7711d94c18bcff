"""A cluster for each test."""

from collections.abc import AsyncIterator

import pytest

from tests.controller.jobs.job_cluster import JobCluster


@pytest.fixture
async def cluster() -> AsyncIterator[JobCluster]:
    """Three nodes; nobody leads yet."""
    cluster = JobCluster()
    yield cluster
    await cluster.end()
