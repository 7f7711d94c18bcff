"""``ReviewProcess``: each review answered in a process of its own, which begins with the present state of the cluster.

A review can take as long as a whole Job, or longer, and reviews of pods must not wait for it. The process is a copy of
a copy of this one, a template that follows the cluster (``review_template``); it has what is left of a core, as much
memory of its own as it is given, and is ended when its time is over, wherever it is.

While a template is made nothing else is answered, so there is one for a minute of reviews, and a rest after each. What
reviews cost this process themselves, to be taken and sent, is told to the ``pace``, for which the caller waits.
"""

import asyncio
import contextlib
import functools
import logging
import math
import os
import signal
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter, thread_time
from typing import Final

from msgspec import Struct

from webhook.aggregated.review_pace import REST, ReviewPace
from webhook.aggregated.review_template import (
    END,
    MEMORY,
    START,
    AnswerReview,
    EndReview,
    ReviewedState,
    ToTemplate,
    serve_template,
)
from webhook.cluster.judging.changes import InventoryChange
from webhook.cluster.judging.channel import Channel, ChannelFullError
from webhook.cluster.judging.forked import Forked, forked
from webhook.cluster.judging.messages import UnsendableError, written

SECONDS: Final = 10.0
"""The longest time for one answer; a plan of a thousand pods takes five."""

LEAST: Final = 32 * 1024 * 1024
"""Bytes without which no process is started: the system would end the whole container for want of memory."""

IDLE: Final = 10.0
"""Seconds without a review after which the template is ended: its memory grows apart from that of this process."""

LIFE: Final = 60.0
"""Seconds after which the next review has a new template, for the same reason."""

PATIENCE: Final = 0.5
"""Seconds for a process to begin, on what others leave of the cores; after that it gets a tenth of one for a minute."""

ANSWER_LIMIT: Final = 11 * 1024 * 1024
"""Bytes of an answer: its manifests, of 3 MiB, and what the names of 15,000 nodes take for each of ten of them."""

_PIECE: Final = 256 * 1024

_SHARE: Final = 0.5
"""How much of its time a process has a core at least if it does not starve."""

_ASLEEP: Final = "SDZX"
"""States of a process that wants no core (Linux, proc(5)): it waits for the API server, or has ended."""

_CPU_FIELDS: Final = slice(11, 13)
"""Ticks of a core in user mode and in the kernel, in ``/proc/<pid>/stat`` after the name (Linux, proc(5))."""

_MINUTES: Final = 120
"""Seconds from which on a time is told in minutes."""

_CGROUP: Final = Path("/sys/fs/cgroup")
"""Where a container sees its own control group (cgroup v2)."""

_log = logging.getLogger(__name__)


class NoAnswerError(Exception):
    """There is no answer; the text says why, ``code`` is the HTTP status, and there may be one in ``after`` seconds."""

    def __init__(self, code: int, text: str, after: float = 0.0) -> None:
        super().__init__(text)
        self.code = code
        self.after = after


class _StarvedError(Exception):
    """A process has had no core for too long."""


def memory_left(folder: Path = _CGROUP) -> int | None:
    """Bytes up to the limit of the container; ``None`` if it has none, or that cannot be found out.

    Pages of files that were not used lately count as free, as the system lets go of them first.
    """
    try:
        limit = int((folder / "memory.max").read_text(encoding="ascii"))  # "max" without one
        used = int((folder / "memory.current").read_text(encoding="ascii"))
        lines = (folder / "memory.stat").read_text(encoding="ascii").splitlines()
        files = next(int(line.split()[1]) for line in lines if line.startswith("inactive_file "))
    except (OSError, ValueError, IndexError, StopIteration):
        return None
    return limit - used + files


class _Template(Struct, frozen=True):
    """A template that runs, whether only on ``idle`` cores, and until when it is the one of the next review."""

    pid: int
    channel: Channel
    idle: bool
    until: float


