"""Every test of the server runs on the loop that serves in production, and with a real certificate."""

from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import pytest
import uvloop

from tests.server.pki import Authority
from tests.server.running_server import Running, running
from webhook.settings import Settings


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], uvloop.Loop]]:
    return {"uvloop": uvloop.new_event_loop}


@pytest.fixture(scope="session")
def authority() -> Authority:
    return Authority()


@pytest.fixture
def settings(authority: Authority, tmp_path: Path) -> Settings:
    cert, key = authority.issue().write(tmp_path)
    return Settings(tls_cert=cert, tls_key=key, port=0, health_port=0, drain=0)


@pytest.fixture
async def server(settings: Settings, authority: Authority) -> AsyncIterator[Running]:
    async with running(settings, authority) as server:
        yield server
