"""A replacement for kube-proxy: the cluster address of a Service reaches the processes of its ready endpoints.

Cluster addresses are inside of loopback (``apiserver.SERVICE_RANGE``), so listening on them needs no privileges, but
for ports below 1,024. As with kube-proxy a Service without ready endpoints refuses connections, endpoints that are
shutting down serve while there are no others, and connections that exist stay. TCP only.
"""

import asyncio
import contextlib
import itertools
import threading
import weakref
from typing import Final, Self

from tests.e2e.client.api import Api
from tests.e2e.client.watch_cache import Watching
from tests.e2e.pods.routes import Address, Routes, routes

_CHUNK: Final = 65_536

_THREAD_SECONDS: Final = 5


class ServiceProxy:
    """``with Forwarder(api, namespace)``: forwards for every Service of the namespace that has a cluster address."""

    def __init__(self, api: Api, namespace: str) -> None:
        self.routes: Routes = {}
        """Where each cluster address and port leads now."""
        self.troubles: list[str] = []
        """Why some address cannot be listened on, such as a port below 1,024 without privileges."""
        self._listeners: dict[Address, asyncio.Server] = {}
        self._connections: set[asyncio.Task[None]] = set()
        self._transports: weakref.WeakSet[asyncio.WriteTransport] = weakref.WeakSet()
        """Those that are closing stay until the other side has read what was sent."""
        self._turn = itertools.count()
        self._news = asyncio.Event()
        self._over = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._up = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), name="forwarder", daemon=True)
        self._services = Watching(api, f"/api/v1/namespaces/{namespace}/services", self._changed)
        endpoints = f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"
        self._slices = Watching(api, endpoints, self._changed)

    def __enter__(self) -> Self:
        self._thread.start()
        self._up.wait(_THREAD_SECONDS)
        self._services.start()
        self._slices.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._services.stop()
        self._slices.stop()
        self._over = True
        self._changed()
        self._thread.join(_THREAD_SECONDS)

    def _changed(self) -> None:
        """Called in the watches' threads."""
        assert self._loop is not None  # the watches start after it
        with contextlib.suppress(RuntimeError):  # the loop is closed: a last event after the end
            self._loop.call_soon_threadsafe(self._news.set)

    async def _main(self) -> None:
        """Follow the news; at the end hang up on all connections."""
        self._loop = asyncio.get_running_loop()
        self._up.set()
        while not self._over:
            await self._news.wait()
            self._news.clear()
            await self._follow()
        for listener in self._listeners.values():
            listener.close()
        ending = [*self._connections]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        for transport in self._transports:
            transport.abort()  # what was not sent yet would keep it open longer than the loop runs
        await asyncio.sleep(0)  # the transports close their sockets in a callback

    async def _follow(self) -> None:
        """Listen where there are endpoints, and nowhere else."""
        wanted = routes(self._services.objects.values(), self._slices.objects.values())
        for address in self._listeners.keys() - wanted.keys():
            self._listeners.pop(address).close()
        for address in wanted.keys() - self._listeners.keys():
            await self._listen(address)
        self.routes = {address: wanted[address] for address in self._listeners}

    async def _listen(self, address: Address) -> None:
        def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(self._forward(address, reader, writer))
            self._connections.add(task)
            self._transports.add(writer.transport)
            task.add_done_callback(self._connections.discard)

        try:
            self._listeners[address] = await asyncio.start_server(serve, *address)
        except OSError as trouble:
            self.troubles.append(f"cannot listen on {address[0]}:{address[1]}: {trouble}")

    async def _forward(self, address: Address, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, to the endpoint whose turn it is; hangs up if that does not answer."""
        quiet = contextlib.suppress(OSError, asyncio.CancelledError)  # cancelled when the forwarder ends
        with quiet, contextlib.closing(writer):
            targets = self.routes.get(address)
            if targets is None:
                return
            upstream, back = await asyncio.open_connection(*targets[next(self._turn) % len(targets)])
            self._transports.add(back.transport)
            with contextlib.closing(back):
                await asyncio.gather(_pump(reader, back), _pump(upstream, writer))


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Bytes in one direction. The end is passed on, so that half-closed connections work."""
    with contextlib.suppress(OSError):
        while data := await source.read(_CHUNK):
            sink.write(data)
            await sink.drain()
        sink.write_eof()
