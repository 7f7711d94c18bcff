"""A client of a REST server over an empty file."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.rest.rest_server import RestClient, serving_file


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[RestClient]:
    async with serving_file(tmp_path / "intents.sqlite") as client:
        yield client