class ReviewProcess:
    """Has reviews answered by processes, one after another; the caller asks for one at a time, at the ``pace``.

    ``copied`` is told of each template and of the seconds that it took. ``left`` says how much memory is left.
    """

    def __init__(  # noqa: PLR0913 -- what is answered from, and what tests replace: the system, the clock
        self,
        state: ReviewedState,
        copied: Callable[[float], object] = lambda _: None,
        *,
        fork: Callable[[Callable[[socket.socket], object]], Forked] = forked,
        available: Callable[[], int | None] = memory_left,
        clock: Callable[[], float] = perf_counter,
        spent: Callable[[], float] = thread_time,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._state = state
        self._copied = copied
        self._fork = fork
        self._available = available
        self._clock = clock
        self._spent = spent
        self._sleep = sleep
        self.pace = ReviewPace(clock)
        self._template: _Template | None = None
        self._rested = self._busy_until = 0.0
        self._running = 0
        self._idle: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Future[None]] = set()

    @property
    def pid(self) -> int | None:
        """The process of the template, if there is one now."""
        return self._template.pid if self._template else None

    async def run(self, request: Struct, seconds: float, most: float = SECONDS) -> bytearray:
        """What the work answers to the request, in so many seconds, of which it has ``most`` once there is a template.

        Raises :class:`NoAnswerError` if it does not answer.
        """
        self._keep()
        end, most = self._clock() + seconds, min(most, max(seconds, 0.0))
        try:
            async with asyncio.timeout(seconds):
                memory = await self._memory()
                await self._ready(seconds)
                most = min(most, end - self._clock())
                async with asyncio.timeout(most):
                    answer = await self._asked(request, memory)
        except TimeoutError:
            raise self._late(most) from None
        finally:
            self._tell(EndReview())
            self._idle = asyncio.get_running_loop().call_later(self.pace.rest + IDLE, self._end)
        if not answer:
            raise NoAnswerError(
                500, "the review failed or needed too much memory; the log of the server has the details"
            )
        return answer

    def _late(self, given: float) -> NoAnswerError:
        """Why there is no answer after so many seconds: it is a long review, or its process had no core for it."""
        if self._running and not _starves(self._running, given):
            return NoAnswerError(
                504, f"the review took longer than {given:.3g} seconds; ask about fewer manifests at a time"
            )
        if self._template is not None and self._template.idle:
            self._busy_until = self._clock() + LIFE
            self._end()  # the next one is not like it
        return NoAnswerError(
            503, f"the webhook has no time for reviews now; try again in {_in_words(SECONDS)}", SECONDS
        )

    async def _asked(self, request: Struct, memory: int) -> bytearray:
        """The answer; nothing if the process does not get that far."""
        try:
            return await self._answered(request, memory)
        except _StarvedError:
            _log.warning("no core is idle: processes for placement reviews compete for one for %d seconds", LIFE)
            self._end()
            self._rested = self._clock()  # at once: that happens once a minute at most
            self._busy_until = self._rested + LIFE
            self._template = self._started()
            return await self._answered(request, memory)

    async def _memory(self) -> int:
        """Bytes that the process of a review may take; :class:`NoAnswerError` if there are too few."""
        available = self._available()
        if available is not None and available < LEAST and self._template is not None:
            self._end()  # which took some of it
            await self._ended()
            available = self._available()
        if available is not None and available < LEAST:
            _log.warning(
                "no process that answers a placement review is started: %d bytes of memory are left", available
            )
            raise NoAnswerError(
                503, "the webhook has too little memory left for a review; a higher resources.limits.memory helps"
            )
        return MEMORY if available is None else min(MEMORY, available)

    async def _ready(self, seconds: float) -> None:
        """Have a template within so many seconds, or :class:`NoAnswerError`."""
        if self._template is not None and self._clock() >= max(self._template.until, self._rested):
            self._end()
        if self._template is None:
            pause = self._rested - self._clock()
            if pause >= seconds:
                raise NoAnswerError(
                    503, f"the server starts the next process for reviews in {_in_words(pause)}; try again then", pause
                )
            if pause > 0:
                await self._sleep(pause)
            self._template = self._started()

    def _started(self) -> "_Template":
        idle = self._clock() >= self._busy_until
        begun = self._spent()  # not what others take of the core meanwhile
        try:
            child = self._fork(functools.partial(serve_template, state=self._state, idle=idle))
        except OSError as error:
            raise _unstarted(error) from error
        finally:
            took = self._spent() - begun
            self._rested = self._clock() + REST * took
        os.setpgid(child.pid, child.pid)  # its processes are ended with it, wherever they are
        self._copied(took)
        self._state.changes.listeners.append(self._changed)
        return _Template(child.pid, Channel(child.socket, lambda _: None, self._lost), idle, self._clock() + LIFE)

    async def _answered(self, request: Struct, memory: int) -> bytearray:
        """All that the process says; nothing if it does not get that far."""
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:
            raise _unstarted(error) from error
        ours.setblocking(False)  # noqa: FBT003 -- the standard library's signature
        text, answer = written(request), bytearray()
        self._running, template = 0, self._template
        with ours:
            with theirs:
                self._tell(AnswerReview(memory), handed=theirs.fileno())
            try:
                await self._begun(ours)
                await asyncio.get_running_loop().sock_sendall(ours, text)
                ours.shutdown(socket.SHUT_WR)
                await _receive(ours, answer)
            except ConnectionError:  # killed by the system
                answer.clear()
            finally:
                self.pace.spend(len(text) + len(answer))
        whole = _whole(answer)
        if not whole and (not self._running or self._template is not template):
            pause = max(self._rested - self._clock(), 1.0)
            raise NoAnswerError(
                503,
                f"the process for reviews ended before the review was answered; try again in {_in_words(pause)}",
                pause,
            )
        return whole

    async def _begun(self, channel: socket.socket) -> None:
        """Wait until the process runs; ConnectionError if it never will, :class:`_StarvedError` if it gets no core."""
        idle = self._template is not None and self._template.idle
        try:
            async with asyncio.timeout(PATIENCE if idle else None):
                said = await asyncio.get_running_loop().sock_recv(channel, START.size)
        except TimeoutError:
            raise _StarvedError from None
        if not said:
            raise ConnectionResetError
        (self._running,) = START.unpack(said)

    def _changed(self, change: InventoryChange) -> None:
        self._tell(change, now=False)

    def _tell(self, message: ToTemplate, *, now: bool = True, handed: int | None = None) -> None:
        """Tell the template, if there is one; it is ended if it does not hear, so that it never knows too little."""
        if self._template is None:
            return
        try:
            self._template.channel.send(message, now=now, handed=handed)
        except (ChannelFullError, UnsendableError, OSError) as error:
            _log.warning("the process for placement reviews cannot be told what changes, and is ended: %r", error)
            self._end()

    def _lost(self) -> None:
        """The template has ended by itself."""
        _log.warning("the process for placement reviews has ended by itself; the next review has another one")
        self._end()

    def _end(self) -> None:
        """End the template, if there is one, and the process of a review."""
        template, self._template = self._template, None
        if template is None:
            return
        self._state.changes.listeners.remove(self._changed)
        os.killpg(template.pid, signal.SIGKILL)  # those that have ended are there until they are waited for
        template.channel.close()
        waiting = asyncio.ensure_future(asyncio.to_thread(_reaped, template.pid))
        self._ending.add(waiting)
        waiting.add_done_callback(self._ending.discard)

    async def _ended(self) -> None:
        """Wait for the end of what was ended."""
        if self._ending:
            await asyncio.wait(self._ending)

    async def close(self) -> None:
        """End the template, and wait for the end of all processes."""
        self._keep()
        self._end()
        await self._ended()

    def _keep(self) -> None:
        """Do not end the template as long as nothing says so again."""
        if self._idle is not None:
            self._idle.cancel()


