"""The lines of a watch, which another thread can end."""

import contextlib
import http.client
import json
import socket
from collections.abc import Iterator
from typing import Any


class Stream:
    """Events, until the API server ends the watch or is silent for longer than the time-out, or until ``end``."""

    def __init__(self, connection: http.client.HTTPSConnection, reply: http.client.HTTPResponse) -> None:
        self._connection = connection
        self._reply = reply

    def __iter__(self) -> Iterator[dict[str, Any]]:
        try:
            while line := self._reply.readline():
                yield json.loads(line)
        finally:
            self._connection.close()
            self._reply.close()

    def end(self) -> None:
        """Let the iteration end now, in whatever thread it is."""
        with contextlib.suppress(OSError):  # it has ended
            if self._connection.sock is not None:
                socket.socket.shutdown(self._connection.sock, socket.SHUT_RDWR)  # beneath TLS, which is not thread-safe
