"""Long answers, sent in pieces between which other work is done."""

import asyncio
import socket
from collections.abc import Callable
from typing import cast
from urllib.parse import urlsplit

import pytest
from aiohttp import web
from aiohttp.abc import AbstractStreamWriter

from tests.server.running_server import limits
from webhook.server.http.connection import Connections
from webhook.server.http.listener import Listener, bind
from webhook.server.http.long_body import PIECE, LongBody
from webhook.server.http.replies import json, long_json
from webhook.server.metrics import Metrics


class SentPieces:
    """A writer of tests: what it was given, and how much other work was done by then."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.turns: list[int] = []
        self.turn = 0

    async def write(self, piece: memoryview, *, drain: bool) -> None:
        assert not drain
        self.pieces.append(bytes(piece))
        self.turns.append(self.turn)

    async def work(self) -> None:
        """Other work of the loop."""
        while True:
            self.turn += 1
            await asyncio.sleep(0)


@pytest.mark.parametrize("size", [0, 1, PIECE, PIECE + 1, 3 * PIECE])
async def test_other_work_is_done_between_pieces(size: int) -> None:
    body, writer = bytearray(number % 251 for number in range(size)), SentPieces()
    working = asyncio.create_task(writer.work())
    await LongBody(body).write(cast("AbstractStreamWriter", writer))
    working.cancel()
    assert b"".join(writer.pieces) == body
    assert all(len(piece) <= PIECE for piece in writer.pieces)
    assert len(set(writer.turns)) == len(writer.turns) == -(-size // PIECE)


def test_a_long_body_has_the_headers_of_any_other() -> None:
    long, short = long_json(201, b"{}"), json(201, b"{}")
    assert (long.status, long.headers, long.text) == (short.status, short.headers, short.text)


@pytest.mark.integration
@pytest.mark.parametrize("answer", [json, long_json])
async def test_unread_answers_are_bounded_however_they_are_sent(answer: Callable[[int, bytes], web.Response]) -> None:
    async def handler(_request: web.BaseRequest, _arrived: float) -> web.Response:
        return answer(200, bytes(16_000_000))

    metrics = Metrics()
    bounds = limits(header_seconds=600.0, bodies=1_000_000)
    listener = Listener(bind("127.0.0.1", 0), Connections(handler, bounds, metrics))
    listener.start()
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # the system keeps little of what is not read
    try:
        client.connect(("127.0.0.1", urlsplit(listener.url).port))
        client.sendall(b"GET / HTTP/1.1\r\nHost: webhook\r\n\r\n")
        async with asyncio.timeout(60):
            while not ended(metrics):  # noqa: ASYNC110 -- nobody tells of it
                await asyncio.sleep(0.01)
    finally:
        client.close()
        await listener.stop(0)


def ended(metrics: Metrics) -> float | None:
    """How many connections were ended because answers were not read."""
    return metrics.registry.get_sample_value("streams_placement_connection_failures_total", {"cause": "capacity"})
