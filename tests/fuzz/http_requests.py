"""What must hold of the bytes on a connection: the head of a request, its body, and what follows."""

import asyncio
import functools
import re
from collections.abc import Iterator
from typing import Any, Final

from tests.admission.hostile.readable_answers import CLUSTER
from tests.builders import pod, review
from tests.fuzz.oracles import nothing_logged_as_ours, readable
from tests.server.running_server import post
from webhook.admission.mutate import mutate
from webhook.placement.inventory.policy import Policy
from webhook.server.http.connection import Connections
from webhook.server.http.limits import REVIEWS
from webhook.server.metrics import ReviewMetrics
from webhook.server.reviews import Reviews

_STATUS: Final = re.compile(rb"HTTP/[0-9]\.[0-9] ([0-9]{3}) [^\r\n]*\r\n")
_KNOWN: Final = frozenset({b"100", b"200", b"400", b"404", b"405", b"413", b"415", b"503"})
"""Answers to a request; 500 and all others are a fault of ours."""

_TURNS: Final = 8
"""Iterations of the loop in which a request is answered."""

_PIECES: Final = b"\x1e"
"""Where the bytes are cut into pieces that arrive one after the other."""


class _Wire(asyncio.Transport):
    """A transport that keeps what is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = bytearray()
        self.closed = False

    def write(self, data: Any) -> None:
        self.sent += data

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = True

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def is_reading(self) -> bool:
        return not self.closed

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("10.0.0.1", 1) if name == "peername" else default


@functools.cache
def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()


def connection(data: bytes) -> None:
    """Whatever arrives, what is sent are answers of HTTP, none of them is a 500, and nothing is logged as our fault."""
    with nothing_logged_as_ours():
        sent = _loop().run_until_complete(_sent(data.split(_PIECES)))
    while sent:
        status = _STATUS.match(sent)
        assert status, sent[:200]
        assert status[1] in _KNOWN, sent[:400]
        head, separator, rest = sent.partition(b"\r\n\r\n")
        assert separator, sent[:200]
        readable(head.replace(b"\r", b"").decode("ascii"), 2048)
        length = re.search(rb"\r\n[Cc]ontent-[Ll]ength: ([0-9]+)", head)
        sent = rest[int(length[1]) if length else 0 :]


async def _sent(pieces: list[bytes]) -> bytes:
    metrics = ReviewMetrics()
    reviews = Reviews({"/mutate": lambda body: mutate(body, CLUSTER, Policy())}, ready=lambda: None, metrics=metrics)
    connections = Connections(reviews, REVIEWS, metrics, reviews.at_once)
    wire, opened = _Wire(), connections.accept("10.0.0.1")
    opened.connection_made(wire)
    for piece in pieces:
        if wire.closed:
            break
        opened.data_received(piece)
        for _ in range(_TURNS):
            await asyncio.sleep(0)
    opened.connection_lost(None)
    for _ in range(_TURNS):
        await asyncio.sleep(0)
    return bytes(wire.sent)


def request_seeds() -> Iterator[bytes]:
    """Requests as the API server sends them, and others."""
    body = review(pod())
    yield post(body, "/mutate?timeout=10s")
    yield post(body)[:200] + _PIECES + post(body)[200:]
    yield post(body) + post(body)
    yield post(b"{}", "/nowhere")
    yield post(b"{}", Content_Type="text/plain")
    yield post(b"{}", Content_Encoding="gzip")
    yield post(b"{}", Expect="100-continue")
    yield post(b"", Content_Length="", Transfer_Encoding="chunked") + b"2\r\n{}\r\n0\r\n\r\n"
    yield b"GET /mutate HTTP/1.1\r\nHost: h\r\n\r\n"
    yield b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    yield b"POST /mutate HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    yield b"POST /mutate HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    yield b"\x16\x03\x01\x02\x00\x01"
