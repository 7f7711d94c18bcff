"""A cluster with Kueue's objects, in which nobody leads yet."""

from collections.abc import AsyncIterator

import pytest

from tests.controller.admissionchecks.checked_cluster import CheckedCluster


@pytest.fixture
async def checked() -> AsyncIterator[CheckedCluster]:
    checked = CheckedCluster()
    yield checked
    await checked.end()
