"""Bodies that arrive in whatever pieces: each of them gets its answer."""

import asyncio
import contextlib
import itertools
import socket
import ssl
from collections.abc import Sequence

import pytest

from tests.server.pki import Authority
from tests.server.running_server import Running, Wire, limits, post, running
from webhook.settings import Settings

pytestmark = pytest.mark.integration

BODY = b"x" * 40_000
"""More than a header may have (32 KiB), and fewer bytes than need a reservation."""

HEAD = len(post(BODY)) - len(BODY)


def _cut(data: bytes, *places: int) -> list[bytes]:
    bounds = [0, *places, len(data)]
    return [data[start:end] for start, end in itertools.pairwise(bounds)]


SPLITS = {
    "all at once": [],
    "header, body": [HEAD],
    "header, body in two pieces": [HEAD, HEAD + 35_000],
    "header, body in small pieces": [HEAD, *range(HEAD + 4000, HEAD + 40_000, 4000)],
    "header with the start of the body": [HEAD + 10],
    "within the header": [HEAD // 2],
    "the last byte alone": [HEAD + 39_999],
}


async def _send(wire: Wire, pieces: Sequence[bytes], pause: float = 0.0) -> tuple[int, bytes]:
    """Write the pieces each by itself, as soon as the one before is on its way."""
    for piece in pieces:
        wire.send(piece)
        await asyncio.sleep(pause)
    reply = await wire.reply()
    return reply.status, reply.body


@pytest.mark.parametrize("places", [pytest.param(places, id=name) for name, places in SPLITS.items()])
async def test_a_body_of_any_pieces_is_answered(settings: Settings, authority: Authority, places: list[int]) -> None:
    bounds = limits(header_seconds=10.0)
    async with running(settings, authority, bounds=bounds) as server, server.wire() as wire:
        for _ in range(5):
            assert await _send(wire, _cut(post(BODY), *places)) == (200, b"seen " + b"x" * 20)


@pytest.mark.parametrize("places", [SPLITS["header, body"], SPLITS["header, body in small pieces"]])
async def test_bodies_of_fifty_connections_at_a_time_are_answered(
    settings: Settings, authority: Authority, places: list[int]
) -> None:
    async def ask(server: Running) -> list[tuple[int, bytes]]:
        async with server.wire() as wire:
            return [await _send(wire, _cut(post(BODY, "/mutate?timeout=10s"), *places)) for _ in range(10)]

    async def ask_all(server: Running) -> list[list[tuple[int, bytes]]]:
        return await asyncio.gather(*(ask(server) for _ in range(50)))

    async with running(settings, authority, bounds=limits(header_seconds=10.0, handshake_seconds=10.0)) as server:
        # Clients on a loop of their own, so that pieces come whatever the server does.
        replies = await asyncio.to_thread(asyncio.run, ask_all(server))
        assert {reply for found in replies for reply in found} == {(200, b"seen " + b"x" * 20)}
        assert server.figure("connection_failures_total", cause="capacity") == 0


async def test_a_refusal_reaches_a_client_that_still_sends_its_body(settings: Settings, authority: Authority) -> None:
    async with (
        running(settings, authority, bounds=limits(header_seconds=10.0, farewell_seconds=10.0)) as server,
        server.wire() as wire,
    ):
        wire.send(post(b"", "/nowhere", Content_Length="200000"))
        for _ in range(10):
            await asyncio.sleep(0.01)
            wire.send(b"x" * 20_000)
        assert (await wire.reply()).status == 404
        assert await asyncio.wait_for(wire.closed(), 5)
        assert server.figure("connection_failures_total", cause="capacity") == 0


@pytest.mark.parametrize("sent", [0, 1000, 39_999])
@pytest.mark.parametrize("announced", [True, False], ids=["closure of TLS", "end of TCP alone"])
async def test_a_body_that_ends_too_early_ends_the_connection(
    server: Running, sent: int, caplog: pytest.LogCaptureFixture, *, announced: bool
) -> None:
    """The client can still read, but no answer can come: aiohttp closes a connection of which one half has ended."""
    data = post(BODY, "/mutate?timeout=10s")[: HEAD + sent]
    assert await asyncio.to_thread(_cut_short, server, data, announced=announced) == b""
    assert (await server.ask(post())).status == 200
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == []


def _cut_short(server: Running, data: bytes, *, announced: bool) -> bytes:
    """All that comes after a client has sent the data, and has said that it sends nothing more."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=2) as plain:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = server.client.wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                plain.sendall(outgoing.read())
                incoming.write(plain.recv(65536))
        tls.write(data)
        if announced:
            with contextlib.suppress(ssl.SSLWantReadError):
                tls.unwrap()
        plain.sendall(outgoing.read())
        plain.shutdown(socket.SHUT_WR)
        while piece := plain.recv(65536):
            incoming.write(piece)
        with contextlib.suppress(ssl.SSLWantReadError, ssl.SSLZeroReturnError):
            return b"" if announced else tls.read()
        return b""
