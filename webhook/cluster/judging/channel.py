"""``Channel``: the server's end of the socket to its worker, on the event loop, which it never blocks."""

import asyncio
import os
import socket
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from webhook.cluster.judging.messages import FromWorker, MessageReader, written

LIMIT: Final = 32 * 1024**2
"""Bytes that wait to be sent: ten of the largest Jobs, or the changes of a cluster for minutes."""

_PIECE: Final = 1 << 18
"""Bytes that are read or sent at a time."""


class ChannelFullError(Exception):
    """The worker does not read what it is sent."""


class Channel:
    """Sends messages, and calls ``take`` with each that comes; ``lost`` is called once, when the other end is gone."""

    def __init__(
        self, connection: socket.socket, take: Callable[[FromWorker], object], lost: Callable[[], object]
    ) -> None:
        self.socket = connection
        self._take = take
        self._lost = lost
        self._unsent = bytearray()
        self._handed: list[int] = []
        """Descriptors that go with the next bytes."""
        self._reader = MessageReader()
        self._loop = asyncio.get_running_loop()
        self._open = True
        self._loop.add_reader(connection, self.read)

    @property
    def full(self) -> bool:
        """Whether so much waits to be sent that what is left of the limit is for changes alone."""
        return len(self._unsent) > LIMIT // 2

    def send(self, message: Struct, *, now: bool = True, handed: int | None = None) -> None:
        """Send the message; unless ``now``, together with the next one, or once there is much to be sent.

        The other end gets a duplicate of the descriptor ``handed`` not later than the message. Raises
        :class:`ChannelFullError`, :class:`UnsendableError`, and OSError if there is no descriptor left for a duplicate;
        nothing of the message has been sent then.
        """
        if len(self._unsent) > LIMIT:
            raise ChannelFullError
        text = written(message)
        if handed is not None:
            self._handed.append(os.dup(handed))
        self._unsent += text
        if self._open and (now or len(self._unsent) > _PIECE):
            self._loop.add_writer(self.socket, self.write)

    def close(self) -> None:
        """Hang up; ``lost`` is not called."""
        if self._open:
            self._open = False
            self._loop.remove_reader(self.socket)
            self._loop.remove_writer(self.socket)
            self.socket.close()
            self._let_go()

    def write(self) -> None:
        """Send some of what waits, as the socket takes it; the loop calls it."""
        try:
            sent = socket.send_fds(self.socket, (memoryview(self._unsent)[:_PIECE],), self._handed)
            del self._unsent[:sent]
            self._let_go()
        except BlockingIOError:
            return
        except OSError:  # also for want of memory: to try again at once would take the whole core
            self._end()
            return
        if not self._unsent:
            self._loop.remove_writer(self.socket)

    def read(self) -> None:
        """Take what has come; the loop calls it."""
        try:
            piece = self.socket.recv(_PIECE)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if not piece:
            self._end()
            return
        for message in self._reader.read(piece):
            self._take(message)

    def _let_go(self) -> None:
        """Close the descriptors that were handed over, or never will be."""
        while self._handed:
            os.close(self._handed.pop())

    def _end(self) -> None:
        self.close()
        self._lost()
