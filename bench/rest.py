"""``python -m bench.rest``: the REST interface over a file: reads and durable writes a second, and a long list.

The server has one core, the client another one. The load is a closed loop: each connection sends its next request when
the last one is answered. Of the disk it is told what one flush costs, since that is what a durable write waits for.
"""

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Final, cast
from urllib.parse import urlsplit

import uvloop
from msgspec import Struct

from bench import machine, memory
from bench.servers import processes
from bench.trouble import Trouble

RESULTS: Final = Path(__file__).parent / "RESULTS-rest.md"

PATH: Final = "/v2/projects/p/composite-apps/c/v1/deployment-intent-groups/d/hpa-intents"
INTENTS: Final = 10_000
"""Intents in the file while it is measured."""

READS: Final = 2000
WRITES: Final = 300
"""The goals, a second."""


class Load(Struct, frozen=True):
    """What a closed loop of some connections came to: requests a second, and percentiles in seconds."""

    rate: float
    median: float
    tail: float
    core: float

    def __str__(self) -> str:
        return f"{self.rate:,.0f} | {self.median * 1e3:.1f} | {self.tail * 1e3:.1f} | {self.core:.0%}"


class _Connection(asyncio.Protocol):
    """Sends a request, and the next one when it is answered, until the time is over."""

    def __init__(self, request: Callable[[], bytes], until: float, expected: bytes) -> None:
        self._request = request
        self._until = until
        self._expected = expected
        self._seen = b""
        self._sent = 0.0
        self.durations: list[float] = []
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's own, which says nothing of its kind
        self._send()

    def data_received(self, data: bytes) -> None:
        """Note an answer that is complete."""
        self._seen += data
        head, end, body = self._seen.partition(b"\r\n\r\n")
        if not end or len(body) < int(head.partition(b"Content-Length: ")[2].partition(b"\r\n")[0]):
            return
        if not head.startswith(self._expected):
            self.done.set_exception(Trouble(f"a request was refused: {self._seen[:300]!r}"))
            self._transport.abort()
            return
        self.durations.append(perf_counter() - self._sent)
        self._seen = b""
        if self._sent < self._until:
            self._send()
        else:
            self.done.set_result(None)
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """The server has gone: a mistake, unless it is over."""
        if not self.done.done():
            self.done.set_exception(Trouble(f"the server has hung up: {exc}"))

    def _send(self) -> None:
        self._sent = perf_counter()
        self._transport.write(self._request())


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and write a page if asked to; returns the exit code."""
    parser = argparse.ArgumentParser(prog="bench.rest", description=__doc__)
    parser.add_argument("--seconds", type=int, default=10, help="For each row.")
    parser.add_argument("--folder", type=Path, default=processes.ROOT / ".cache" / "bench", help="Where the file is.")
    parser.add_argument("--results", type=Path, help="Where to write a table.")
    chosen = parser.parse_args(argv)
    processes.compile_product()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        rows = list(_measured(Path(folder), chosen.seconds))
    if chosen.results:
        chosen.results.write_text(_page(rows))
    return 0


def _measured(folder: Path, seconds: int) -> Iterator[str]:
    """The lines of the page, which are printed as well."""
    with processes.rest(folder) as server:
        names = count()
        _load(server, _creation(server, names), seconds=0.2, connections=1, expected=b"HTTP/1.1 201")
        while next(names) < INTENTS:
            _load(server, _creation(server, names), seconds=1, connections=64, expected=b"HTTP/1.1 201")
        one = _text(server, f"GET {PATH}/i-1 HTTP/1.1", b"")
        for what, goal, connections, request, expected in (
            ("reads of one intent", READS, 16, lambda: one, b"HTTP/1.1 200"),
            ("durable writes", WRITES, 16, _creation(server, names), b"HTTP/1.1 201"),
            ("durable writes", "", 64, _creation(server, names), b"HTTP/1.1 201"),
            ("durable writes, one after the other", "", 1, _creation(server, names), b"HTTP/1.1 201"),
        ):
            load = _load(server, request, seconds=seconds, connections=connections, expected=expected)
            met = "" if goal == "" else "yes" if load.rate >= float(goal) else "**no**"
            yield _told(f"| {what} | {connections} | {load} | {goal} | {met} |")
        before = memory.measure(server.pid)
        listed, size = _list(server)
        after = memory.measure(server.pid)
        grown = f", peak memory {before.peak:.0f} MB before and {after.peak:.0f} MB after" if before and after else ""
        yield _told(f"\nThe whole list: {size / 1e6:.1f} MB in {listed:.2f} s{grown}.")
        yield _told(f"\nOne flush (fsync of 4 KiB) of this disk: {_flush(folder) * 1e3:.2f} ms, the median of 200.")


def _told(line: str) -> str:
    print(line, flush=True)
    return line


def _load(
    server: processes.Server, request: Callable[[], bytes], *, seconds: float, connections: int, expected: bytes
) -> Load:
    """The load of one row; the client is on a core of its own."""
    before = memory.measure(server.pid)
    began = perf_counter()
    with processes.pinned(processes.cores()[1]):
        durations = sorted(uvloop.run(_loop(server, request, began + seconds, connections, expected)))
    took = perf_counter() - began
    after = memory.measure(server.pid)
    busy = (after.cpu_seconds - before.cpu_seconds) / took if before and after else 0.0
    middle, tail = durations[len(durations) // 2], durations[len(durations) * 99 // 100]
    return Load(len(durations) / took, middle, tail, busy)


async def _loop(
    server: processes.Server, request: Callable[[], bytes], until: float, connections: int, expected: bytes
) -> list[float]:
    loop, parts = asyncio.get_running_loop(), urlsplit(server.url)
    made = [
        await loop.create_connection(lambda: _Connection(request, until, expected), parts.hostname, parts.port)
        for _ in range(connections)
    ]
    try:
        await asyncio.gather(*(link.done for _, link in made))
    finally:
        for transport, _ in made:
            transport.abort()
        await asyncio.sleep(0.01)  # aborted transports end in the next iterations
    return [duration for _, link in made for duration in link.durations]


def _creation(server: processes.Server, names: Iterator[int]) -> Callable[[], bytes]:
    """Requests that create one intent after the other."""

    def request() -> bytes:
        body = b'{"metadata":{"name":"i-%d","description":"Cores of the firewall"},"spec":{"app":"fwall"}}' % next(
            names
        )
        return _text(server, f"POST {PATH} HTTP/1.1", body)

    return request


def _text(server: processes.Server, line: str, body: bytes) -> bytes:
    head = f"{line}\r\nHost: {urlsplit(server.url).netloc}\r\n"
    if body:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return f"{head}\r\n".encode() + body


def _list(server: processes.Server) -> tuple[float, int]:
    """Seconds and bytes of the whole list."""
    parts = urlsplit(server.url)

    async def read() -> int:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.write(_text(server, f"GET {PATH} HTTP/1.1\r\nConnection: close", b""))
        size = 0
        while piece := await reader.read(1 << 16):
            size += len(piece)
        writer.close()
        return size

    began = perf_counter()
    size = asyncio.run(read())
    return perf_counter() - began, size


def _flush(folder: Path) -> float:
    """The median time of a flush in seconds."""
    times = []
    with (folder / "flushed").open("wb", buffering=0) as file:
        for _ in range(200):
            file.write(b"x" * 4096)
            began = perf_counter()
            os.fsync(file.fileno())
            times.append(perf_counter() - began)
    return statistics.median(times)


def _page(rows: Sequence[str]) -> str:
    about = ", ".join(f"{name} {value}" for name, value in machine.describe())
    return f"""# The REST interface

Measured on {datetime.now(UTC).date()} by `python -m bench.rest --results bench/RESULTS-rest.md`: {about}.
The server has one core, the client another one. The file has {INTENTS:,} intents and more; every write is
flushed to the disk before it is answered. Closed loop: a connection sends its next request when the last one is
answered.

| what | connections | a second | median, ms | p99, ms | CPU of the server | goal, a second | met? |
|---|---|---|---|---|---|---|---|
{chr(10).join(rows)}
"""


if __name__ == "__main__":
    sys.exit(main())
