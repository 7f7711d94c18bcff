"""A listening port: a bounded number of connections, each handshake bounded in time.

Connections are accepted here and not by ``loop.create_server``, because that one neither counts handshakes nor lets
the TLS context be exchanged.
"""

import asyncio
import functools
import logging
import socket
import ssl
from collections.abc import Callable
from time import perf_counter
from typing import Any, Final

from webhook.server.connection import Connections, HttpConnection
from webhook.server.fatal_error import FatalError

_log = logging.getLogger(__name__)

_BREATH: Final = 0.1
"""Seconds until the next attempt, when the system has no file descriptor left."""

_BLINK: Final = 0.02
"""Seconds between two looks whether the last request is finished."""


def bind(host: str, port: int) -> socket.socket:
    """A socket that has the address, but does not listen yet: clients are refused until it does."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as trouble:
        raise FatalError(f"cannot listen on {host} port {port}: {trouble.strerror}") from trouble
    try:
        listener.settimeout(0)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, host != "::")
        listener.bind(address)
    except OSError as trouble:
        listener.close()
        raise FatalError(f"cannot listen on {host} port {port}: {trouble.strerror}") from trouble
    return listener


class Site:
    """One port; ``tls`` gives the context for the next handshake, or is ``None`` for plain HTTP."""

    def __init__(
        self, listener: socket.socket, connections: Connections, tls: Callable[[], ssl.SSLContext] | None = None
    ) -> None:
        self._listener = listener
        self._tls = tls
        self._sweeper: asyncio.Task[None] | None = None
        self._breath: asyncio.TimerHandle | None = None
        self.connections = connections

    @property
    def url(self) -> str:
        """Where it listens, as a URL without a path."""
        host, port = self._listener.getsockname()[:2]
        scheme = "http" if self._tls is None else "https"
        return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"

    def start(self) -> None:
        """Listen from now on; raises :class:`FatalError` where another program that had the port as well was faster."""
        host, port = self._listener.getsockname()[:2]
        try:
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.connections.limits.receive_buffer)
            self._listener.listen(self.connections.limits.backlog)
        except OSError as trouble:
            self._listener.close()
            raise FatalError(f"cannot listen on {host} port {port}: {trouble.strerror}") from trouble
        self._sweeper = asyncio.create_task(self.connections.sweep())
        self._resume()

    async def stop(self, seconds: float) -> None:
        """Stop listening, give requests that have begun that many seconds, then end all connections."""
        self.release()
        for _ in range(round(seconds / _BLINK)):
            if not self._unfinished():
                break
            await asyncio.sleep(_BLINK)
        tasks = [connection.greeting for connection in self.connections.open if connection.greeting is not None]
        if self._sweeper is not None:
            tasks.append(self._sweeper)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.connections.shutdown(_BLINK)  # aiohttp takes 0 for ever

    def release(self) -> None:
        """Give the port back, if that has not been done."""
        if self._listener.fileno() >= 0:
            self._pause()
            self._listener.close()

    def abort(self) -> None:
        """End all connections, and handshakes, at once."""
        for connection in tuple(self.connections.open):
            connection.abort()

    def _unfinished(self) -> bool:
        now = perf_counter()
        return any(connection.unfinished(now) for connection in self.connections.open)

    def _resume(self) -> None:
        asyncio.get_running_loop().add_reader(self._listener, self._accept)

    def _pause(self) -> None:
        asyncio.get_running_loop().remove_reader(self._listener)
        if self._breath is not None:
            self._breath.cancel()

    def _accept(self) -> None:
        """Greet the client that waits; called again when there is another one."""
        try:
            client, address = self._listener.accept()
        except OSError as trouble:
            _log.warning("cannot accept a connection: %s", trouble.strerror)
            self._pause()
            self._breath = asyncio.get_running_loop().call_later(_BREATH, self._resume)
            return
        if self._full() and not self.connections.make_room():
            self.connections.metrics.connection_failed("capacity")
            client.close()
            return
        client.settimeout(0)
        connection = self.connections.welcome(address[0])
        connection.greeting = asyncio.create_task(self._greet(client, connection))
        connection.greeting.add_done_callback(functools.partial(self._greeted, client, connection))

    def _full(self) -> bool:
        return len(self.connections.open) >= self.connections.limits.connections

    async def _greet(self, client: socket.socket, connection: HttpConnection) -> None:
        limits = self.connections.limits
        options: dict[str, Any] = {}
        if self._tls is not None:
            options["ssl"] = self._tls()
            options["ssl_handshake_timeout"] = limits.handshake_seconds
            options["ssl_shutdown_timeout"] = limits.farewell_seconds
        try:
            await asyncio.get_running_loop().connect_accepted_socket(lambda: connection, client, **options)
        except OSError as trouble:  # ssl.SSLError among them
            self.connections.metrics.connection_failed("handshake")
            _log.debug("a handshake failed: %s", trouble)

    def _greeted(self, client: socket.socket, connection: HttpConnection, _: asyncio.Task[None]) -> None:
        connection.greeting = None
        if connection.transport is None:
            self.connections.open.discard(connection)
            client.close()
