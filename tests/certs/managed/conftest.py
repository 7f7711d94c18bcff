"""A fake cluster with both kinds of configuration, and what talks to it."""

import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from certs.managed.api import Api
from kubeapi.client.object_client import ObjectClient
from tests.certs.managed.fake import MUTATING, VALIDATING, FakeCluster, until, webhooks
from tests.certs.managed.manage_process import Finished, client_of, end, is_consistent, manager


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proxies of this machine must not be asked either."""
    for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[FakeCluster]:
    async with FakeCluster(tmp_path).running() as running:
        running.put(MUTATING, webhooks("a", "b"))
        running.put(VALIDATING, webhooks("c"))
        yield running


@pytest.fixture
async def client(cluster: FakeCluster) -> AsyncIterator[ObjectClient]:
    async with client_of(cluster) as client:
        yield client


@pytest.fixture
def api(client: ObjectClient) -> Api:
    return Api(client)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    async with FakeCluster(tmp_path_factory.mktemp("finished")).running() as cluster:
        cluster.put(MUTATING, webhooks("a", "b"))
        cluster.put(VALIDATING, webhooks("c"))
        async with manager(cluster) as process:
            await until(lambda: is_consistent(cluster))
            process.send_signal(signal.SIGTERM)
            return Finished(cluster, *await end(process))


@pytest.fixture
def made(cluster: FakeCluster, finished: Finished) -> FakeCluster:
    """A cluster of the test's own in which everything was made, by a process that is gone."""
    for path, found in finished.cluster.objects.items():
        cluster.put(path, found)
    return cluster
