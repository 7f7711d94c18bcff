"""A listening port: ``bind`` makes its socket, ``Listener`` accepts connections and makes their TLS handshakes.

The number of connections is bounded, and the time of each handshake. ``loop.create_server`` is not used, because it
does not count handshakes, and does not let the TLS context be replaced.
"""

import asyncio
import functools
import logging
import socket
import ssl
from collections.abc import Callable
from time import perf_counter
from typing import Any, Final

from webhook.server.fatal_error import FatalError
from webhook.server.http.connection import ClientConnection, Connections

_log = logging.getLogger(__name__)

_RETRY: Final = 0.1
"""Seconds until the next attempt to accept, when the system has no file descriptor left."""

_POLL: Final = 0.02
"""Seconds between two looks whether the last request is finished."""


def bind(host: str, port: int) -> socket.socket:
    """A socket that is bound to the address and does not listen yet, so that clients are still refused.

    Raises :class:`FatalError` if the address cannot be bound.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
    except OSError as error:
        raise FatalError(f"cannot listen on {host} port {port}: {error.strerror}") from error
    try:
        bound.settimeout(0)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, host != "::")
        bound.bind(address)
    except OSError as error:
        bound.close()
        raise FatalError(f"cannot listen on {host} port {port}: {error.strerror}") from error
    return bound


class Listener:
    """Accepts connections on one bound socket; ``tls`` returns the context for the next handshake, ``None``: no TLS."""

    def __init__(
        self, bound: socket.socket, connections: Connections, tls: Callable[[], ssl.SSLContext] | None = None
    ) -> None:
        self._socket = bound
        self._tls = tls
        self._sweeper: asyncio.Task[None] | None = None
        self._retry: asyncio.TimerHandle | None = None
        self.connections = connections

    @property
    def url(self) -> str:
        """The URL of the port, without a path."""
        host, port = self._socket.getsockname()[:2]
        scheme = "http" if self._tls is None else "https"
        return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"

    @property
    def started(self) -> bool:
        """Whether it has begun to listen."""
        return self._sweeper is not None

    def start(self) -> None:
        """Start to listen; raises :class:`FatalError` if another program listens on the same address already."""
        host, port = self._socket.getsockname()[:2]
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.connections.limits.receive_buffer)
            self._socket.listen(self.connections.limits.backlog)
        except OSError as error:
            self._socket.close()
            raise FatalError(f"cannot listen on {host} port {port}: {error.strerror}") from error
        self._sweeper = asyncio.create_task(self.connections.sweep())
        self._resume()

    async def stop(self, seconds: float) -> None:
        """Stop listening, give requests that have begun so many seconds, then end all connections."""
        self.release()
        for _ in range(round(seconds / _POLL)):
            if not self._unfinished():
                break
            await asyncio.sleep(_POLL)
        tasks = [connection.handshake for connection in self.connections.open if connection.handshake is not None]
        if self._sweeper is not None:
            tasks.append(self._sweeper)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.connections.shutdown(_POLL)  # aiohttp would wait without a limit if this were 0

    def release(self) -> None:
        """Close the listening socket; does nothing if it is closed already."""
        if self._socket.fileno() >= 0:
            self._pause()
            self._socket.close()

    def abort(self) -> None:
        """End all connections and handshakes at once."""
        for connection in tuple(self.connections.open):
            connection.abort()

    def _unfinished(self) -> bool:
        now = perf_counter()
        return any(connection.unfinished(now) for connection in self.connections.open)

    def _resume(self) -> None:
        asyncio.get_running_loop().add_reader(self._socket, self._accept)

    def _pause(self) -> None:
        asyncio.get_running_loop().remove_reader(self._socket)
        if self._retry is not None:
            self._retry.cancel()

    def _accept(self) -> None:
        """Accept one connection and begin its handshake; the event loop calls this while connections wait."""
        try:
            client, address = self._socket.accept()
        except OSError as error:
            _log.warning("cannot accept a connection: %s", error.strerror)
            self._pause()
            self._retry = asyncio.get_running_loop().call_later(_RETRY, self._resume)
            return
        if self._full() and not self.connections.make_room():
            self.connections.metrics.connection_failed("capacity")
            client.close()
            return
        client.settimeout(0)
        connection = self.connections.accept(address[0])
        connection.handshake = asyncio.create_task(self._shake_hands(client, connection))
        connection.handshake.add_done_callback(functools.partial(self._handshake_done, client, connection))

    def _full(self) -> bool:
        return len(self.connections.open) >= self.connections.limits.connections

    async def _shake_hands(self, client: socket.socket, connection: ClientConnection) -> None:
        limits = self.connections.limits
        options: dict[str, Any] = {}
        if self._tls is not None:
            options["ssl"] = self._tls()
            options["ssl_handshake_timeout"] = limits.handshake_seconds
            options["ssl_shutdown_timeout"] = limits.farewell_seconds
        try:
            await asyncio.get_running_loop().connect_accepted_socket(lambda: connection, client, **options)
        except OSError as error:  # ssl.SSLError is one
            self.connections.metrics.connection_failed("handshake")
            _log.debug("a handshake failed: %s", error)

    def _handshake_done(self, client: socket.socket, connection: ClientConnection, _: asyncio.Task[None]) -> None:
        connection.handshake = None
        if connection.transport is None:
            self.connections.open.discard(connection)
            client.close()
