"""Long answers, sent in pieces between which other work is done."""

import asyncio
from typing import cast

import pytest
from aiohttp.abc import AbstractStreamWriter

from webhook.server.http.long_body import PIECE, LongBody
from webhook.server.http.replies import json, long_json


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
