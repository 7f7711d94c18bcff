"""The program over a cluster: who may ask follows from where it listens; how it stops; the certificate."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.apiserver.kubeconfig import Kubeconfig
from tests.apiserver.server import ApiServer
from tests.rest.rest_server import INTENTS, RestClient, intent
from tests.server.pki import Authority
from webhook import app
from webhook.rest.rest_settings import RestSettings
from webhook.server.fatal_error import FatalError

pytestmark = pytest.mark.integration

EVERYWHERE = "0.0.0.0"  # noqa: S104 -- with TLS, for the length of a test


@pytest.fixture
async def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ApiServer]:
    """The cluster of the kubeconfig."""
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    async with ApiServer().running() as server:
        kubeconfig = Kubeconfig(tmp_path / "kubeconfig", server=server.url)
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig.path))
        yield server


@contextlib.asynccontextmanager
async def started(authority: Authority | None = None, **settings: Any) -> AsyncIterator[tuple[RestClient, Any]]:
    """A client of the program with these settings, and the task that runs it."""
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    chosen = RestSettings(**({"port": 0, "drain": 0.0} | settings))
    running = asyncio.create_task(app.hpa_api.serve_intents(chosen, ready.set_result))
    try:
        await asyncio.wait({running, ready}, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            running.result()
        connector = aiohttp.TCPConnector(ssl=authority.client() if authority else True)
        async with aiohttp.ClientSession(connector=connector) as session:
            yield RestClient(session, ready.result().replace(EVERYWHERE, "127.0.0.1")), running
    finally:
        running.cancel()
        await asyncio.wait({running})


async def test_on_loopback_no_token_is_required(api: ApiServer) -> None:
    async with started() as (client, _):
        assert (await client.post(INTENTS, intent())).status == 201
        assert len(api.objects) == 1


async def test_the_api_server_may_be_asked_on_loopback_too(api: ApiServer) -> None:
    async with started(authorize=True) as (client, _):
        assert (await client.get(INTENTS)).status == 401
    assert api.objects == {}


async def test_beyond_loopback_the_api_server_is_asked(api: ApiServer, tmp_path: Path) -> None:
    authority = Authority()
    cert, key = authority.issue().write(tmp_path)
    async with started(authority, host=EVERYWHERE, tls_cert=cert, tls_key=key) as (client, _):
        assert client.url.startswith("https://")
        assert (await client.get(INTENTS)).status == 401
        assert (await client.get("/healthz")).status == 200
    assert api.objects == {}


async def test_tokens_of_a_file_are_asked_for_wherever_it_listens(api: ApiServer, tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("a-token-of-sixteen")
    async with started(token_file=tmp_path / "tokens") as (client, _):
        assert (await client.get(INTENTS)).status == 401
        headers = {"Authorization": "Bearer a-token-of-sixteen"}
        assert (await client.get(INTENTS, headers=headers)).json == []
    assert api.objects == {}


async def test_what_it_cannot_start_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "nowhere"))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(FatalError, match="there is no cluster to connect to"):
        async with started():
            raise AssertionError
    with pytest.raises(FatalError, match="the tokens cannot be read: "):
        async with started(store=tmp_path / "x", token_file=tmp_path / "nowhere"):
            raise AssertionError
    nothing = tmp_path / "nothing.pem"
    with pytest.raises(FatalError, match="cannot serve TLS with .*nothing.pem: No such file"):
        async with started(store=tmp_path / "x", tls_cert=nothing, tls_key=nothing):
            raise AssertionError


async def test_a_signal_drains_and_a_second_one_ends_it(tmp_path: Path) -> None:
    async with started(store=tmp_path / "x", drain=60.0) as (client, running):
        assert (await client.get("/readyz")).status == 200
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(1000):
            if (await client.get("/readyz")).status == 503:
                break
        assert (await client.get(INTENTS)).headers["Connection"] == "close"
        os.kill(os.getpid(), signal.SIGTERM)
        async with asyncio.timeout(5):
            await asyncio.wait({running})
        assert running.exception() is None
