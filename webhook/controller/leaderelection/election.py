"""Who may act: the one process that holds a Lease, and renews it while it lives.

No two clocks are ever compared. A candidate takes the lease over when it has *seen* it unrenewed for its duration, by
its own clock; the holder leads for two thirds of that, counted from when its last renewal was *sent*. So the lead ends
before another one can begin, as long as no clock runs half as fast again as another. Whoever was paused finds out at
the next look at ``leading``: it is computed, never remembered.
"""

import asyncio
import logging
import random
import socket
import uuid
from collections.abc import Awaitable, Callable
from typing import Final, NoReturn, TypeVar

from msgspec import Struct

from webhook.cluster.client.errors import ApiError
from webhook.controller.clock import Clock, seconds
from webhook.controller.leaderelection.lease import Record
from webhook.controller.leaderelection.lease_hold import RACE, LeaseHold, Leases, LostError
from webhook.controller.leaderelection.lease_timing import LeaseTiming


class Observation(Struct):
    """What a candidate has seen; ``duration`` is for leases that do not say how long they are held."""

    clock: Clock
    duration: float
    _version: tuple[str, str] | None = None
    _since: float = 0.0
    _promised: float = 0.0

    def left(self, record: Record | None, identity: str) -> float:
        """Seconds until the lease, as it was just read, may be taken; ``None`` is one that is not there.

        A lease that somebody deletes is still led on for a while. So its absence is waited out like a holder, but for
        a candidate that has never seen it: the first one of an installation shall not wait.
        """
        version = record.version if record else ("", "")
        if version != self._version:
            # After the answer, not before the question: the holder may have renewed in between.
            self._version, self._since = version, self.clock()
        if record is not None:
            self._promised = record.duration or self.duration
            if record.holder in {"", identity}:
                return 0.0
        return self._since + self._promised - self.clock()


T = TypeVar("T")

_dice: Final = random.SystemRandom()
_log: Final = logging.getLogger(__name__)


def own_identity() -> str:
    """A name for this process that no other one has, not even an earlier one of the same pod."""
    return f"{socket.gethostname()}_{uuid.uuid4()}"


class Election:
    """One candidate for the Lease ``namespace/name``; ``identity`` must be nobody else's."""

    def __init__(
        self,
        leases: Leases,
        *,
        namespace: str,
        name: str,
        identity: str,
        terms: LeaseTiming | None = None,
        clock: Clock = seconds,
    ) -> None:
        self._terms = terms or LeaseTiming()
        self._clock = clock
        self._tenure = LeaseHold(
            leases, namespace=namespace, name=name, identity=identity, terms=self._terms, clock=clock
        )  # fmt: skip
        self._owed = False
        """Whether the lease may be ours without anybody working for it."""
        self._said = ""

    @property
    def identity(self) -> str:
        """What the lease says while this process leads."""
        return self._tenure.identity

    @property
    def leading(self) -> bool:
        """Whether this process may act now."""
        return self._tenure.left > 0

    def check(self) -> None:
        """Raise LostError unless this process may act now: the fence of whoever writes."""
        self._tenure.check()

    async def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """Wait until elected, then ``await work()`` and return what it returns.

        ``work`` is cancelled, and awaited, when the lead is lost, which raises LostError, and when this is cancelled.
        Unless it was lost the lease is given back at the end, so that another one leads at once.
        """
        try:
            await self._acquire()
            return await self._lead(work)
        except LostError:
            self._owed = False
            raise
        finally:
            self._tenure.end()
            if self._owed:
                await self._give_back()

    async def _acquire(self) -> None:
        observation = Observation(self._clock, self._terms.lease)
        while not self.leading:
            pause = self._pause()
            try:
                record = await self._tenure.look()
                left = observation.left(record, self.identity)
                if left <= 0:
                    self._owed = True
                    await self._tenure.take(record)
                    continue
                pause = min(pause, left)
            except ApiError as failure:
                pause = self._after(failure, pause)
            await asyncio.sleep(pause)
        self._said = ""
        _log.info("leading as %s", self.identity)

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
                await _end(task)  # the lease is renewed meanwhile: it may take its time
                self._owed = True
            finally:
                await _end(keeping)
        return task.result() if finished else keeping.result()

    async def _keep(self) -> NoReturn:
        """Renew the lease again and again; raises LostError."""
        pause = self._pause()
        while True:
            await asyncio.sleep(min(pause, self._tenure.left))
            self.check()
            pause = self._pause()
            blind = self._tenure.certain
            try:
                await self._tenure.renew()
                self._said = ""
            except ApiError as failure:
                # A renewal of ours whose answer was lost makes the next one a conflict.
                pause = 0.0 if blind and failure.cause in RACE else self._after(failure, pause)

    async def _give_back(self) -> None:
        """Let another one lead; if need be again, as a late renewal of ours may come in between."""
        for _ in range(2):
            try:
                await self._tenure.give_back()
            except ApiError as failure:
                self._after(failure)
            else:
                break

    def _pause(self) -> float:
        return self._terms.retry * _dice.uniform(1.0, 1.0 + self._terms.jitter)

    def _after(self, failure: ApiError, pause: float = 0.0) -> float:
        """Seconds until the next try; trouble is said once while it lasts."""
        if failure.cause not in RACE and str(failure) != self._said:
            self._said = str(failure)
            _log.warning("the lease %s: %s", self._tenure.name, failure)
        return max(pause, min(failure.wait, self._terms.request))


async def _end(task: asyncio.Task[T]) -> None:
    """Cancel it, and wait until it has ended, however it does."""
    ended = task.done()
    task.cancel()
    await asyncio.wait({task})
    error = None if task.cancelled() else task.exception()
    if error and not ended and not isinstance(error, LostError):
        _log.error("what was to end has failed", exc_info=error)
