"""A port: bound first, listening later, and patient with a system that has run out of something."""

import asyncio
import errno
import os
import resource
import socket

import pytest

from tests.server.pki import Authority
from tests.server.running_server import Running, post, running
from webhook.server.fatal_error import FatalError
from webhook.server.health import Health
from webhook.server.http.connection import Connections
from webhook.server.http.limits import HEALTH
from webhook.server.http.listener import Listener, bind
from webhook.server.metrics import Metrics
from webhook.settings import Settings

pytestmark = pytest.mark.integration


def test_a_bound_port_does_not_listen_yet() -> None:
    with bind("127.0.0.1", 0) as listener, pytest.raises(ConnectionRefusedError):
        socket.create_connection(listener.getsockname())


@pytest.mark.parametrize(
    ("host", "port", "message"),
    [
        ("192.0.2.1", 1, "cannot listen on 192.0.2.1 port 1: Cannot assign requested address"),
        ("host.invalid", 1, "cannot listen on host.invalid port 1: "),
    ],
    ids=["somebody else's address", "unknown name"],
)
def test_an_address_that_is_not_ours_is_said_in_one_sentence(host: str, port: int, message: str) -> None:
    with pytest.raises(FatalError) as caught:
        bind(host, port)
    assert str(caught.value).startswith(message)


def test_a_taken_port_is_said_in_one_sentence() -> None:
    with bind("127.0.0.1", 0) as first:
        first.listen()
        port = first.getsockname()[1]
        with pytest.raises(FatalError, match=f"cannot listen on 127.0.0.1 port {port}: Address already in use"):
            bind("127.0.0.1", port)


async def test_a_port_that_two_have_bound_is_taken_by_the_first_to_listen() -> None:
    """Both may bind it, as neither of them listens yet."""
    with bind("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        site = Listener(bind("127.0.0.1", port), Connections(Health(lambda: None, Metrics()), HEALTH, Metrics()))
        first.listen()
        with pytest.raises(FatalError, match=f"^cannot listen on 127.0.0.1 port {port}: Address already in use$"):
            site.start()
    site.release()


async def test_ipv6_is_answered_and_shown_in_brackets(settings: Settings, authority: Authority) -> None:
    async with running(settings.model_copy(update={"host": "::1", "health_host": "::1"}), authority) as server:
        assert (server.reviews.startswith("https://[::1]:"), server.health.startswith("http://[::1]:")) == (True, True)
        assert (await server.ask(post())).status == 200


def test_all_addresses_means_those_of_ipv4_as_well() -> None:
    with bind("::", 0) as listener:
        listener.listen()
        socket.create_connection(("127.0.0.1", listener.getsockname()[1])).close()


async def test_running_out_of_file_descriptors_passes(server: Running, caplog: pytest.LogCaptureFixture) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    client = socket.socket()
    client.setblocking(False)  # noqa: FBT003 -- the socket's own signature
    highest = os.dup(client.fileno())
    os.close(highest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest, hard))
    try:
        assert client.connect_ex(("127.0.0.1", server.port)) == errno.EINPROGRESS
        await asyncio.sleep(0.15)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        client.close()
    assert (await server.ask(post())).status == 200
    assert "cannot accept a connection: Too many open files" in caplog.text
