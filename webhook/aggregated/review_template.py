"""``ReviewTemplate``: a copy of the webhook that follows the cluster and starts the process of each review.

To start one it copies itself, which takes as long as the webhook would take for it, but keeps nothing waiting except
the review. The webhook tells it each change of the cluster before the next review, so an answer is never older than its
question. Of a review it gets a socket, from which the process reads the request and to which it writes the answer.
"""

import contextlib
import functools
import os
import resource
import signal
import socket
import struct
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from webhook.cluster.judging.changes import ChangeLog, InventoryChange
from webhook.cluster.judging.forked import end_first, forked_with
from webhook.cluster.judging.messages import MessageReader
from webhook.placement.inventory.inventory import Inventory

MEMORY: Final = 256 * 1024 * 1024
"""Bytes that the template, and each process that it starts, may take beyond what it begins with."""

START: Final = struct.Struct("=i")
"""What a process says first: that it runs, and its number."""

END: Final = b"\0"
"""What follows a whole answer, and is in no text."""

_PIECE: Final = 256 * 1024

_HANDED: Final = 8
"""Sockets that may come with one piece; there is one for each review, and one review at a time."""

_FIRST: Final = 1000
"""Adjustment of the process of a review, which the system ends for want of memory before the template."""

ReviewWork = Callable[[Any], bytes]
"""Makes the answer to a request, in a process of its own."""


class AnswerReview(Struct, frozen=True):
    """To the template: start a process, which may take so many bytes, with the next socket."""

    memory: int


class EndReview(Struct, frozen=True):
    """To the template: end the process of the last review, whether it is done or not."""


ToTemplate = InventoryChange | AnswerReview | EndReview


class ReviewedState(Struct, frozen=True):
    """What reviews are answered from, the ``inventory``, with all its ``changes``; and the ``work`` of answering."""

    inventory: Inventory
    changes: ChangeLog
    work: ReviewWork


class ReviewTemplate:
    """Does what it is told; ``sockets`` are those of the reviews to come. One process runs at a time."""

    def __init__(self, state: ReviewedState) -> None:
        self._state = state
        self._pid: int | None = None
        self.sockets: deque[socket.socket] = deque()

    def take(self, message: ToTemplate) -> None:
        """Do what the message says."""
        if isinstance(message, InventoryChange):
            self._change(message)
            return
        self.end()
        if isinstance(message, AnswerReview):
            work = functools.partial(_answer, self._state.work, message.memory)
            with self.sockets.popleft() as asked:
                self._pid = forked_with(asked, work)

    def end(self) -> None:
        """End the process of the last review."""
        pid, self._pid = self._pid, None
        if pid is not None:
            os.kill(pid, signal.SIGKILL)  # one that has ended is there until it is waited for
            os.waitpid(pid, 0)

    def _change(self, change: InventoryChange) -> None:
        try:
            self._state.changes.apply(change, self._state.inventory)
        except MemoryError:
            raise  # the change is not in the inventory, so the template is of no use any more
        except Exception:  # noqa: BLE001, S110 -- the same was raised in the webhook, which has said so
            pass


def serve_template(channel: socket.socket, state: ReviewedState, *, idle: bool) -> None:
    """The whole work of a template: what the webhook says, until it hangs up.

    If it is ``idle``, it and the processes that it starts run only while the webhook wants no core.
    """
    if idle:
        with contextlib.suppress(OSError):  # not everywhere is it allowed
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    _bound_memory(MEMORY, for_good=False)
    template, reader = ReviewTemplate(state), MessageReader()
    with contextlib.suppress(ConnectionError):
        while True:
            piece, files, _, _ = socket.recv_fds(channel, _PIECE, _HANDED)
            if not piece:
                break
            template.sockets.extend(socket.socket(fileno=file) for file in files)
            for message in reader.read(piece):
                template.take(message)
    template.end()


def _answer(work: ReviewWork, memory: int, asked: socket.socket) -> None:
    """The whole work of the process of a review, which may take so many bytes of memory."""
    asked.sendall(START.pack(os.getpid()))
    end_first(_FIRST)
    _bound_memory(memory, for_good=True)
    reader = MessageReader()
    for piece in iter(functools.partial(asked.recv, _PIECE), b""):
        for request in reader.read(piece):
            asked.sendall(work(request))
            asked.sendall(END)


def _bound_memory(memory: int, *, for_good: bool) -> None:
    """Give the process so many bytes more; its children may go beyond that unless it is ``for_good``."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + memory
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit if for_good else resource.getrlimit(resource.RLIMIT_AS)[1]))
