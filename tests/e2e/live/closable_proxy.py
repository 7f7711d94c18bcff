"""A proxy in front of the API server that can refuse or cut connections, or keep them open and silent."""

import asyncio
import contextlib
import threading
from collections.abc import Coroutine
from typing import Any, Final, Self

from tests.e2e.programs.ports import free_ports

_CHUNK: Final = 1 << 18
_SECONDS: Final = 5
"""For anything that this does to itself."""


class ClosableProxy:
    """``with Gate(port) as gate``: whoever connects to ``gate.port`` reaches ``target``, a port of loopback."""

    def __init__(self, target: int) -> None:
        self.target = target
        (self.port,) = free_ports(1)
        self.moved = 0
        """Bytes that have come back."""
        self._flowing = True
        self._links: dict[asyncio.Task[None], asyncio.Event] = {}
        self._loop = asyncio.new_event_loop()
        self._listener: asyncio.Server | None = None
        self._thread = threading.Thread(target=self._loop.run_forever, name="gate", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._do(self._listen())
        return self

    def __exit__(self, *_: object) -> None:
        self.shut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_SECONDS)
        self._loop.close()

    def shut(self) -> None:
        """Cut every connection and refuse new ones."""
        self._do(self._shut())

    def hang(self) -> None:
        """Let nothing through any more, neither on connections that are open nor on new ones, and close nothing."""
        self._do(self._hush(flowing=False))

    def strand(self) -> None:
        """The same for connections that are open; new ones work."""
        self._do(self._hush(flowing=True))

    def open(self) -> None:
        """Let everything through, also what has waited."""
        self._do(self._open())

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(_SECONDS)

    async def _listen(self) -> None:
        self._listener = await asyncio.start_server(self._accept, "127.0.0.1", self.port)

    async def _shut(self) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        links = list(self._links)
        for link in links:
            link.cancel()
        await asyncio.gather(*links, return_exceptions=True)
        await asyncio.sleep(0)  # transports end one turn later

    async def _hush(self, *, flowing: bool) -> None:
        self._flowing = flowing
        for event in self._links.values():
            event.clear()

    async def _open(self) -> None:
        self._flowing = True
        for event in self._links.values():
            event.set()
        if self._listener is None:
            await self._listen()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        link = asyncio.current_task()
        assert link is not None
        flowing = self._links[link] = asyncio.Event()
        if self._flowing:
            flowing.set()
        try:
            # cancelled when the gate is shut
            with contextlib.suppress(OSError, asyncio.CancelledError), contextlib.closing(writer):
                upstream, back = await asyncio.open_connection("127.0.0.1", self.target)
                with contextlib.closing(back):
                    await asyncio.gather(self._pump(reader, back, flowing), self._pump(upstream, writer, flowing))
        finally:
            del self._links[link]

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, flowing: asyncio.Event) -> None:
        """Bytes in one direction until their end, which ends the other direction, too."""
        while data := await source.read(_CHUNK):
            await flowing.wait()
            sink.write(data)
            await sink.drain()
            self.moved += len(data)
        sink.close()
