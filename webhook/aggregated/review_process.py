"""``ReviewProcess``: each review answered in a process of its own, which begins with the present state of the cluster.

A review can take as long as a whole Job, or longer, and reviews of pods must not wait for it. The process is a copy of
this one, so it needs no state to be sent; it stands back where both want one core, has as much memory of its own as it
is given, and is killed when its time is over, wherever it is.

While the copy is made nothing else is answered, so a rest follows: a flood of reviews takes a twentieth of the time.
"""

import asyncio
import contextlib
import functools
import logging
import os
import resource
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, thread_time
from typing import Final

from webhook.cluster.judging.forked import Forked, forked

SECONDS: Final = 10.0
"""The longest time for one answer; a plan of a thousand pods takes five."""

MEMORY: Final = 256 * 1024 * 1024
"""Bytes that the process may take beyond those of its parent, or what the container has left if that is less."""

LEAST: Final = 32 * 1024 * 1024
"""Bytes without which no process is started: the system would end the whole container for want of memory."""

REST: Final = 19.0
"""How many times as long as a process takes to start no other one is started."""

ANSWER_LIMIT: Final = 11 * 1024 * 1024
"""Bytes of an answer: its manifests, of 3 MiB, and what the names of 15,000 nodes take for each of ten of them."""

_PIECE: Final = 256 * 1024

_CGROUP: Final = Path("/sys/fs/cgroup")
"""Where a container sees its own control group (cgroup v2)."""

_END: Final = b"\0"
"""What follows a whole answer, and is in no text."""

_log = logging.getLogger(__name__)

ReviewWork = Callable[[], bytes]
"""Makes an answer, in the process."""


class NoAnswerError(Exception):
    """There is no answer; the text says why, and ``code`` is the HTTP status."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


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


class ReviewProcess:
    """Starts processes, one after another; the caller runs one at a time. ``left`` says how much memory is left."""

    def __init__(
        self,
        fork: Callable[[Callable[[socket.socket], object]], Forked] = forked,
        left: Callable[[], int | None] = memory_left,
    ) -> None:
        self._fork = fork
        self._left = left
        self._rested = 0.0
        self._ending: set[asyncio.Future[tuple[int, int]]] = set()

    async def run(self, work: ReviewWork, seconds: float = SECONDS) -> bytearray:
        """The answer of the work, which has so many seconds; :class:`NoAnswerError` if there is none."""
        await asyncio.sleep(max(self._rested - perf_counter(), 0.0))
        child = self._started(work)
        try:
            async with asyncio.timeout(seconds):
                answer = await _received(child.socket)
        except TimeoutError:
            raise NoAnswerError(
                504, f"the review took longer than {seconds:.3g} seconds; ask about fewer manifests at a time"
            ) from None
        except ConnectionError:  # killed by the system
            answer = bytearray()
        finally:
            self._end(child)
        if not answer:
            raise NoAnswerError(
                500, "the review failed or needed too much memory; the log of the server has the details"
            )
        return answer

    def _started(self, work: ReviewWork) -> Forked:
        """The process that does the work; :class:`NoAnswerError` if there is none."""
        left = self._left()
        if left is not None and left < LEAST:
            _log.warning("no process that answers a placement review is started: %d bytes of memory are left", left)
            raise NoAnswerError(
                503, "the webhook has too little memory left for a review; a higher resources.limits.memory helps"
            )
        begun = thread_time()  # not what others take of the core meanwhile
        try:
            return self._fork(functools.partial(_answer, work, MEMORY if left is None else min(MEMORY, left)))
        except OSError as error:
            _log.warning("cannot start a process for a placement review: %s", error)
            raise NoAnswerError(503, "the server could not start a process for the review; try again") from error
        finally:
            self._rested = perf_counter() + REST * (thread_time() - begun)

    async def close(self) -> None:
        """Wait for the end of processes that were killed."""
        if self._ending:
            await asyncio.wait(self._ending)

    def _end(self, child: Forked) -> None:
        child.socket.close()
        os.kill(child.pid, signal.SIGKILL)  # a process that has ended is there until it is waited for
        waiting = asyncio.ensure_future(asyncio.to_thread(os.waitpid, child.pid, 0))
        self._ending.add(waiting)
        waiting.add_done_callback(self._ending.discard)


async def _received(channel: socket.socket) -> bytearray:
    """All that the process says until it ends; nothing if that is too much, or not all of it."""
    loop, answer = asyncio.get_running_loop(), bytearray()
    while piece := await loop.sock_recv(channel, _PIECE):
        answer += piece
        if len(answer) > ANSWER_LIMIT + len(_END):
            return bytearray()
    if not answer.endswith(_END):
        return bytearray()  # it was killed while it spoke
    del answer[-len(_END) :]
    return answer


def _answer(work: ReviewWork, memory: int, channel: socket.socket) -> None:
    """The whole work of the process, which may take so many bytes of memory."""
    _bound_memory(memory)
    channel.sendall(work())
    channel.sendall(_END)


def _bound_memory(memory: int) -> None:
    """Give the process so many bytes more; one that has to end for want of memory is this one, not the webhook."""
    with contextlib.suppress(OSError):  # not everywhere is it allowed
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + memory
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
