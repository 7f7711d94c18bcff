"""A webhook in a process of its own, one that floods its port, and honest pods meanwhile.

The flood alone: ``python -m tests.server.http.flood_process KIND COUNT SIZE PORT FOLDER``; it lasts until it is killed.
"""

import asyncio
import contextlib
import os
import ssl
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from tests.builders import pod, review
from tests.server.running_server import post

ROOT = Path(__file__).parents[3]

HONEST = review(pod("host(Tagged)", labels={f"example.com/l{at}": "x" * 60 for at in range(50)}))
"""A review of some 5 KB."""

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"

PAUSE = 0.02
"""Seconds between an honest answer and the next question."""


class Flooded:
    """A webhook that runs; ``pid`` is its process, ``folder`` has its authority."""

    def __init__(self, pid: int, port: int, folder: Path) -> None:
        self.pid = pid
        self.port = port
        self.folder = folder
        self._tls = ssl.create_default_context(cafile=folder / "ca.crt")

    def resident(self) -> float:
        """MB of memory that the process has now."""
        return self._status("VmRSS")

    def highest(self) -> float:
        """MB of memory that it had at most."""
        return self._status("VmHWM")

    async def connect(self, address: str = "127.0.0.1") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection from that address of loopback."""
        return await asyncio.open_connection("127.0.0.1", self.port, ssl=self._tls, local_addr=(address, 0))

    async def ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes) -> int:
        """The status of the answer to a review."""
        writer.write(post(body, "/mutate?timeout=10s"))
        await writer.drain()
        return await answered(reader)

    def _status(self, field: str) -> float:
        lines = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))


async def answered(reader: asyncio.StreamReader) -> int:
    """The status of the next answer, all of which is read."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    length = next(line.partition(":")[2] for line in head.split("\r\n") if line.lower().startswith("content-length"))
    await reader.readexactly(int(length))
    return int(head.split()[1])


@contextlib.asynccontextmanager
async def served(folder: Path, *flags: str) -> AsyncIterator[Flooded]:
    """A webhook over the example cluster."""
    command = ["-m", "webhook", "serve", "--snapshot", str(ROOT / "examples/cluster"), "--tls-self-signed"]
    command += ["--tls-dir", str(folder), "--port", "0", "--health-port", "0", "--drain", "0"]
    command += ["--log-level", "error", *flags]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, cwd=ROOT, stdout=asyncio.subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    try:
        assert process.stdout is not None
        ready = (await asyncio.wait_for(process.stdout.readline(), 30)).decode().split()
        yield Flooded(process.pid, int(ready[1].rpartition(":")[2]), folder)
    finally:
        process.terminate()
        await process.wait()


async def honest(server: Flooded, seconds: float) -> list[float]:
    """How long the reviews of an honest pod took, each an answer of 200, one after the other."""
    took: list[float] = []
    reader, writer = await server.connect()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        start = time.monotonic()
        assert await asyncio.wait_for(server.ask(reader, writer, HONEST), 10) == 200
        took.append(time.monotonic() - start)
        await asyncio.sleep(PAUSE)
    writer.close()
    return took


def p99(took: list[float]) -> float:
    """The time that one in a hundred exceeds."""
    return sorted(took)[len(took) * 99 // 100]


@contextlib.asynccontextmanager
async def flooded(server: Flooded, kind: str, count: int, size: int) -> AsyncIterator[None]:
    """So many clients that attack meanwhile, in a process of their own, again and again."""
    command = [
        "-m",
        "tests.server.http.flood_process",
        kind,
        str(count),
        str(size),
        str(server.port),
        str(server.folder),
    ]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        assert process.stdout is not None
        assert await asyncio.wait_for(process.stdout.readline(), 60) == b"flooding\n"
        yield
    finally:
        process.kill()
        await process.wait()


def padded(size: int) -> bytes:
    """A review of so many bytes, which is valid and judged."""
    return review(pod("hostIsolation", annotations={"example.com/pad": "x" * size}))


def spaced(size: int) -> bytes:
    """A review of so many bytes in a form of its own, with very many values."""
    return b" " + review(pod("hostIsolation"), options=[[]] * (size // 3))


def expensive(size: int) -> bytes:
    """A review of some so many bytes that takes longer to judge than most: a pod of many terms."""
    needs = [{"key": f"example.com/k{at}", "operator": "NotIn", "values": [f"v{at}"]} for at in range(30)]
    required = {"nodeSelectorTerms": [{"matchExpressions": needs}] * (size // 2000)}
    return review(pod("hostIsolation", affinity={"nodeAffinity": {_REQUIRED: required}}))


async def _send(server: Flooded, body: bytes) -> None:
    """Ask, as fast as answers come."""
    reader, writer = await server.connect()
    with contextlib.closing(writer):
        while True:
            await server.ask(reader, writer, body)


async def _dribble(server: Flooded, body: bytes) -> None:
    """Send the header and the first part of the body, then ten bytes at a time."""
    _, writer = await server.connect()
    with contextlib.closing(writer):
        head = post(b"", "/mutate?timeout=10s", Content_Length=str(len(body)))
        writer.write(head + body[: len(body) // 2])
        for at in range(len(body) // 2, len(body), 10):
            await writer.drain()
            await asyncio.sleep(0.2)
            writer.write(body[at : at + 10])


async def _ahead(server: Flooded, body: bytes) -> None:
    """Send requests ahead, and read no answer."""
    _, writer = await server.connect()
    with contextlib.closing(writer):
        while True:
            writer.write(post(body, "/mutate?timeout=10s"))
            await writer.drain()


_ATTACKS: dict[str, tuple[Callable[[Flooded, bytes], Awaitable[None]], Callable[[int], bytes]]] = {
    "bodies": (_send, padded),
    "spaced": (_send, spaced),
    "reviews": (_send, expensive),
    "dribble": (_dribble, padded),
    "ahead": (_ahead, padded),
}


async def _flood(kind: str, count: int, size: int, server: Flooded) -> None:
    attack, make = _ATTACKS[kind]
    body = make(size)

    async def again() -> None:
        while True:
            with contextlib.suppress(OSError, EOFError):
                await attack(server, body)
            await asyncio.sleep(0.05)

    sys.stdout.write("flooding\n")
    sys.stdout.flush()
    await asyncio.gather(*(again() for _ in range(count)))


if __name__ == "__main__":
    folder = Path(sys.argv[5])
    asyncio.run(_flood(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Flooded(0, int(sys.argv[4]), folder)))
