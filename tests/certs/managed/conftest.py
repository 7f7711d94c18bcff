"""A fake cluster with both kinds of configuration, and what talks to it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from certs.managed.access import Kubeconfig
from certs.managed.api import Api
from tests.certs.managed.fake import MUTATING, VALIDATING, FakeCluster, webhooks


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proxies of this machine must not be asked either."""
    for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[FakeCluster]:
    async with FakeCluster(tmp_path) as running:
        running.put(MUTATING, webhooks("a", "b"))
        running.put(VALIDATING, webhooks("c"))
        yield running


@pytest.fixture
async def api(cluster: FakeCluster) -> AsyncIterator[Api]:
    async with Api(Kubeconfig(str(cluster.kubeconfig()), None), seconds=2) as connected:
        yield connected
