"""``forked``: a process that begins with everything that this one has in memory, and keeps one socket of it.

Only memory is inherited for good. Every other descriptor is closed, so the child can neither answer a client nor keep a
port from being closed; signals mean what they mean by default; and it ends with its parent, however that ends.
"""

import contextlib
import ctypes
import functools
import gc
import os
import signal
import socket
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Final, NoReturn

from msgspec import Struct

from webhook.placement.libraries import IMPORTING

NICE: Final = 10
"""By how much the child stands back where both want one core: it gets a tenth of it."""

_EXPENDABLE: Final = 900
"""What the system adds to a child's share of the memory, in thousandths of all (Linux, ``oom_score_adj``)."""

_PR_SET_PDEATHSIG: Final = 1
"""The call that has a child end with its parent (Linux, prctl.h)."""

_ERRORS: Final = 2
"""The descriptor of standard error, where a child says why it ends."""

_DESCRIPTORS: Final = 1 << 16
"""Descriptors are closed up to here: a container's limit may be a billion."""


class Forked(Struct, frozen=True):
    """A child: its process, and this end of the socket between both."""

    pid: int
    socket: socket.socket


def forked(work: Callable[[socket.socket], object]) -> Forked:
    """Start a child that does the work with its end of the socket, and ends; OSError if the system refuses one."""
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            pid = forked_with(theirs, functools.partial(_stand_back, work))
    except OSError:
        ours.close()
        raise
    ours.setblocking(False)  # noqa: FBT003 -- the standard library's signature
    return Forked(pid, ours)


def forked_with(channel: socket.socket, work: Callable[[socket.socket], object]) -> int:
    """Start a child that does the work with this socket, which both share then, and ends; returns its process.

    It has the priority of this process. OSError if the system refuses one.
    """
    parent = os.getpid()
    with IMPORTING, warnings.catch_warnings():
        # Other threads may look up an address or solve a program: of neither the child needs anything.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if not pid:
        _live(parent, channel, work)
    return pid


def _live(parent: int, channel: socket.socket, work: Callable[[socket.socket], object]) -> NoReturn:
    """The whole life of a child; what called :func:`forked` never goes on in it."""
    code = 1
    try:
        _settle(parent, channel.fileno())
        work(channel)
        code = 0
    except BaseException:  # noqa: BLE001 -- nothing may leave this function
        os.write(_ERRORS, traceback.format_exc().encode())
    finally:
        os._exit(code)


def _stand_back(work: Callable[[socket.socket], object], channel: socket.socket) -> None:
    """Do the work behind the parent where both want one core, and end before it where both want memory."""
    os.nice(NICE)
    end_first(_EXPENDABLE)
    work(channel)


def end_first(adjustment: int) -> None:
    """Let the system end this process for want of memory rather than one of a lower ``adjustment``, up to 1000."""
    with contextlib.suppress(OSError):  # not everywhere is it allowed
        Path("/proc/self/oom_score_adj").write_text(str(adjustment), encoding="ascii")


def _settle(parent: int, kept: int) -> None:
    """Let go of everything of the parent but its memory."""
    gc.freeze()  # what is inherited is never looked through, nor copied for that
    sys.set_asyncgen_hooks(None, None)  # those of the parent's event loop
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Control-C is for the parent, which ends its child
    os.closerange(_ERRORS + 1, kept)
    os.closerange(max(_ERRORS, kept) + 1, _DESCRIPTORS)
    with contextlib.suppress(AttributeError):  # only Linux has it
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        raise ProcessLookupError("the parent has ended")
