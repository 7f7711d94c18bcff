"""Clients of a REST server over empty storage: a file, and a cluster."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kubeapi.client.connection import Connection
from tests.apiserver.server import ApiServer
from tests.rest.rest_server import RestClient, serving, serving_file
from webhook.rest.storage.cluster_store import ClusterStore, NamespaceMap


@contextlib.asynccontextmanager
async def serving_cluster(api: ApiServer, namespace: str = "edge") -> AsyncIterator[RestClient]:
    """A client of a server over the cluster of that API server."""
    async with (
        Connection(api.configuration()) as connection,
        serving(ClusterStore(connection, NamespaceMap(namespace))) as client,
    ):
        yield client


@pytest.fixture
async def api() -> AsyncIterator[ApiServer]:
    async with ApiServer().running() as server:
        yield server


@pytest.fixture
async def file_client(tmp_path: Path) -> AsyncIterator[RestClient]:
    async with serving_file(tmp_path / "intents.sqlite") as client:
        yield client


@pytest.fixture(params=["file", "cluster"])
async def client(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[RestClient]:
    """What holds for every kind of storage."""
    async with contextlib.AsyncExitStack() as stack:
        if request.param == "file":
            yield await stack.enter_async_context(serving_file(tmp_path / "intents.sqlite"))
            return
        api = await stack.enter_async_context(ApiServer().running())
        yield await stack.enter_async_context(serving_cluster(api))
