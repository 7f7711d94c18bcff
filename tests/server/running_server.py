"""A real server in this process, on ports of loopback, and a client that can misbehave byte by byte."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import msgspec

from tests.server.pki import Authority
from webhook.admission.answer import Answer, Outcome
from webhook.server.fatal_error import FatalError
from webhook.server.http.limits import Limits
from webhook.server.lifecycle import Service, run_server
from webhook.server.metrics import Metrics, ReviewMetrics
from webhook.settings import Settings

QUICK = Limits(header_seconds=0.3, handshake_seconds=0.3, farewell_seconds=0.2, finish_seconds=2.0)
"""The bounds of the product, at a pace that tests can wait for."""

PATIENT = msgspec.structs.replace(QUICK, header_seconds=20.0, handshake_seconds=20.0)
"""The same for clients that are slow only because the machine is busy."""


def limits(**tweaks: Any) -> Limits:
    """The quick bounds, but for these."""
    return msgspec.structs.replace(QUICK, **tweaks)


def allow(body: bytes) -> Answer:
    """A reviewer that allows everything and says what it was asked."""
    return Answer(status=200, body=b"seen " + body[:20], outcome=Outcome.ALLOWED, kind="Pod", uid="u-1")


class Reply(msgspec.Struct):
    """An HTTP answer, as it came over the wire."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> str:
        """The message of a ``metav1.Status``."""
        return str(msgspec.json.decode(self.body)["message"])


class Wire:
    """One connection, without any manners."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def send(self, data: bytes) -> None:
        """Put it on the wire."""
        self._writer.write(data)

    async def reply(self) -> Reply:
        """The next answer."""
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:-2])}
        body = await self._reader.readexactly(int(headers.get("content-length", "0")))
        return Reply(int(head[0].split()[1]), headers, body)

    async def line(self) -> bytes:
        """The next line."""
        return await self._reader.readline()

    async def closed(self) -> bool:
        """Whether the server hangs up now; waits for it."""
        with contextlib.suppress(ConnectionError):
            return await self._reader.read() == b""
        return True

    async def close(self) -> None:
        """Hang up."""
        self._writer.close()
        with contextlib.suppress(ConnectionError, TimeoutError, ssl.SSLError):
            await self._writer.wait_closed()


class Running:
    """A server that runs; ``task`` is its lifecycle."""

    def __init__(
        self, task: asyncio.Task[None], reviews: str, health: str, metrics: Metrics, trusts: Authority
    ) -> None:
        self.task = task
        self.reviews = reviews
        self.health = health
        self.metrics = metrics
        self.client = trusts.client()
        self.host, _, port = reviews.removeprefix("https://").rpartition(":")
        self.port = int(port)

    @contextlib.asynccontextmanager
    async def wire(self, tls: ssl.SSLContext | None = None) -> AsyncIterator[Wire]:
        """A connection of one's own."""
        wire = Wire(*await asyncio.open_connection(self.host.strip("[]"), self.port, ssl=tls or self.client))
        try:
            yield wire
        finally:
            await wire.close()

    async def ask(self, data: bytes) -> Reply:
        """The answer to these bytes on a connection of their own."""
        async with self.wire() as wire:
            wire.send(data)
            return await wire.reply()

    async def get(self, path: str) -> tuple[int, str]:
        """Status and text of a page on the port for health."""
        async with aiohttp.ClientSession() as session, session.get(self.health + path) as reply:
            return reply.status, await reply.text()

    def figure(self, name: str, **labels: str) -> float | None:
        """The value of a metric."""
        return self.metrics.registry.get_sample_value(f"streams_placement_{name}", labels)


def post(body: bytes = b"{}", path: str = "/mutate", /, **headers: str) -> bytes:
    """A well-formed review, but for these headers; an empty value leaves a header out."""
    fields = {"Host": "webhook", "Content-Type": "application/json", "Content-Length": str(len(body))}
    fields.update({name.replace("_", "-"): value for name, value in headers.items()})
    lines = [f"{name}: {value}\r\n" for name, value in fields.items() if value]
    return f"POST {path} HTTP/1.1\r\n{''.join(lines)}\r\n".encode() + body


@contextlib.asynccontextmanager
async def running(
    settings: Settings, authority: Authority, service: Service | None = None, bounds: Limits = QUICK
) -> AsyncIterator[Running]:
    """Start a server and wait until it answers; end it afterwards, however the test went."""
    announced: list[str] = []
    told = asyncio.Event()

    def announce(*urls: str) -> None:
        announced.extend(urls)
        told.set()

    metrics = ReviewMetrics()
    service = service or Service({"/mutate": allow, "/validate": allow}, lambda: None)
    task = asyncio.create_task(run_server(service, settings, metrics=metrics, announce=announce, limits=bounds))
    waiting = asyncio.create_task(told.wait())
    await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED, timeout=10)
    waiting.cancel()
    try:
        yield Running(task, announced[0], announced[1], metrics, authority)
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError, FatalError):
            await task
