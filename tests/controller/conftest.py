"""Most of these tests wait, and none shall take long: time is skipped unless a server answers for real."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping

import pytest
import uvloop

from kubeapi.client.connection import Connection
from kubeapi.client.object_client import ObjectClient
from tests.apiserver.server import ApiServer
from tests.controller.controlled_cluster import ControlledCluster
from tests.controller.virtual_time import VirtualTimeLoop


def pytest_asyncio_loop_factories(
    item: pytest.Item,
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    if "server" in getattr(item, "fixturenames", ()):
        return {"uvloop": uvloop.new_event_loop}
    return {"quick": VirtualTimeLoop}


@pytest.fixture
async def controlled() -> AsyncIterator[ControlledCluster]:
    """Three nodes; nobody leads yet."""
    controlled = ControlledCluster("node-a", "node-b", "node-c")
    yield controlled
    await controlled.end()


@pytest.fixture
async def server() -> AsyncIterator[ApiServer]:
    async with ApiServer().running() as server:
        yield server


@pytest.fixture
async def writes(server: ApiServer) -> AsyncIterator[ObjectClient]:
    async with Connection(server.configuration()) as connection:
        yield ObjectClient(connection)
