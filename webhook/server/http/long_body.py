"""``LongBody``: the body of a long answer, sent in pieces, so that the event loop does other work in between."""

import asyncio
from typing import Final, cast

from aiohttp.abc import AbstractStreamWriter
from aiohttp.http_writer import StreamWriter
from aiohttp.payload import Payload

PIECE: Final = 64 * 1024
"""Bytes that are sent without a pause: TLS and copies take some milliseconds for each MB."""


class LongBody(Payload):
    """A body that is whole; the client sees no difference."""

    def __init__(self, body: bytes | bytearray) -> None:
        super().__init__(body)
        self._size = len(body)

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """The body as text."""
        return str(self._value, encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        """Hand the body to the connection, which keeps what the client has not read, as with other answers."""
        whole = memoryview(self._value)
        for begin in range(0, len(whole), PIECE):
            await cast("StreamWriter", writer).write(whole[begin : begin + PIECE], drain=False)
            await asyncio.sleep(0)
