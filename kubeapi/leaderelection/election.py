"""``Election``: waits for a Lease, runs a coroutine while this process holds the Lease, and gives the Lease back.

Clocks of two machines are never compared. A candidate takes the Lease over when, by the candidate's own clock, the
Lease was not renewed for its duration. The holder acts for two thirds of that duration, counted by the holder's clock
from the moment at which it *sent* its last renewal. So one lead ends before another one can begin, unless one clock
runs half as fast again as another. ``leading`` is computed at every call, so a process that was paused knows at its
next call that it does not lead any more.
"""

import asyncio
import contextlib
import logging
import random
import socket
import uuid
from collections.abc import Awaitable, Callable
from typing import Final, NoReturn, TypeVar

from msgspec import Struct

from kubeapi.client.errors import ApiError
from kubeapi.clock import Clock, seconds
from kubeapi.leaderelection.lease import Record
from kubeapi.leaderelection.lease_hold import RACE, LeaseHold, Leases, LostError
from kubeapi.leaderelection.lease_timing import LeaseTiming


class Observation(Struct):
    """When a candidate last saw the Lease change; ``duration`` (seconds) counts if the Lease does not state one."""

    clock: Clock
    duration: float
    _version: tuple[str, str] | None = None
    _since: float = 0.0
    _promised: float = 0.0

    def left(self, record: Record | None, identity: str) -> float:
        """Seconds until the Lease, just read as ``record``, may be taken; ``record`` is ``None`` if there is no Lease.

        If a Lease is deleted, its holder still acts for a while. So a candidate that has seen the Lease waits as if it
        were still held. A candidate that has never seen the Lease does not wait, so a new installation begins at once.
        """
        version = record.version if record else ("", "")
        if version != self._version:
            # The time after the answer counts, because the holder may have renewed while the request was under way.
            self._version, self._since = version, self.clock()
        if record is not None:
            self._promised = record.duration or self.duration
            if record.holder in {"", identity}:
                return 0.0
        return self._since + self._promised - self.clock()


T = TypeVar("T")

UNPREPARED: Final = 0.1
"""Seconds between two looks of a candidate that may take the Lease and is not ready yet, or sees it written often."""

_dice: Final = random.SystemRandom()
_log: Final = logging.getLogger(__name__)


def own_identity() -> str:
    """An identity for this process that no other process has, not even an earlier one of the same pod."""
    return f"{socket.gethostname()}_{uuid.uuid4()}"


