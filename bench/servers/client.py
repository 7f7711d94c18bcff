"""A client that posts reviews over TLS with keep-alive at a fixed rate (open loop).

Requests are due by the clock. A duration counts from the time when its request was due, not from when a connection was
free for it. So if the server stalls, the requests that had to wait count with their waiting time.
"""

import asyncio
import gc
import ssl
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import cast
from urllib.parse import urlsplit

import uvloop
from msgspec import Struct

from bench.trouble import Trouble

REVIEWS = "/mutate"
"""Where reviews of pods go, if an URL has no path."""

PATIENCE = 10.0
"""Seconds after the last request was due until the run is given up."""


class Run(Struct):
    """What became of the requests of one run, in the order of their answers; times are seconds.

    ``lags`` are how late the client itself was, where a connection was free: the machine's doing, not the server's.
    """

    durations: list[float] = []
    answers: list[bytes] = []
    lags: list[float] = []


def steady(url: str, bodies: Sequence[bytes], *, rate: int, seconds: int, connections: int) -> Run:
    """``rate * seconds`` requests, evenly spaced."""
    run = _run(url, bodies, count=rate * seconds, gap=1 / rate, connections=connections)
    gc.collect()
    gc.disable()  # the client's own collections shall not be taken for the server's
    try:
        return uvloop.run(run)
    finally:
        gc.enable()


def answers(url: str, bodies: Sequence[bytes]) -> list[bytes]:
    """The answer to each body, one after the other."""
    return in_turn(url, bodies).answers


def in_turn(url: str, bodies: Sequence[bytes]) -> Run:
    """One request for each body, on one connection; each is sent when the one before it is answered."""
    return uvloop.run(_run(url, bodies, count=len(bodies), gap=0, connections=1))


async def _run(url: str, bodies: Sequence[bytes], *, count: int, gap: float, connections: int) -> Run:
    parts = urlsplit(url)
    address = parts.hostname or "", parts.port or 0
    loop = asyncio.get_running_loop()
    run, free, links = Run(), deque[_Link](), []
    try:
        for _ in range(connections):
            _, link = await loop.create_connection(lambda: _Link(run, free), *address, ssl=_context())
            links.append(link)
        await _post(
            [_request(parts.netloc, parts.path or REVIEWS, body) for body in bodies], free, run, count=count, gap=gap
        )
    finally:
        for link in links:
            link.close()
    return run


async def _post(requests: Sequence[bytes], free: "deque[_Link]", run: Run, *, count: int, gap: float) -> None:
    start = perf_counter()
    give_up = start + count * gap + PATIENCE
    for number in range(count):
        due = start + number * gap if gap else perf_counter()
        # Timers of event loops are coarse, a whole millisecond; this client has a core of its own to spin on.
        await _until(partial(_is, due), give_up, run)
        if free:
            run.lags.append(perf_counter() - due)
        await _until(lambda: bool(free), give_up, run)
        free.popleft().post(requests[number % len(requests)], due)
    await _until(lambda: len(run.answers) == count, give_up, run)


def _is(moment: float) -> bool:
    """Whether the moment has come."""
    return perf_counter() >= moment


async def _until(done: Callable[[], bool], give_up: float, run: Run) -> None:
    while not done():
        if perf_counter() > give_up:
            raise Trouble(f"only {len(run.answers)} requests were answered in time")
        await asyncio.sleep(0)


class _Link(asyncio.Protocol):
    """One connection; free again when its answer is complete."""

    def __init__(self, run: Run, free: "deque[_Link]") -> None:
        self._run, self._free = run, free
        self._transport: asyncio.Transport | None = None
        self._due = 0.0
        self._seen = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take requests from now on."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's own, which says nothing of its kind
        self._free.append(self)

    def post(self, request: bytes, due: float) -> None:
        """Send a request."""
        assert self._transport is not None
        self._due = due
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        """Note a complete answer, and be free again."""
        self._seen += data
        header, end, body = self._seen.partition(b"\r\n\r\n")
        if not end or len(body) < _length(header):
            return
        duration = perf_counter() - self._due
        if not header.startswith(b"HTTP/1.1 200 "):
            body = header + end + body
        self._seen = b""
        self._run.durations.append(duration)
        self._run.answers.append(body)
        self._free.append(self)

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.abort()


def _length(header: bytes) -> int:
    return int(header.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])


def _request(host: str, path: str, body: bytes) -> bytes:
    head = (
        f"POST {path}?timeout=10s HTTP/1.1",
        f"Host: {host}",
        "User-Agent: kube-apiserver-admission",
        f"Content-Length: {len(body)}",
        "Accept: application/json, */*",
        "Content-Type: application/json",
    )
    return "\r\n".join((*head, "", "")).encode() + body


def _context() -> ssl.SSLContext:
    """Trusts anyone: what is measured is on this machine, and its certificate was just made."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    return made