def _starves(pid: int, given: float) -> bool:
    """Whether a process wants a core, and had none for most of its time; not if it waits for something else."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:  # it has ended
        return False
    had = sum(map(int, fields[_CPU_FIELDS])) / os.sysconf("SC_CLK_TCK")
    return fields[0] not in _ASLEEP and had < given * _SHARE


def _unstarted(error: OSError) -> NoAnswerError:
    """What a review is told for which the system starts no process, or has no socket."""
    _log.warning("cannot start a process for placement reviews: %s", error)
    return NoAnswerError(503, "the server could not start a process for the review; try again")


def _in_words(seconds: float) -> str:
    """A time to wait, rounded up: in seconds, and in minutes from two of them on."""
    whole = math.ceil(seconds)
    if whole < _MINUTES:
        return f"{whole} second{'s' * (whole != 1)}"
    return f"{math.ceil(seconds / 60):,} minutes"


async def _receive(channel: socket.socket, answer: bytearray) -> None:
    """Add to the answer what the process says until it ends, or has said too much."""
    loop = asyncio.get_running_loop()
    while len(answer) <= ANSWER_LIMIT + len(END) and (piece := await loop.sock_recv(channel, _PIECE)):
        answer += piece


def _whole(answer: bytearray) -> bytearray:
    """What was said, without its end; nothing if that is missing, and :class:`NoAnswerError` if it is too much."""
    if len(answer) > ANSWER_LIMIT + len(END):
        raise NoAnswerError(
            413, f"the answer would be over {ANSWER_LIMIT >> 20} MiB; ask about fewer manifests at a time"
        )
    if not answer.endswith(END):
        return bytearray()  # it was killed while it spoke
    del answer[-len(END) :]
    return answer


def _reaped(group: int) -> None:
    """Wait until no process of the group is left.

    One whose template has ended is a child of this process where it is the first one, as in a container.
    """
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-group, 0)