class Election:
    """A candidate for the Lease ``namespace/name``; no other process may have the same ``identity``."""

    def __init__(
        self,
        leases: Leases,
        *,
        namespace: str,
        name: str,
        identity: str,
        timing: LeaseTiming | None = None,
        clock: Clock = seconds,
    ) -> None:
        self.changed = asyncio.Event()
        """To be set by who sees that the Lease was written: a candidate then looks at it soon."""
        self._timing = timing or LeaseTiming()
        self._clock = clock
        self._hold = LeaseHold(
            leases, namespace=namespace, name=name, identity=identity, timing=self._timing, clock=clock
        )  # fmt: skip
        self._turns = asyncio.Lock()
        self._tell: Callable[[ApiError], object] = self._warn
        self._owed = False
        """Whether this process may hold the Lease while no work runs, so that the Lease has to be given back."""
        self._logged = ""

    @property
    def identity(self) -> str:
        """The holder that the Lease names while this process leads."""
        return self._hold.identity

    @property
    def leading(self) -> bool:
        """Whether this process may act now."""
        return self._hold.left > 0

    def check(self) -> None:
        """Raise LostError unless this process may act now. Clients that write use this method as their fence."""
        self._hold.check()

    async def run(
        self,
        work: Callable[[], Awaitable[T]],
        *,
        ready: Callable[[float], bool] = lambda _: True,
        tell: Callable[[ApiError], object] | None = None,
    ) -> T:
        """Wait until elected, then ``await work()`` and return its result.

        ``ready`` is called after each look at the Lease with the seconds until it may be taken, 0 or less if now; the
        Lease is taken only if it returns true. So a candidate can prepare when the holder seems to be gone.

        ``work`` is cancelled and awaited when this coroutine is cancelled, and when the lead is lost, which raises
        LostError. Unless the lead was lost the Lease is given back at the end, so that another process leads at once.
        Until then ``tell`` is called with every request that failed, except where another candidate was faster; by
        default a failure is logged once while it lasts.
        """
        self._tell = tell or self._warn
        try:
            await self._acquire(ready)
            return await self._lead(work)
        except LostError:
            self._owed = False
            raise
        finally:
            self._hold.end()
            if self._owed:
                await self._give_back()

    async def renew(self) -> None:
        """Renew the Lease now, for work that has seen another process write. Raises LostError if it is not held."""
        if not await self._renew():
            await self._renew()
        self.check()

    async def _acquire(self, ready: Callable[[float], bool]) -> None:
        observation = Observation(self._clock, self._timing.lease)
        while not self.leading:
            pause = self._pause()
            self.changed.clear()
            try:
                record = await self._hold.look()
                wait = observation.left(record, self.identity)
                prepared = ready(wait)
                if wait <= 0 and prepared:
                    self._owed = True
                    await self._hold.take(record)
                    continue
                await self._rest(min(pause, wait if wait > 0 else UNPREPARED))
            except ApiError as failure:
                await asyncio.sleep(self._after(failure, pause))
        self._logged = ""
        _log.info("leading as %s", self.identity)

    async def _rest(self, pause: float) -> None:
        """Wait until ``changed`` is set, or for so many seconds if that is less, but not for less than UNPREPARED."""
        least = min(pause, UNPREPARED)
        await asyncio.sleep(least)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause - least):
                await self.changed.wait()

    async def _lead(self, work: Callable[[], Awaitable[T]]) -> T:
        async def working() -> T:
            return await work()

        self._owed = False
        keeping, task = asyncio.create_task(self._keep()), asyncio.create_task(working())
        try:
            await asyncio.wait({keeping, task}, return_when=asyncio.FIRST_COMPLETED)
            finished = task.done()
        finally:
            try:
                await _end(task)  # the Lease is renewed meanwhile, because the work may take long to end
                self._owed = True
            finally:
                await _end(keeping)
        return task.result() if finished else keeping.result()

    async def _keep(self) -> NoReturn:
        """Renew the Lease again and again; raises LostError."""
        pause = self._pause()
        while True:
            await asyncio.sleep(min(pause, self._hold.left))
            pause = await self._renew()

    async def _renew(self) -> float:
        """Renew the Lease; returns the seconds until the next renewal, 0 if the Lease has to be looked at again."""
        async with self._turns:
            self.check()
            pause = self._pause()
            unread = self._hold.certain
            try:
                await self._hold.renew()
                self._logged = ""
            except ApiError as failure:
                # A renewal of this process whose answer was lost makes the next one a conflict.
                pause = 0.0 if unread and failure.cause in RACE else self._after(failure, pause)
            return pause

    async def _give_back(self) -> None:
        """Give the Lease back; try twice, because a late renewal of this process may cause a conflict."""
        for _ in range(2):
            try:
                await self._hold.give_back()
            except ApiError as failure:
                if failure.cause not in RACE:
                    self._warn(failure)
            else:
                break

    def _pause(self) -> float:
        return self._timing.retry * _dice.uniform(1.0, 1.0 + self._timing.jitter)

    def _after(self, failure: ApiError, pause: float) -> float:
        """Report the failure, unless another candidate was faster; returns the seconds until the next try."""
        if failure.cause not in RACE:
            self._tell(failure)
        return max(pause, min(failure.wait, self._timing.request))

    def _warn(self, failure: ApiError) -> None:
        """Log the failure once while it lasts."""
        if str(failure) != self._logged:
            self._logged = str(failure)
            _log.warning("the lease %s: %s", self._hold.name, failure)


async def _end(task: asyncio.Task[T]) -> None:
    """Cancel the task and wait for its end; log an error that the task raises after the cancellation."""
    ended = task.done()
    task.cancel()
    await asyncio.wait({task})
    error = None if task.cancelled() else task.exception()
    if error and not ended and not isinstance(error, LostError):
        _log.error("a task failed while it was being cancelled", exc_info=error)
