"""Feeds are tested on the loop that serves in production, against a server with a real certificate."""

import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import pytest
import uvloop

from kubeapi.client.connection import Connection
from tests.apiserver.kubeconfig import Kubeconfig
from tests.apiserver.server import ApiServer
from tests.cluster.live.lookups.authorizer import FakeAuthorizer
from tests.server.pki import Authority, Pair


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], uvloop.Loop]]:
    return {"uvloop": uvloop.new_event_loop}


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither a kubeconfig, a pod nor a proxy of whoever runs the tests."""
    for name in ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)


@pytest.fixture(scope="session")
def authority() -> Authority:
    return Authority()


@pytest.fixture(scope="session")
def pair(authority: Authority) -> Pair:
    return authority.issue()


def server_tls(pair: Pair, folder: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*pair.write(folder, "server"))
    return context


@pytest.fixture
def kubeconfig(authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kubeconfig:
    """What ``KUBECONFIG`` names; it leads to the server as soon as there is one."""
    found = Kubeconfig(tmp_path / "kubeconfig", server="https://10.8.5.6:6443", authority=authority.cert)
    monkeypatch.setenv("KUBECONFIG", str(found.path))
    return found


@pytest.fixture
async def server(pair: Pair, tmp_path: Path, kubeconfig: Kubeconfig) -> AsyncIterator[ApiServer]:
    async with ApiServer(server_tls(pair, tmp_path)).running() as server:
        kubeconfig.server = server.url
        kubeconfig.write(token="secret")
        yield server


@pytest.fixture
async def objects() -> AsyncIterator[ApiServer]:
    """Single objects, as an API server keeps them."""
    async with ApiServer().running() as server:
        yield server


@pytest.fixture
def rights(objects: ApiServer) -> FakeAuthorizer:
    """Who may use which pool, asked of that server."""
    return FakeAuthorizer(objects)


@pytest.fixture
async def connection(objects: ApiServer) -> AsyncIterator[Connection]:
    """A connection to that server."""
    async with Connection(objects.configuration()) as opened:
        yield opened
